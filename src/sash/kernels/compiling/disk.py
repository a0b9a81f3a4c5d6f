"""Compiled kernels on disk: one checksummed file a key, written by rename, under a lock a key.

The folder is ``$SASH_CACHE_DIR``, else ``sash/kernels`` under ``$XDG_CACHE_HOME`` or ``~/.cache``, else
one of our own in the temporary folder. One that can be read but not written to, such as one that root prepared, is
read first, and what it lacks goes to the next. Deleting it clears the cache. Anything unreadable, truncated or
altered, or that somebody else could have written (see ``trusted``), counts as absent and is compiled and written
again. What is loaded are the bytes that were checked: a file is opened once.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import tempfile
import time
import warnings
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any

from sash.errors import outside
from sash.kernels.compiling.locks import lock_held
from sash.kernels.compiling.trusted import TrustedFolder, Untrusted, open_folder

MAGIC = b"sash kernel 1\n"
START = b"sash kernel "  # of every version
DAY = 86_400.0  # seconds
PATIENCE = 60.0  # seconds; compiling takes a few, so that who holds a lock for longer is stuck


def folder() -> Path | None:
    """Where this process keeps compiled kernels, or None where no folder can be written that is ours alone."""
    with _own() as own:
        return own.path if own else None


def read(key: str) -> tuple[dict[str, Any], bytes] | None:
    """The description and the object code stored under a key, or None."""
    with contextlib.closing(_folders()) as folders:
        for each in folders:
            with contextlib.suppress(OSError):
                stored = _stored(each, key)
                if stored is not None:
                    return stored
    return None


def write(key: str, description: dict[str, Any], code: bytes) -> None:
    """Store a kernel; readers see the old file, the new one, or none: never half of one."""
    body = json.dumps(description).encode() + b"\n" + code
    # A full or vanished disk costs a compilation, not the query.
    with contextlib.suppress(OSError), _own() as own:
        if own is not None:
            own.write(f"{key}.kernel", MAGIC + _checksum(key, body) + body)
            from sash.kernels.compiling import pruning

            pruning.prune_when_due(own, START)


@contextlib.contextmanager
def lock(key: str) -> Iterator[None]:
    """Hold the right to compile a key, but do not wait for it for ever: all that is lost is a second compilation."""
    with contextlib.ExitStack() as stack:
        with contextlib.suppress(OSError):
            own = stack.enter_context(_own())
            if own is not None:
                stack.enter_context(lock_held(own, f"{key}.lock", PATIENCE))
        yield


def clear() -> int:
    """Delete every stored kernel of this process's own folder; returns how many there were."""
    from sash.kernels.compiling import pruning

    count = 0
    with _own() as own:
        if own is None:
            return 0
        for name in own.names():
            if name.endswith((".kernel", ".part", ".lock")) or name == pruning.STAMP:
                with contextlib.suppress(OSError):
                    own.remove(name)
                    count += name.endswith(".kernel")
    return count


def _stored(folder: TrustedFolder, key: str) -> tuple[dict[str, Any], bytes] | None:
    with os.fdopen(folder.open(f"{key}.kernel"), "rb") as file:
        data = file.read()
        start = len(MAGIC) + 32
        body = data[start:]
        if data[:start] != MAGIC + _checksum(key, body):
            return None
        _note_use(file.fileno())
    head, _, code = body.partition(b"\n")
    return json.loads(head), code


def _note_use(descriptor: int) -> None:
    """Let a kernel's time be that of its last use, to the day, by which ``pruning`` goes."""
    if abs(time.time() - os.fstat(descriptor).st_mtime) > DAY and os.utime in os.supports_fd:
        with contextlib.suppress(OSError):
            os.utime(descriptor)


def _checksum(key: str, body: bytes) -> bytes:
    """Covers the key too, so that a file under another's name counts as altered."""
    return hashlib.sha256(key.encode() + body).digest()


@contextlib.contextmanager
def _own() -> Iterator[TrustedFolder | None]:
    """The folder that kernels are written to."""
    with contextlib.closing(_folders()) as folders:
        yield next((each for each in folders if each.writable), None)


def _folders() -> Generator[TrustedFolder]:
    """The folders to look into, open: up to the first that can be written to."""
    chosen = os.environ.get("SASH_CACHE_DIR")
    if chosen:
        try:
            opened = open_folder(Path(chosen))
        except OSError as error:
            _warn(
                f"SASH_CACHE_DIR must be a folder that nobody but you or root can write to, got {chosen}: "
                f"{error.strerror or error}; without it each process compiles anew"
            )
            return
        with opened:
            yield opened
            if opened.writable:
                return
    untrusted = None
    for path in _private():
        try:
            opened = open_folder(path)
        except OSError as error:
            untrusted = error if isinstance(error, Untrusted) else untrusted
            continue
        with opened:
            yield opened
            if opened.writable:
                return
    if untrusted is not None:
        _warn(f"compiled kernels are not kept, since {untrusted}; name a folder of your own by SASH_CACHE_DIR")


def _private() -> Iterator[Path]:
    with contextlib.suppress(RuntimeError):  # no home folder
        home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
        yield Path(home) / "sash" / "kernels"
    user = os.geteuid() if hasattr(os, "geteuid") else "user"
    yield Path(tempfile.gettempdir()) / f"sash-kernels-{user}"


def _warn(message: str) -> None:
    warnings.warn(message, RuntimeWarning, stacklevel=outside())
