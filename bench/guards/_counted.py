"""One hot kernel on so many rows, for a processor of no particular kind: ``python -m bench.guards._counted NAME ROWS``.

Code for the same processor on every machine makes counts that can be compared between machines.
"""

from __future__ import annotations

import os
import sys

os.environ |= {"NUMBA_CPU_NAME": "x86-64", "NUMBA_CPU_FEATURES": "", "SASH_THREADS": "1"}

import numpy as np

from sash.algebra.catalogue import builtin
from sash.kernels.compiling import native
from sash.kernels.fifo import slide
from sash.kernels.sorting.radix import argsort
from sash.kernels.structures.merge_sort_tree import MergeSortTree

native.processor = lambda: ("any", "x86-64", "")


BLOCK = np.random.default_rng(0).integers(0, 1 << 62, 1 << 12)
"""Random numbers that are repeated to as many rows as asked for: to copy them takes next to no instructions."""


def sliding_max(rows):
    slide(builtin("max"), np.resize(BLOCK.astype(np.float64), rows), size=100)


def radix_sort(rows):
    argsort([np.resize(BLOCK.astype(np.uint64), rows)])


def merge_sort_tree(rows):
    values = np.resize(BLOCK.argsort().astype(np.int32), rows)
    hi = np.arange(1, rows + 1, dtype=np.int32)
    MergeSortTree(values).count(np.maximum(hi - 1000, 0), hi, values)


KERNELS = {kernel.__name__: kernel for kernel in (sliding_max, radix_sort, merge_sort_tree)}

if __name__ == "__main__":
    KERNELS[sys.argv[1]](int(sys.argv[2]))
