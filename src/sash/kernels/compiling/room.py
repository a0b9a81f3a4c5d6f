"""Room for LLVM: where the system gives it no memory, it ends the process without a word that a user would see."""

from __future__ import annotations

import mmap
import sys

from sash.errors import SashError

LLVM = 176 << 20  # bytes of addresses that LLVM itself takes, once in a process
LINKING = 8 << 20  # and a kernel's, with room to spare
COMPILING = 96 << 20


def check_room(size: int, what: str) -> None:
    """Refuse what LLVM would fail at, before it begins."""
    size += 0 if "llvmlite.binding" in sys.modules else LLVM
    try:
        mmap.mmap(-1, size).close()  # no byte of it is touched
    except OSError:
        raise SashError(
            f"{what} takes {size >> 20} MB of addresses, more than this process may still map: give it more memory, on "
            "Spark by spark.executor.pyspark.memory"
        ) from None
