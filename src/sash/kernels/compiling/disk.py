"""Compiled kernels on disk: one checksummed file a key, written by rename, under a lock a key.

The folder is ``$SASH_CACHE_DIR``, else ``sash/kernels`` under ``$XDG_CACHE_HOME`` or ``~/.cache``, else
one of our own in the temporary folder. Deleting it clears the cache. Anything unreadable, truncated or
altered counts as absent and is compiled and written again.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import stat
import tempfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

MAGIC = b"sash kernel 1\n"


def folder() -> Path | None:
    """Where compiled kernels live, or None where no folder can be written."""
    return _folder(os.environ.get("SASH_CACHE_DIR"), os.environ.get("XDG_CACHE_HOME"))


@cache
def _folder(chosen: str | None, cache_home: str | None) -> Path | None:
    candidates = [Path(chosen)] if chosen else []
    if not chosen:
        with contextlib.suppress(RuntimeError):  # no home folder
            candidates.append(Path(cache_home or Path.home() / ".cache") / "sash" / "kernels")
        user = os.getuid() if hasattr(os, "getuid") else "user"
        candidates.append(Path(tempfile.gettempdir()) / f"sash-kernels-{user}")
    for candidate in candidates:
        with contextlib.suppress(OSError):
            candidate.mkdir(mode=0o700, parents=True, exist_ok=True)
            if os.access(candidate, os.W_OK) and _ours(candidate):
                return candidate
    return None


def _ours(path: Path) -> bool:
    """Machine code is only loaded from a folder that nobody else can write to."""
    if not hasattr(os, "getuid"):
        return True
    status = path.stat()
    return status.st_uid == os.getuid() and not status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)


def read(key: str) -> tuple[dict[str, Any], bytes] | None:
    """The description and the object code stored under a key, or None."""
    home = folder()
    if home is None:
        return None
    try:
        data = (home / f"{key}.kernel").read_bytes()
    except OSError:
        return None
    start = len(MAGIC) + 32
    if not data.startswith(MAGIC) or hashlib.sha256(data[start:]).digest() != data[len(MAGIC) : start]:
        return None
    head, _, code = data[start:].partition(b"\n")
    return json.loads(head), code


def write(key: str, description: dict[str, Any], code: bytes) -> None:
    """Store a kernel; readers see the old file, the new one, or none: never half of one."""
    home = folder()
    if home is None:
        return
    body = json.dumps(description).encode() + b"\n" + code
    with contextlib.suppress(OSError):  # a full or vanished disk costs a compilation, not the query
        handle, name = tempfile.mkstemp(dir=home, prefix=key[:16], suffix=".part")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(MAGIC + hashlib.sha256(body).digest() + body)
            os.replace(name, home / f"{key}.kernel")
        except OSError:
            os.unlink(name)
            raise


@contextlib.contextmanager
def lock(key: str) -> Iterator[None]:
    """Hold the right to compile a key; the system lets go of it if the process dies."""
    home = folder()
    try:
        import fcntl

        file = open(home / f"{key}.lock", "wb") if home else None  # noqa: SIM115
    except (ImportError, OSError):
        file = None
    if file is None:
        yield
        return
    with file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def clear() -> int:
    """Delete every stored kernel; returns how many there were."""
    home = folder()
    stored = list(home.glob("*.kernel")) if home else []
    for path in [*stored, *(home.glob("*.part") if home else ()), *(home.glob("*.lock") if home else ())]:
        path.unlink(missing_ok=True)
    return len(stored)
