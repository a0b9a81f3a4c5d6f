"""What is built and handed out: a wheel and an sdist that hold what they should, and work where they are installed."""

import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import tomllib
import venv
from email import message_from_bytes
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from zipfile import ZipFile

import pytest

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
VERSION = PROJECT["project"]["version"]
WINDOW = """
import pyarrow as pa, sash
from sash import Window, functions as sf
three = Window.orderBy("at").rowsBetween(-2, 0)
table = pa.table({"at": [1, 2, 3, 4], "x": [5.0, 1.0, 4.0, 9.0]})
print(sash.withColumns(table, {"m": sf.median("x").over(three)})["m"].to_pylist())
"""


def run(*command, cwd, **environment):
    """What a command prints, in a place from which nothing of this folder can be imported."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "PYSPARK"))}
    done = subprocess.run(
        [str(each) for each in command], cwd=cwd, env=inherited | environment, capture_output=True, text=True
    )
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    return done.stdout


class Built:
    """A copy of the sources, and the sdist and the wheel that were made of it, the wheel from the sdist."""

    def __init__(self, folder):
        self.sources, dist = folder / "sources", folder / "dist"
        for name in ("src", "tests"):
            left_out = shutil.ignore_patterns("__pycache__", "*.egg-info")
            shutil.copytree(ROOT / name, self.sources / name, ignore=left_out)
        for name in ("pyproject.toml", "README.md", "LICENSE"):
            shutil.copy(ROOT / name, self.sources)
        backend = backend_in(folder / "backend")
        run(sys.executable, "-m", "build", "--no-isolation", "-o", dist, self.sources, cwd=folder, **backend)
        (self.wheel,), (self.sdist,) = dist.glob("*.whl"), dist.glob("*.tar.gz")
        with ZipFile(self.wheel) as opened:
            self.files = set(opened.namelist())
            self.metadata = message_from_bytes(opened.read(f"sash-{VERSION}.dist-info/METADATA"))


def backend_in(folder):
    """What the environment needs for a build without isolation: installed once, where isolation would do so twice."""
    try:
        if int(version("setuptools").split(".")[0]) >= 77:
            return {}
    except PackageNotFoundError:
        pass
    needs = PROJECT["build-system"]["requires"]
    run(sys.executable, "-m", "pip", "install", "--quiet", "--target", folder, *needs, cwd=folder.parent)
    return {"PYTHONPATH": str(folder)}


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    return Built(tmp_path_factory.mktemp("built"))


@pytest.fixture(scope="module")
def installed(built, tmp_path_factory):
    """The programs of an environment with the wheel, and with the libraries of this one but not its Sash."""
    folder = tmp_path_factory.mktemp("installed")
    venv.create(folder)
    programs = folder / "bin"
    pip = [sys.executable, "-m", "pip", "--python", programs / "python", "install", "--quiet"]
    run(*pip, "--no-deps", "--no-index", built.wheel, cwd=folder)
    (packages,) = folder.glob("lib/python*/site-packages")
    here = {sysconfig.get_path("purelib"), sysconfig.get_path("platlib")}
    (packages / "libraries.pth").write_text("\n".join(sorted(here)))  # .pth files in there, as of Sash, are not read
    return programs


def test_the_wheel_holds_every_module_and_nothing_else(built):
    package = built.sources / "src" / "sash"
    wanted = [
        *package.rglob("*.py"),
        *package.rglob("*.pyi"),
        *package.glob("cli/demo/*.toml"),
        *package.glob("spark/*.properties"),
    ]
    wanted.append(package / "py.typed")
    told = {name for name in built.files if ".dist-info/" not in name}
    assert told == {path.relative_to(package.parent).as_posix() for path in wanted}
    assert {"sash/py.typed", "sash/__init__.py", "sash/cli/demo/delays.toml"} <= told


def test_the_sdist_holds_what_the_wheel_is_made_of(built):
    top = f"sash-{VERSION}"
    with tarfile.open(built.sdist) as opened:
        files = set(opened.getnames())
    assert {f"{top}/src/{name}" for name in built.files if ".dist-info/" not in name} <= files
    assert {f"{top}/pyproject.toml", f"{top}/README.md", f"{top}/LICENSE"} <= files


def test_the_metadata_say_what_the_project_says(built):
    said = PROJECT["project"]
    assert built.metadata["Name"] == "sash"
    assert built.metadata["Requires-Python"] == said["requires-python"]
    assert built.metadata["License-Expression"] == "Apache-2.0"
    assert f"sash-{VERSION}.dist-info/licenses/LICENSE" in built.files
    extras = set(built.metadata.get_all("Provides-Extra"))
    assert {"spark", "sql", "watch", "cli", "demo", "plots", "sketches"} <= extras == set(said["optional-dependencies"])
    needs = [each for each in built.metadata.get_all("Requires-Dist") if "extra ==" not in each]
    assert len(needs) == len(said["dependencies"])


def test_the_version_stands_in_one_place(built, installed, tmp_path):
    assert built.metadata.get_all("Version") == [VERSION]
    assert built.wheel.name.startswith(f"sash-{VERSION}-")
    assert built.sdist.name == f"sash-{VERSION}.tar.gz"
    asked = "from importlib.metadata import version; print(version('sash'))"
    assert run(installed / "python", "-c", asked, cwd=tmp_path).strip() == VERSION
    asked = "from sash.version import VERSION; print(VERSION)"  # what driver and workers compare
    assert run(installed / "python", "-c", asked, cwd=tmp_path).strip() == VERSION
    for path in (built.sources / "src").rglob("*.py"):
        assert VERSION not in path.read_text() or path.name == "version.py", path


def test_what_is_installed_answers_a_window(installed, tmp_path):
    where = run(installed / "python", "-c", "import sash; print(sash.__file__)", cwd=tmp_path)
    assert Path(where.strip()).is_relative_to(installed.parent)
    assert run(installed / "python", "-c", WINDOW, cwd=tmp_path).strip() == "[5.0, 3.0, 4.0, 4.0]"


def test_what_is_installed_has_the_command_line(installed, tmp_path):
    told = run(installed / "sash", "--help", cwd=tmp_path)
    assert "Aggregates over windows" in told
    assert " sql " in told


@pytest.mark.long
def test_a_fresh_environment_answers_sql_on_spark(built, tmp_path):
    from sash.spark.java import ensure_java

    ensure_java()  # JAVA_HOME, which the command below is given
    venv.create(tmp_path / "fresh", with_pip=True)
    programs, empty = tmp_path / "fresh" / "bin", tmp_path / "empty"
    empty.mkdir()
    wheel = f"sash[spark,cli] @ {built.wheel.as_uri()}"
    run(programs / "python", "-m", "pip", "install", "--quiet", wheel, cwd=empty)
    query = "select id, median(id) over (order by id rows 2 preceding) as middle from range(4) order by id"
    told = run(programs / "sash", "sql", query, cwd=empty, SPARK_LOCAL_IP="127.0.0.1")
    rows = [line.split() for line in told.splitlines()[2:6]]  # below the names and a rule
    assert rows == [["0", "0.0"], ["1", "0.5"], ["2", "1.0"], ["3", "2.0"]], told


EVERYTHING = """
import pyarrow as pa, sash
from datetime import datetime, timedelta
from sash import Window, functions as sf
spark = sash.local_spark({"spark.ui.enabled": "false", "spark.ui.showConsoleProgress": "false"}, cores=1)
three = {"m": sf.median("id").over(Window.orderBy("id").rowsBetween(-2, 0))}
rows = spark.range(4)
print([row.m for row in sash.withColumns(rows, three).orderBy("id").collect()])
asked = sash.sql("select id, median(id) over (order by id rows 2 preceding) as m from rows", rows=rows)
print([row.m for row in asked.orderBy("id").collect()])
start = datetime(2026, 1, 1)
loads = pa.table({"ts": [start + timedelta(minutes=k) for k in range(4)], "load": [1.0, 2.0, 3.0, 4.0]})
board = sash.stream(loads, time="ts").query("peak", sf.max("load"), range="2 minutes")
print(board.results()["peak"].to_pylist())
with board.watch() as page:
    print(page.wait(60), page.state)
