"""What is said where memory does not suffice."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pyarrow as pa

from sash.engine.spilling.estimating import said
from sash.errors import SashError


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
