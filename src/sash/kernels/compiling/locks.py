"""Locks that processes hold by files of a folder; the system lets go of one if its process dies."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterator

from sash.kernels.compiling.trusted import TrustedFolder

ATTEMPTS = 100  # some file systems say of every file that it has no name


@contextlib.contextmanager
def lock_held(folder: TrustedFolder, name: str, patience: float) -> Iterator[int | None]:
    """Hold a lock: its file's descriptor, or None where others still held it after so many seconds.

    Who holds it may delete the file, which whoever waits for it notices. A system, or a file system, without
    locks counts as one where nobody holds any.
    """
    deadline = time.monotonic() + patience
    for attempt in range(ATTEMPTS):
        descriptor = folder.open(name, os.O_RDWR | os.O_CREAT)
        try:
            mine = _wait_for(descriptor, deadline)
            if not mine or os.fstat(descriptor).st_nlink or attempt == ATTEMPTS - 1:
                yield descriptor if mine else None
                return
        finally:
            os.close(descriptor)


def _wait_for(descriptor: int, deadline: float) -> bool:
    try:
        import fcntl
    except ImportError:  # not on Windows
        return True
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() >= deadline:
                return False
            time.sleep(0.02)
        except OSError:  # a file system without locks
            return True
        else:
            return True
