"""A fresh process that calls one function, then prints the peak of its memory in bytes."""

from __future__ import annotations

import importlib
import json
import resource
import sys
from pathlib import Path


def main() -> None:
    module, _, name = sys.argv[1].partition(":")
    getattr(importlib.import_module(module), name)(*json.loads(sys.argv[2]))
    print(_peak())


def _peak() -> int:
    """By Linux's own account, or by getrusage, which has the peak of whoever started the process in it."""
    try:
        lines = Path("/proc/self/status").read_text().splitlines()
    except OSError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM"))


if __name__ == "__main__":
    main()
