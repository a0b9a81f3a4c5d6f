"""What it ran on: versions and cores; nothing that names the machine."""

from __future__ import annotations

import os
import platform
from importlib.metadata import PackageNotFoundError, version
from typing import Any


def machine(spark: Any) -> dict[str, str]:
    """What to know of figures that were measured here."""
    return {
        "cores": f"{os.cpu_count()}, Spark on {spark.conf.get('spark.master')}",
        "system": f"{platform.system()} on {platform.machine()}",
        "Python": platform.python_version(),
        "Spark": spark.version,
        "Java": _java(spark),
        "Sash": _version("sash"),
        "pyarrow": _version("pyarrow"),
        "Numba": _version("numba"),
    }


def _java(spark: Any) -> str:
    return str(spark.sql("select reflect('java.lang.System', 'getProperty', 'java.version')").collect()[0][0])


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"
