"""The example that starts a cluster of its own does what its first lines say."""

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLE = Path(__file__).parents[2] / "examples" / "cluster" / "run.py"


@pytest.mark.long
def test_the_job_runs_on_two_workers_and_nothing_is_left(tmp_path):
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("PYSPARK", "SPARK_"))}
    done = subprocess.run([sys.executable, str(EXAMPLE)], cwd=tmp_path, env=environment, capture_output=True, text=True,
                          timeout=300)  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert "a master and 2 workers run: spark://127.0.0.1:" in done.stdout
    assert "the tasks ran on 2 workers" in done.stdout
    assert "|2027-01-17 15:33:19|S49   |100.81|104.81|919  |" in done.stdout
    address = done.stdout.split("spark://127.0.0.1:")[1].split()[0]
    with pytest.raises(OSError, match="refused"):
        socket.create_connection(("127.0.0.1", int(address)), timeout=5)
