"""How much memory an evaluation needs, before it runs, and what is said where it does not suffice."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pyarrow as pa

from sash.errors import SashError

SCRATCH = 100  # bytes a row, for sort keys, the permutation, bounds, an index and the answers
FURTHER = 16  # bytes a row, for each expression after the first


def give_back() -> None:
    """Return to the system what Arrow has kept of memory that is free, before another part of the work takes more."""
    pa.default_memory_pool().release_unused()


@contextmanager
def within_memory(budget: int, what: str) -> Iterator[None]:
    """Say what did not fit, and what can be done, where the system gives no more memory."""
    try:
        yield
    except MemoryError:  # Arrow's, too
        raise SashError(
            f"{what} did not fit the memory of a worker, which was taken to have {said(budget)}: set "
            "sash.options.memory (or SASH_MEMORY) to less than it really has, or give it more, on Spark by "
            "spark.executor.pyspark.memory or fewer cores for an executor"
        ) from None


def scratch(expressions: int = 1) -> int:
    """Bytes a row that some expressions of one table need beside their input.

    Measured with 2 million rows of 24 to 35 bytes, as the peak of what was resident, the input included: 122 to 154
    bytes a row for median, rank, count_distinct, mode and sum distinct with per-row bounds, 88 to 129 with bounds of
    one size, 174 for four of them at once. ``need`` says 148 to 170, and 196 for four.
    """
    return SCRATCH + FURTHER * max(expressions - 1, 0)


def need(size: int, rows: int, bytes_per_row: int = SCRATCH) -> int:
    """Bytes that an evaluation of some rows may need at once: they, a copy of each column in one piece, and scratch.

    >>> need(size=24_000, rows=1_000)
    148000
    """
    return 2 * size + rows * bytes_per_row


def size_of(rows: pa.Table) -> int:
    """Bytes that rows take: neither what they are a slice of counts, nor dictionaries, which slices share."""
    return max(sum(_size(column) for column in rows.columns), rows.num_rows)


def _size(column: pa.ChunkedArray) -> int:
    if pa.types.is_dictionary(column.type):
        return sum(int(chunk.indices.nbytes) for chunk in column.chunks)
    return int(column.nbytes)


def said(size: int) -> str:
    """A number of bytes in words.

    >>> said(3_328_599_654), said(1_500)
    ('3.1 GB', '1.5 kB')
    """
    for unit, step in (("GB", 30), ("MB", 20)):
        if size >= 1 << step:
            return f"{size / (1 << step):.1f} {unit}"
    return f"{size / 1024:.1f} kB"
