"""Which process this is, so that a later one can tell whether it still lives."""

from __future__ import annotations

import os
import re
from pathlib import Path

FORM = re.compile(r"\d+ \d+")  # of a process, as own() gives it


def place() -> str:
    """The machine since it was started, and its space of process numbers; empty where the system does not tell."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
        return f"{boot} {Path('/proc/self/ns/pid').readlink()}"
    except OSError:
        return ""


def own() -> str:
    """The process that asks: its number, and when it began, since numbers are given again."""
    return f"{os.getpid()} {_begin(os.getpid())}"


def lives(process: str) -> bool:
    """Whether a process of this place still lives.

    >>> lives(own()), lives(f"{os.getpid()} 1")
    (True, False)
    """
    number, _, begin = process.partition(" ")
    return _begin(int(number)) == begin


def _begin(number: int) -> str:
    """When a process began, in ticks since the machine did; empty where there is none, or only its remains."""
    try:
        stat = Path(f"/proc/{number}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
    fields = stat.rpartition(")")[2].split()  # its name, in brackets, can hold anything
    return "" if fields[0] in "ZX" else fields[19]