"""
ANSWERS = ["[0.0, 0.5, 1.0, 2.0]", "[0.0, 0.5, 1.0, 2.0]", "[2.0, 4.0]", "True ended"]


def oldest():
    """The oldest releases that the project says it works with, of what it needs and of its extras for users."""
    said = PROJECT["project"]
    needs = [*said["dependencies"], *(each for name in ("spark", "cli", "watch") for each in
                                      said["optional-dependencies"][name])]  # fmt: skip
    return [re.sub(r">=([\w.]+).*", r"==\1.*", each) for each in needs]


@pytest.mark.long
@pytest.mark.parametrize("age", ["oldest", "newest"])
def test_the_wheel_works_with_the_oldest_and_the_newest_that_it_claims(built, tmp_path, age):
    from sash.spark.java import ensure_java

    ensure_java()
    venv.create(tmp_path / "fresh", with_pip=True)
    programs, empty = tmp_path / "fresh" / "bin", tmp_path / "empty"
    empty.mkdir()
    wheel = f"sash[spark,sql,watch] @ {built.wheel.as_uri()}"
    pins = oldest() if age == "oldest" else []
    run(programs / "python", "-m", "pip", "install", "--quiet", wheel, *pins, cwd=empty)
    told = run(programs / "python", "-c", EVERYTHING, cwd=empty, SPARK_LOCAL_IP="127.0.0.1")
    assert told.splitlines() == ANSWERS
