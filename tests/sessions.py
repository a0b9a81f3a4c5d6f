"""Places to run on: a session in this process; and, each in a process of its own, a cluster and Spark Connect.

A process can hold one Spark context, so that a test on the cluster or on Connect names a function of its own
file, which is called there with a session, and whose answer comes back as JSON.
"""

import contextlib
import ctypes
import json
import os
import signal
import socket
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

import pytest

# for a Java that lives minutes: compiled fast, not for long; and classes are taken as they are
BRIEF = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -XX:+UnlockDiagnosticVMOptions -XX:-BytecodeVerificationRemote"
HERE = {
    "PYSPARK_PYTHON": sys.executable,
    "PYSPARK_DRIVER_PYTHON": sys.executable,
    "SPARK_LOCAL_IP": "127.0.0.1",
    "SPARK_SUBMIT_OPTS": BRIEF,  # of sessions that a command makes for itself, too
    "PYTHONPATH": os.pathsep.join([str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")]),
}
QUIET = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.memory": "1g",
    "spark.driver.extraJavaOptions": BRIEF,
    "spark.executor.extraJavaOptions": BRIEF,
    "spark.sql.shuffle.partitions": "4",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.streaming.stateStore.providerClass": (
        "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
    ),
}
PATIENCE = 300  # seconds; a busy machine is slow


def session(conf):
    """A Spark session, wherever the environment and the configuration say."""
    from pyspark.sql import SparkSession

    from sash.spark.java import ensure_java

    ensure_java()
    builder = SparkSession.builder
    for key, value in (QUIET | conf).items():
        builder = builder.config(key, value)
    return builder.getOrCreate()


LIMITS = {}  # below which Spark's own operator is taken, as users have it


@pytest.fixture(scope="session")
def spark(tmp_path_factory):
    """One session with two cores in this process; what is asked of it is answered by Sash, however few rows."""
    from sash.spark import native

    LIMITS.update({name: getattr(native, name) for name in ("ONE_TASK", "FEW")})
    native.ONE_TASK = native.FEW = 0
    os.environ.update(HERE)
    os.environ.pop("SPARK_REMOTE", None)
    folder = tmp_path_factory.mktemp("spark")
    local = session(
        {
            "spark.master": "local[2]",
            "spark.local.dir": str(folder),
            "spark.sql.warehouse.dir": str(folder / "warehouse"),
        }
    )
    local.sparkContext.setLogLevel("OFF")
    yield local
    local.stop()


@pytest.fixture
def as_shipped(spark, monkeypatch):
    """The session, in which Spark's own operator is chosen as it is for users."""
    from sash.spark import native

    for name, limit in LIMITS.items():
        monkeypatch.setattr(native, name, limit)
    return spark


@dataclass
class Place:
    """Where a function of a test's file can be run, with a session."""

    folder: Path
    conf: dict[str, str]
    environment: dict[str, str] = field(default_factory=dict)

    def run(self, function, *args, conf=None):
        """What the function answers to a session and some arguments, there."""
        order = {
            "file": sys.modules[function.__module__].__file__,
            "function": function.__name__,
            "args": args,
            "conf": self.conf | {"spark.local.dir": str(self.folder)} | (conf or {}),
            "answer": str(self.folder / "answer.json"),
        }
        done = subprocess.run(
            [sys.executable, __file__, json.dumps(order)],
            env=os.environ | HERE | self.environment,
            cwd=self.folder,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
        )
        assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
        return json.loads(Path(order["answer"]).read_text())


@pytest.fixture(scope="session")
def connect(tmp_path_factory):
    """Spark Connect, with its server; the port is one that is free, as in Spark's own tests."""
    environment = {"SPARK_REMOTE": "local[2]", "SPARK_TESTING": "1"}
    return Place(tmp_path_factory.mktemp("connect"), {}, environment)


def die_with_parent():
    """A cluster does not outlive tests that are killed, where the system can see to it."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG


@dataclass
class Cluster(Place):
    """A standalone master and two workers of one core each, on loopback."""

    port: int = 0
    hosts: tuple[str, str] = ("127.0.0.1", "127.0.0.1")  # Spark runs no task twice at a time on one host
    master: subprocess.Popen | None = None
    workers: list[subprocess.Popen] = field(default_factory=list)

    def start(self):
        """Start what is not running, and wait until the master knows every worker."""
        if self.master is None:
            with socket.socket() as free:
                free.bind(("127.0.0.1", 0))
                self.port = free.getsockname()[1]
            self.conf["spark.master"] = f"spark://127.0.0.1:{self.port}"
            self.master = self._daemon("master.Master", "--port", str(self.port))
        self.workers = [each for each in self.workers if each.poll() is None]
        while len(self.workers) < 2:
            work = self.folder / f"work-{time.monotonic_ns()}"
            options = ["--host", self.hosts[len(self.workers)], "--cores", "1", "--memory", "1g"]
            self.workers.append(
                self._daemon("worker.Worker", *options, "--work-dir", str(work), self.conf["spark.master"])
            )
        deadline = time.monotonic() + PATIENCE
        for each in self.workers:
            while "Successfully registered with master" not in Path(each.log).read_text():
                assert time.monotonic() < deadline, Path(each.log).read_text()
                assert each.poll() is None, Path(each.log).read_text()
                time.sleep(0.1)

    def run(self, function, *args, conf=None):
        self.start()
        return super().run(function, *args, conf=conf)

    def _daemon(self, name, *options):
        import pyspark

        command = [str(Path(pyspark.__file__).parent / "bin" / "spark-class"), f"org.apache.spark.deploy.{name}"]
        log = self.folder / f"{name}-{time.monotonic_ns()}.log"
        with log.open("w") as file:
            process = subprocess.Popen(
                [*command, "--host", "127.0.0.1", "--webui-port", "0", *options],
                env=os.environ | HERE | {"SPARK_DAEMON_MEMORY": "256m", "SPARK_DAEMON_JAVA_OPTS": BRIEF},
                stdout=file,
                stderr=file,
                start_new_session=True,
                preexec_fn=die_with_parent,
            )
        process.log = log
        return process

    def stop(self):
        for each in [*self.workers, self.master]:
            with contextlib.suppress(ProcessLookupError):  # its executors are of its group
                os.killpg(each.pid, signal.SIGKILL)
            each.wait()


@pytest.fixture(scope="session")
def cluster(tmp_path_factory):
    """A standalone cluster; an executor has one core, so that a query has tasks on both workers."""
    from sash.spark.java import ensure_java

    ensure_java()
    place = Cluster(tmp_path_factory.mktemp("cluster"), {"spark.executor.memory": "1g"})
    try:
        place.start()
        yield place
    finally:
        place.stop()


def obey(order):
    """In the other process: call the function with a session, and write what it answers."""
    import runpy

    there = session(order["conf"])
    try:
        # a file run so has no name that workers could import it by: its functions travel by value
        answer = runpy.run_path(order["file"])[order["function"]](there, *order["args"])
        Path(order["answer"]).write_text(json.dumps(answer))
    finally:
        there.stop()


if __name__ == "__main__":
    obey(json.loads(sys.argv[1]))
