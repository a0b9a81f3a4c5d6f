"""Kernels that were not used for long, or are too many, leave the disk: after a compilation, once an hour at most.

A kernel's time is that of its last use, to the day: whoever reads it sees to that. What is deleted is known by its
name and by its first bytes, is ours, and is deleted under the lock that whoever compiles it would hold: a process that
reads it has it open and reads on, and one that comes later compiles it again.
"""

from __future__ import annotations

import contextlib
import os
import re
import stat
import time
import warnings

from sash.errors import SashError, outside
from sash.kernels.compiling.locks import lock_held
from sash.kernels.compiling.trusted import TrustedFolder
from sash.options import _bytes as number_of_bytes

DAYS = 60.0  # since its last use
SIZE = 1 << 30  # bytes of all kernels
EVERY = 3600.0  # seconds between two looks at the folder
STAMP = "pruned"  # the file whose time is that of the last look
DAY = 86_400.0

KERNEL = re.compile(r"([0-9a-f]{64})\.kernel")
LOCK = re.compile(r"([0-9a-f]{64})\.lock")
PART = re.compile(r"[0-9a-f]{16}[0-9a-z_]{8,16}\.part")  # of a process that died while it wrote


def prune_when_due(folder: TrustedFolder, start: bytes) -> None:
    """Delete what is too old or too much, unless that was done within the hour. Kernels begin with ``start``."""
    days, size = _days(), _size()
    with lock_held(folder, STAMP, patience=0) as descriptor:
        if descriptor is None or 0 <= time.time() - os.fstat(descriptor).st_mtime < EVERY:
            return
        prune(folder, start, days, size)
        os.write(descriptor, b".")  # which sets its time


def prune(folder: TrustedFolder, start: bytes, days: float, size: int) -> None:
    """Delete kernels not used for so many days, then those used longest ago, until the rest has this many bytes."""
    now, total = time.time(), 0
    names = folder.names()
    kernels = []
    for name in names:
        with contextlib.suppress(OSError):  # gone meanwhile
            status = folder.status(name)
            if not _ours(status):
                continue
            if KERNEL.fullmatch(name):
                kernels.append((status.st_mtime, status.st_size, name))
            elif PART.fullmatch(name) and now - status.st_mtime > EVERY:
                folder.remove(name)
    for time_used, length, name in sorted(kernels, reverse=True):
        total += length
        if total > size or now - time_used > days * DAY:
            _remove(folder, name, time_used, start)
    there = {match[1] for match in map(KERNEL.fullmatch, names) if match}
    for match in filter(None, map(LOCK.fullmatch, names)):
        if match[1] not in there:  # its compilation failed
            with contextlib.suppress(OSError), lock_held(folder, match[0], patience=0) as mine:
                if mine is not None:
                    folder.remove(match[0])


def _ours(status: os.stat_result) -> bool:
    return stat.S_ISREG(status.st_mode) and (not hasattr(os, "geteuid") or status.st_uid == os.geteuid())


def _remove(folder: TrustedFolder, name: str, time_used: float, start: bytes) -> None:
    """Delete a kernel and its lock, unless somebody is compiling it, or used or replaced it since."""
    lock = name.replace(".kernel", ".lock")
    with contextlib.suppress(OSError), lock_held(folder, lock, patience=0) as mine:
        if mine is None:
            return
        with os.fdopen(folder.open(name), "rb") as file:
            stays = os.fstat(file.fileno()).st_mtime != time_used or file.read(len(start)) != start
        if not stays:
            folder.remove(name)
        folder.remove(lock)


def _days() -> float:
    setting = os.environ.get("SASH_CACHE_DAYS", "").strip()
    if not setting:
        return DAYS
    if re.fullmatch(r"\d+(\.\d+)?", setting):
        return float(setting)
    _warn(f"SASH_CACHE_DAYS must be a number of days, such as 30, got {setting!r}; it counts as {DAYS:.0f}")
    return DAYS


def _size() -> int:
    setting = os.environ.get("SASH_CACHE_SIZE", "").strip()
    try:
        return number_of_bytes("SASH_CACHE_SIZE", setting) if setting else SIZE
    except SashError as error:
        _warn(f"{error}; it counts as 1g")
        return SIZE


def _warn(message: str) -> None:
    warnings.warn(message, RuntimeWarning, stacklevel=outside())
