"""Jars that services and Spark's connectors need: from Maven's central repository, and kept for the next run.

They are found by Maven where it is installed, else by the resolver inside Spark. A set of jars is a folder beside
what Sash keeps on disk: deleting it has them looked for again.
"""

import hashlib
import os
import re
import shutil
import subprocess
import tempfile
import time
import warnings
from functools import cache
from importlib.metadata import version
from pathlib import Path
from xml.sax.saxutils import escape

import pytest

from sash.kernels.compiling import disk
from sessions import HERE, PATIENCE

BROKER = ("org.apache.kafka:kafka_2.13:4.2.1", "org.slf4j:slf4j-simple:1.7.36")
CONNECTOR = "org.apache.spark:spark-sql-kafka-0-10_2.13:{}"
# For a Spark whose own is not to be had: Spark 4.3 works with it, as far as the tests go.
STAND_IN = (CONNECTOR.format("4.2.0"), "org.apache.spark:spark-token-provider-kafka-0-10_2.13:4.0.0")
DRIVER = ("org.postgresql:postgresql:42.7.11",)


@cache
def kafka_broker():
    return jars(BROKER)


@cache
def kafka_connector():
    """Spark's connector to Kafka, without what Spark has with it."""
    return beside_spark(jars((CONNECTOR.format(version("pyspark")),), STAND_IN))


@cache
def postgres_driver():
    return beside_spark(jars(DRIVER))


def java():
    """The Java that Spark is run by."""
    from sash.spark.java import ensure_java

    ensure_java()
    home = os.environ.get("JAVA_HOME")
    return str(Path(home) / "bin" / "java") if home else shutil.which("java")


def jars(*choices):
    """The jars of the first choice of artifacts that can be had, with all that they need; or the test is skipped."""
    import fcntl

    root = (disk.folder() or Path(tempfile.gettempdir())) / "jars"
    root.mkdir(parents=True, exist_ok=True)
    failures = []
    for artifacts in choices:
        folder = root / hashlib.sha256(repr(artifacts).encode()).hexdigest()[:16]
        with (root / "lock").open("w") as lock:  # Maven's own folder bears one at a time
            fcntl.flock(lock, fcntl.LOCK_EX)
            failure = None if folder.exists() else _fetch(artifacts, folder)
        if failure is None:
            if failures:
                warnings.warn(f"{', '.join(artifacts)} stand in: {failures[0]}", stacklevel=3)
            return sorted(folder.glob("*.jar"))
        failures.append(failure)
    pytest.skip(failures[0])


def beside_spark(found):
    """Those of the jars that Spark does not ship, in whatever version."""
    import pyspark

    shipped = {_artifact(path) for path in (Path(pyspark.__file__).parent / "jars").glob("*.jar")}
    return [path for path in found if _artifact(path) not in shipped]


def _artifact(path):
    return re.sub(r"-\d+\..*", "", path.name)


def _fetch(artifacts, folder):
    """Fill a folder with jars; or say why not, for an hour without looking again."""
    missing = folder.with_suffix(".missing")
    if missing.exists() and time.time() - missing.stat().st_mtime < 3600:
        return missing.read_text()
    for way in (_by_maven_offline, _by_maven) if shutil.which("mvn") else (_by_spark,):
        with tempfile.TemporaryDirectory(dir=folder.parent) as scratch:
            full = Path(scratch) / "full"
            full.mkdir()
            try:
                way(artifacts, Path(scratch), full)
            except (subprocess.SubprocessError, OSError) as error:
                told = str(getattr(error, "stdout", None) or error).splitlines()
            else:
                full.rename(folder)
                return None
    reason = next((line for line in told if re.search(r"\bERROR\b|unresolved|Exception", line)), told[-1])
    reason = re.sub(r" in \S+ \(https?://.*", "", reason.partition("[ERROR] ")[2] or reason)
    missing.write_text(f"no jars of {', '.join(artifacts)}: {reason}")
    return missing.read_text()


def _by_maven_offline(artifacts, scratch, full):
    _by_maven(artifacts, scratch, full, "-o")


def _by_maven(artifacts, scratch, full, how="-U"):
    """A project that has nothing but dependencies, whose jars Maven copies."""
    (scratch / "pom.xml").write_text(POM.format(dependencies="".join(map(_dependency, artifacts))))
    goal = ["dependency:copy-dependencies", "-DincludeScope=runtime", f"-DoutputDirectory={full}"]
    _run(["mvn", "-B", "-q", "-Dstyle.color=never", how, *goal], scratch)
    assert list(full.glob("*.jar"))


def _by_spark(artifacts, scratch, full):
    """A script of no lines, for which Spark fetches packages; it names a jar by group and artifact."""
    import pyspark

    java()
    home = Path(pyspark.__file__).parent
    (scratch / "nothing.py").touch()
    submit = [str(home / "bin" / "spark-submit"), "--packages", ",".join(artifacts)]
    _run([*submit, "--conf", f"spark.jars.ivy={scratch / 'ivy'}", "nothing.py"], scratch)
    for path in (scratch / "ivy" / "jars").glob("*.jar"):
        shutil.copy(path, full / path.name.partition("_")[2])
    for path in (home / "jars").glob("scala-library-*.jar"):  # which Spark never fetches
        shutil.copy(path, full)


def _run(command, folder):
    subprocess.run(
        command,
        env=os.environ | HERE,
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=True,
        timeout=PATIENCE,
    )


def _dependency(artifact):
    group, name, number = map(escape, artifact.split(":"))
    return (
        f"<dependency><groupId>{group}</groupId><artifactId>{name}</artifactId><version>{number}</version></dependency>"
    )


# Spark's own project names a mirror before the central repository: where it cannot be reached, Maven would give up.
POM = """\
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>sash</groupId>
  <artifactId>services</artifactId>
  <version>1</version>
  <repositories>
    <repository>
      <id>gcs-maven-central-mirror</id>
      <url>file:none</url>
      <releases><enabled>false</enabled></releases>
      <snapshots><enabled>false</enabled></snapshots>
    </repository>
  </repositories>
  <dependencies>{dependencies}</dependencies>
</project>
"""
