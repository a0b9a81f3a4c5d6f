"""What a task sends to a shard."""

from __future__ import annotations

from typing import NamedTuple

NOTHING, CELLS, ROWS, TALLY = range(4)
MALFORMED, LATEST = "malformed", "latest"  # rows without a time, or one out of reach; and the latest time


class Body(NamedTuple):
    """Cells, rows, or how many rows there were in each slice, as an Arrow table."""

    shard: int
    content: int
    table: bytes
    task: int = 0  # that sent it
