"""Folders for spilled rows, held by a lock for as long as their process lives; those of dead processes are swept.

A lock (flock) ends with its process, however that ends, so that neither a process that lives nor a number that another
process has by now is ever mistaken. It counts on one machine, so that a folder also says on which it was made: those
of others, which may share the disk, stay. Links are not followed, and what belongs to somebody else is not touched.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import socket
import stat
import tempfile
import time
import uuid
from collections.abc import Iterable, Iterator
from functools import cache
from typing import Any

fcntl: Any
try:
    import fcntl
except ImportError:  # there are no such locks on Windows: nothing is swept
    fcntl = None

PREFIX = "sash-rows-"
NEW = "sash-new-"  # until its lock is held
HOUR = 3600.0  # seconds after which nobody is still about to hold a new one
LOCK = "lock"
_swept: set[str] = set()


class SpillFolder:
    """A new folder, which is held until it is removed."""

    def __init__(self, disk: str) -> None:
        self._process = os.getpid()
        folder = tempfile.mkdtemp(prefix=NEW, dir=disk)
        try:
            self._lock = os.open(os.path.join(folder, LOCK), os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600)
            try:
                if fcntl is not None:
                    with contextlib.suppress(OSError):  # a disk without locks: then nobody can sweep it, either
                        fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                os.write(self._lock, machine().encode())
                self.path = os.path.join(disk, PREFIX + uuid.uuid4().hex)
                os.rename(folder, self.path)  # held before anybody looks for it
            except BaseException:
                os.close(self._lock)
                raise
        except BaseException:
            shutil.rmtree(folder, ignore_errors=True)
            raise

    def remove(self) -> None:
        """Delete the folder and all that is in it; a process that was forked from its owner's leaves it."""
        if self._lock < 0 or os.getpid() != self._process:
            return
        shutil.rmtree(self.path, ignore_errors=True)
        os.close(self._lock)
        self._lock = -1


@cache
def machine() -> str:
    """What tells this machine, since it started, from others; its containers share it, and its locks."""
    try:
        with open("/proc/sys/kernel/random/boot_id") as file:
            return file.read().strip()
    except OSError:
        return f"{socket.gethostname()} {uuid.getnode()}"


def sweep_once(disks: Iterable[str]) -> None:
    """Remove what dead processes left on these disks, the first time that this process asks."""
    for disk in disks:
        if disk not in _swept:
            _swept.add(disk)
            sweep(disk)


def sweep(disk: str) -> None:
    """Remove folders whose process is dead; what cannot be looked into, or removed, stays."""
    if fcntl is None:
        return
    with contextlib.suppress(OSError):
        names = [entry.name for entry in os.scandir(disk) if entry.name.startswith((PREFIX, NEW))]
        for name in names:
            with (
                contextlib.suppress(OSError),
                _opened(os.path.join(disk, name), os.O_RDONLY | os.O_DIRECTORY) as folder,
            ):
                if (_clear if name.startswith(PREFIX) else _clear_new)(folder):
                    os.rmdir(os.path.join(disk, name))


def _clear(folder: int) -> bool:
    """Delete the files of a folder, if it is ours and nobody holds it."""
    if not _is_private(folder):
        return False
    with _opened(LOCK, os.O_RDWR, folder) as lock:
        if not stat.S_ISREG(os.fstat(lock).st_mode):
            return False
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)  # fails where its process lives
        names = os.listdir(folder)
        if os.read(lock, 200).decode(errors="replace") != machine() or not all(map(_ours, names)):
            return False
        for name in sorted(names, key=LOCK.__eq__):  # the lock goes last
            os.unlink(name, dir_fd=folder)
    return True


def _clear_new(folder: int) -> bool:
    """Delete the lock of a folder whose process was killed before it held any rows."""
    names = os.listdir(folder)
    if not _is_private(folder) or names not in ([], [LOCK]) or time.time() - os.fstat(folder).st_mtime < HOUR:
        return False
    for name in names:
        with _opened(name, os.O_RDWR, folder) as lock:
            if not stat.S_ISREG(os.fstat(lock).st_mode):
                return False
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)  # fails where its process lives
            os.unlink(name, dir_fd=folder)
    return True


def _is_private(folder: int) -> bool:
    """Whether a folder is this user's, and of nobody else."""
    status = os.fstat(folder)
    return status.st_uid == os.geteuid() and not status.st_mode & (stat.S_IRWXG | stat.S_IRWXO)


def _ours(name: str) -> bool:
    return name == LOCK or name.isdecimal()


@contextlib.contextmanager
def _opened(path: str, how: int, folder: int | None = None) -> Iterator[int]:
    descriptor = os.open(path, how | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=folder)
    try:
        yield descriptor
    finally:
        os.close(descriptor)
