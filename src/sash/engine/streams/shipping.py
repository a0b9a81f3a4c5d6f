"""The way of rows to their shards: folded to partials where these suffice, packed, one body for each shard."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from sash.engine.encoding import biased
from sash.engine.streams.axes import LEAST
from sash.engine.streams.keys import Keys
from sash.engine.streams.log import cut
from sash.engine.streams.logged import folds_cells
from sash.engine.streams.operator import Operator
from sash.engine.streams.packing import table_bytes
from sash.engine.streams.partials import KEY
from sash.engine.streams.rows import Rows
from sash.engine.streams.scheme import FIRST, Scheme
from sash.engine.streams.sharding import shards_of
from sash.engine.tables import one_array
from sash.expressions.evaluation import evaluate
from sash.kernels.sorting import argsort
from sash.windows.slicing import Edges, edges_of

NOTHING, CELLS, ROWS, TALLY = range(4)
MOST, LARGE = 1 << 20, 1 << 25  # cells or rows, and bytes, of one body
MALFORMED, LATEST = "malformed", "latest"  # rows without a time, or one out of reach; and the latest time
NONE = np.zeros(0, np.int64)


class Body(NamedTuple):
    """What is sent to a shard: cells, rows, or how many rows there were in each slice, as an Arrow table."""

    shard: int
    kind: int
    table: bytes


class Shipping:
    """What a task does with its rows; ``whole`` rows are sent where each that comes late must be shown."""

    def __init__(self, scheme: Scheme, slicer: str, shards: int, whole: bool) -> None:
        self.scheme, self.slicer, self.shards = scheme, slicer, shards
        self.by_cells = folds_cells(scheme) and not whole

    def bodies(self, tables: Iterable[pa.Table]) -> Iterator[Body]:
        """The bodies of a task, at least one for each shard, so that all shards see that there was a batch."""
        reached = set()
        for body in self._cells(tables) if self.by_cells else self._rows(tables):
            reached.add(body.shard)
            yield body
        for shard in range(self.shards):
            if shard not in reached:
                yield Body(shard, NOTHING, b"")

    def _cells(self, tables: Iterable[pa.Table]) -> Iterator[Body]:
        operator = Operator(self.scheme, self.slicer, arrival=False)
        operator.unmoved()
        edges = edges_of(self.scheme.grids, "pairs" if self.slicer == "cutty" else self.slicer)
        tallies, latest = [pa.table({"at": NONE, "rows": NONE})], LEAST
        for table in tables:
            rows = operator.absorb(table)
            assert rows.time is not None
            latest = max([latest, *([int(rows.time.max())] if len(rows.time) else [])])
            tallies.append(self._tally(edges, rows))
        cells = operator.partials()
        cells = cells.replace_schema_metadata({LATEST: str(latest)})
        keys = [one_array(cells[name]) for name in cells.column_names if name.startswith(KEY)]
        yield from self._split(cells, shards_of(keys, cells.num_rows, self.shards), CELLS)
        tally = pa.concat_tables(tallies, promote_options="default")
        if tally.num_rows or operator.late_count:
            yield Body(0, TALLY, table_bytes(tally.replace_schema_metadata({MALFORMED: str(operator.late_count)})))

    def _tally(self, edges: Edges, rows: Rows) -> pa.Table:
        """How many rows each slice has, or, of events that last, each pair of a first and a last slice."""
        assert rows.time is not None
        if not self.scheme.spans:
            starts, counts = _slices(edges, rows.time)
            return pa.table({"at": starts, "rows": counts})
        if not len(rows.time):
            return pa.table({"at": NONE, "rows": NONE})
        first, last = edges.floor(one_array(rows.table[FIRST]).to_numpy()), edges.floor(rows.time)
        order = argsort([biased(first), biased(last)])
        first, last = first[order], last[order]
        heads = np.flatnonzero(np.append(True, (first[1:] != first[:-1]) | (last[1:] != last[:-1])))
        return pa.table({"at": first[heads], "last": last[heads], "rows": np.diff(np.append(heads, len(first)))})

    def _rows(self, tables: Iterable[pa.Table]) -> Iterator[Body]:
        for table in tables:
            keys = Keys(self.scheme.key_types)
            codes = keys.numbers([one_array(evaluate(key, table)) for key in self.scheme.settings.key])
            if codes is None:
                where = np.zeros(table.num_rows, np.int64)
            else:
                where = shards_of(keys.all(), len(keys), self.shards)[codes]
            yield from self._split(table, where, ROWS)

    def _split(self, table: pa.Table, where: np.ndarray, kind: int) -> Iterator[Body]:
        """The rows of a table, by shard."""
        if self.shards > 1 and len(where) and where.min() < where.max():
            order = np.argsort(where, kind="stable")
            table, where = table.take(pa.array(order)), where[order]
        starts = np.flatnonzero(np.diff(where, prepend=-1))
        for start, stop in pairwise([*starts.tolist(), len(where)]):
            for part in cut(table.slice(start, stop - start), LARGE, MOST):
                yield Body(int(where[start]), kind, table_bytes(part))


def _slices(edges: Edges, time: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Where slices begin, and how many rows each has."""
    if not len(time):
        return time, time
    least, most = int(time.min()), int(time.max())
    if edges.how_many(least, most) > max(len(time), 64):
        return np.unique(edges.floor(time), return_counts=True)
    starts = edges.between(least, most)
    counts = np.bincount(np.searchsorted(starts, time, "right") - 1, minlength=len(starts))
    return starts[counts > 0], counts[counts > 0]
