"""The Python of Spark's workers: on this machine it can be tried before the first job, which would fail without it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from functools import cache
from typing import Any

from sash.errors import SashError
from sash.libraries import is_remote

NEEDED = ("sash", "pyarrow", "pandas", "numba")
SETTING = "spark.sql.execution.pyspark.python"  # read at each query, before what the session started with
TRIAL = (
    "import importlib.util, sys; print(*sys.version_info[:2]); "
    f"print(*[name for name in {NEEDED!r} if importlib.util.find_spec(name) is None])"
)
REMEDY = (
    f'write spark.conf.set("{SETTING}", sys.executable), or start the session by sash.local_spark(), or set '
    "PYSPARK_PYTHON before it starts"
)


def check_workers(spark: Any) -> None:
    """Refuse a session on this machine whose workers run a Python that cannot import what Sash needs."""
    if is_remote(spark) or not str(spark.conf.get("spark.master", "")).startswith("local"):
        return
    python = spark.conf.get(SETTING, None) or os.environ.get("PYSPARK_PYTHON", "python3")
    lacking = _lacking(python, os.environ.get("PATH"), os.environ.get("PYTHONPATH"))
    if lacking:
        raise SashError(f"the workers of this Spark session run {python}, which {lacking}: {REMEDY}")


@cache
def _lacking(python: str, path: str | None, modules: str | None) -> str | None:
    """What a Python lacks, in words; found once for each environment."""
    command = shutil.which(python)
    if command is None:
        return "is not there"
    if os.path.abspath(command) == os.path.abspath(sys.executable):
        return None
    try:
        tried = subprocess.run([command, "-c", TRIAL], capture_output=True, text=True, timeout=60)
    except (OSError, subprocess.TimeoutExpired):
        return None  # whatever it is, Spark may know how to run it
    lines = tried.stdout.splitlines()
    if tried.returncode or len(lines) < 2:
        return None
    version = "{}.{}".format(*sys.version_info[:2])
    if lines[0].replace(" ", ".") != version:
        return f"is Python {lines[0].replace(' ', '.')}, not {version}"
    return f"cannot import {lines[1].split()[0]}" if lines[1].strip() else None
