"""The way of rows to their shards: folded to partials where these suffice, packed, one body for each shard."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

import numpy as np
import pyarrow as pa

from sash.engine.encoding import biased
from sash.engine.memory_need import give_back
from sash.engine.sizes import cut, together
from sash.engine.streams.assigners.base import LEAST
from sash.engine.streams.body import CELLS, LATEST, MALFORMED, NOTHING, ROWS, TALLY, Body
from sash.engine.streams.cells import KEY
from sash.engine.streams.keyed_rows import KeyedRows
from sash.engine.streams.keys import Keys
from sash.engine.streams.limits import Limits
from sash.engine.streams.logged import folds_cells
from sash.engine.streams.operator import Operator
from sash.engine.streams.packing import table_bytes, table_of
from sash.engine.streams.scheme import Scheme
from sash.engine.streams.sharding import Share, shards_of
from sash.engine.streams.timed_stream import FIRST
from sash.engine.tables import one_array
from sash.engine.value_words import hashes_of
from sash.expressions.evaluation import evaluate
from sash.kernels.sorting import argsort
from sash.windows.slicers import SLICERS, Edges, edges_of

NONE = np.zeros(0, np.int64)


class Shipping:
    """What a task does with its rows; ``whole`` rows are sent where each that comes late must be shown."""

    def __init__(self, scheme: Scheme, slicer: str, shards: int, whole: bool, limits: Limits) -> None:
        self.scheme, self.slicer, self.shards, self.limits = scheme, slicer, shards, limits
        self.by_cells = not whole and folds_cells(scheme)

    def bodies(self, tables: Iterable[pa.Table]) -> Iterator[Body]:
        """The bodies of a task, at least one for each shard, so that all shards see that there was a batch."""
        reached = set()
        tables = together(tables, self.limits.batch, self.limits.rows)
        for body in self._cells(tables) if self.by_cells else self._rows(tables):
            reached.add(body.shard)
            yield body
        for shard in range(self.shards):
            if shard not in reached:
                yield Body(shard, NOTHING, b"")

    def _cells(self, tables: Iterable[pa.Table]) -> Iterator[Body]:
        edges = edges_of(self.scheme.cuts, SLICERS[self.slicer].finer or self.slicer)
        operator, tallies, latest = self._folding(), [], LEAST
        for table in tables:
            rows = operator.absorb(table)
            operator.late()  # is counted, and no more
            assert rows.time is not None
            latest = max([latest, *([int(rows.time.max())] if len(rows.time) else [])])
            tallies.append(self._tally(edges, rows))
            if operator.size + sum(tally.nbytes for tally in tallies) > self.limits.folded:
                yield from self._folded(operator, tallies, latest)
                operator, tallies = self._folding(), []
                give_back()
        yield from self._folded(operator, tallies, latest)

    def _folding(self) -> Operator:
        operator = Operator(self.scheme, self.slicer, arrival=False)
        operator.unmoved()
        return operator

    def _folded(self, operator: Operator, tallies: list[pa.Table], latest: int) -> Iterator[Body]:
        """What was folded, by shard, and of how many rows."""
        cells = operator.partials().replace_schema_metadata({LATEST: str(latest)})
        keys = [one_array(cells[name]) for name in cells.column_names if name.startswith(KEY)]
        yield from self._split(cells, shards_of(keys, cells.num_rows, self.shards), CELLS)
        tally = pa.concat_tables([pa.table({"at": NONE, "rows": NONE}), *tallies], promote_options="default")
        malformed = operator.late_count
        for part in cut(tally, self.limits.body) if tally.num_rows or not malformed else [tally]:
            yield Body(0, TALLY, table_bytes(part.replace_schema_metadata({MALFORMED: str(malformed)})))
            malformed = 0

    def _tally(self, edges: Edges, rows: KeyedRows) -> pa.Table:
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
            where = (hashes_of_rows(self.scheme, table) % np.uint64(self.shards)).astype(np.int64)
            yield from self._split(table, where, ROWS)
            give_back()

    def _split(self, table: pa.Table, where: np.ndarray, content: int) -> Iterator[Body]:
        """The rows of a table, by shard."""
        if self.shards > 1 and len(where) and where.min() < where.max():
            order = np.argsort(where, kind="stable")
            table, where = table.take(pa.array(order)), where[order]
        starts = np.flatnonzero(np.diff(where, prepend=-1))
        for start, stop in pairwise([*starts.tolist(), len(where)]):
            for part in cut(table.slice(start, stop - start), self.limits.body, self.limits.rows):
                yield Body(int(where[start]), content, table_bytes(part))


def hashes_of_rows(scheme: Scheme, table: pa.Table) -> np.ndarray:
    """The hash of the key of each row of a stream; equal keys have one, however they are written."""
    keys = Keys(scheme.key_types)
    codes = keys.numbers([one_array(evaluate(key, table)) for key in scheme.settings.key])
    return np.zeros(table.num_rows, np.uint64) if codes is None else hashes_of(keys.all(), len(keys))[codes]


def parted(scheme: Scheme, body: Body, shards: int, shares: Sequence[Share]) -> Iterator[tuple[Share, Body]]:
    """What of a body each of several buckets gets, if anything."""
    table = table_of(body.table)
    if body.content == CELLS:
        keys = [one_array(table[name]) for name in table.column_names if name.startswith(KEY)]
        words = hashes_of(keys, table.num_rows)
    else:
        words = hashes_of_rows(scheme, table)
    words //= np.uint64(shards)
    for share in shares:
        here = share.holds(words)
        if here.any():
            yield share, body._replace(table=table_bytes(table.filter(pa.array(here))))


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
