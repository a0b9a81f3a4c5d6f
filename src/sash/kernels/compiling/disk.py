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
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

MAGIC = b"sash kernel 1\n"
PATIENCE = 60.0  # seconds; compiling takes a few, so that who holds a lock for longer is stuck


def folder() -> Path | None:
    """Where compiled kernels live, or None where no folder can be written that is ours alone."""
    chosen = os.environ.get("SASH_CACHE_DIR")
    candidates = [Path(chosen)] if chosen else []
    if not chosen:
        with contextlib.suppress(RuntimeError):  # no home folder
            home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
            candidates.append(Path(home) / "sash" / "kernels")
        user = os.getuid() if hasattr(os, "getuid") else "user"
        candidates.append(Path(tempfile.gettempdir()) / f"sash-kernels-{user}")
    for candidate in candidates:
        with contextlib.suppress(OSError):
            candidate.mkdir(mode=0o700, parents=True, exist_ok=True)
            if os.access(candidate, os.W_OK) and _ours(candidate):
                return candidate
    if chosen:
        warnings.warn(
            f"SASH_CACHE_DIR must be a folder that you, and nobody else, can write to, got {chosen}; "
            "without it each process compiles anew",
            RuntimeWarning,
            stacklevel=2,
        )
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
    body = data[start:]
    if data[:start] != MAGIC + _checksum(key, body):
        return None
    head, _, code = body.partition(b"\n")
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
                file.write(MAGIC + _checksum(key, body) + body)
            os.replace(name, home / f"{key}.kernel")
        except OSError:
            os.unlink(name)
            raise


def _checksum(key: str, body: bytes) -> bytes:
    """Covers the key too, so that a file under another's name counts as altered."""
    return hashlib.sha256(key.encode() + body).digest()


@contextlib.contextmanager
def lock(key: str) -> Iterator[None]:
    """Hold the right to compile a key; the system lets go of it if the process dies."""
    home = folder()
    try:
        file = open(home / f"{key}.lock", "wb") if home else None  # noqa: SIM115
    except OSError:
        file = None
    with file or contextlib.nullcontext():
        if file is not None:
            _wait_for(file)
        yield


def _wait_for(file: BinaryIO) -> None:
    """Wait for a lock, but not for ever: without it all that is lost is a second compilation."""
    try:
        import fcntl
    except ImportError:  # not on Windows
        return
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        try:
            return fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            time.sleep(0.02)
        except OSError:  # a file system without locks
            return


def clear() -> int:
    """Delete every stored kernel; returns how many there were."""
    home = folder()
    stored = list(home.glob("*.kernel")) if home else []
    for path in [*stored, *(home.glob("*.part") if home else ()), *(home.glob("*.lock") if home else ())]:
        path.unlink(missing_ok=True)
    return len(stored)
