"""Events pushed through an opened operator in batches."""

from __future__ import annotations

import pyarrow as pa

BATCH = 100_000


def pushed(asked, data, size=BATCH):
    """A function that opens a board, pushes the events in batches and closes it."""
    batches = [data.slice(at, size) for at in range(0, data.num_rows, size)]

    def run():
        operator = asked.open()
        return pa.concat_tables([*map(operator.push, batches), operator.close()])

    return run
