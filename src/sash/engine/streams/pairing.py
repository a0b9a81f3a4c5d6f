"""Starts and ends that come in rows of their own, joined by an id to the spans that they make.

Halves wait until the watermark has passed them, so that it does not matter in which order they came. An end goes with
the last start of its id before it that has no end yet, if that is not longer ago than a span may last.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sash.engine.encoding import biased
from sash.engine.streams.scheme import Scheme
from sash.engine.streams.times import ticks_of
from sash.engine.tables import one_array
from sash.expressions.evaluation import evaluate
from sash.kernels.compiling import routine
from sash.kernels.sorting import argsort

NEVER = -(2**63)


@routine
def match(codes, at, ends, longest, stack, other):  # type: ignore[no-untyped-def]
    """Match sorted halves: ``other`` is the place of the end of a start, and of the start of an end; -1 for none."""
    open_, code = 0, -1
    for i in range(len(codes)):
        if codes[i] != code:
            open_, code = 0, codes[i]
        if ends[i] == 0:
            stack[open_] = i
            open_ += 1
        elif open_ > 0 and at[i] - at[stack[open_ - 1]] <= longest:
            open_ -= 1
            other[i], other[stack[open_]] = stack[open_], i
    return 0


class Pairing:
    """Rows that wait for their other half."""

    def __init__(self, scheme: Scheme) -> None:
        spans = scheme.settings.spans
        assert spans is not None
        assert spans.pair is not None
        assert scheme.longest is not None
        self.scheme, self.spans, self.pair, self.longest = scheme, spans, spans.pair, scheme.longest
        self.waiting = scheme.schema.empty_table()
        self.latest = NEVER  # the time of a half, or of a whole span, that came last

    def take(self, table: pa.Table) -> tuple[pa.Table, pa.Table, pa.Array]:
        """Whole spans among some rows; rows that are of none, and why. The others wait."""
        at, starts, ends = self._halves(table)
        self.latest = max([self.latest, *([int(at[starts | ends].max())] if (starts | ends).any() else [])])
        named = one_array(evaluate(self.pair, table)).is_valid().to_numpy(zero_copy_only=False)
        whole, neither, nameless = starts & ends, ~starts & ~ends, (starts ^ ends) & ~named
        self.waiting = pa.concat_tables([self.waiting, table.filter(pa.array((starts ^ ends) & named))])
        reasons = np.full(table.num_rows, f"{self.pair} is NULL", object)
        reasons[neither] = f"{self.spans.start} and {self.spans.end} are NULL"
        bad = neither | nameless
        aside = table.filter(pa.array(bad))
        return table.filter(pa.array(whole)), aside, pa.array(reasons[bad].tolist(), pa.string())

    def passed(self, upto: int) -> tuple[pa.Table, pa.Table, pa.Array]:
        """The same of rows that waited, once nothing comes any more that is before a time."""
        rows = self.waiting.combine_chunks()
        at, starts, ends = self._halves(rows)
        codes = one_array(evaluate(self.pair, rows)).dictionary_encode().indices.to_numpy().astype(np.int64)
        order = argsort([codes.view(np.uint64), biased(at), ends.astype(np.uint64)]).astype(np.int64)
        order = order[at[order] < upto]
        other, stack = np.full(len(order), -1), np.empty(len(order), np.int64)
        match(codes[order], at[order], ends[order].astype(np.uint8), self.longest, stack, other)
        first = np.flatnonzero((other >= 0) & starts[order])
        mine, theirs, single = order[first], order[other[first]], order[other < 0]
        over = single[starts[single] & (at[single] < upto - self.longest)]
        lost = single[ends[single]]
        stays = np.ones(rows.num_rows, np.bool_)
        for gone in (mine, theirs, over, lost):
            stays[gone] = False
        self.waiting = rows.filter(pa.array(stays))
        columns = [pc.coalesce(one_array(column.take(pa.array(theirs))), one_array(column.take(pa.array(mine))))
                   for column in rows.columns]  # fmt: skip
        joined = pa.Table.from_arrays(columns, schema=rows.schema)
        reason = f"no {self.spans.start} came for its {self.pair}"
        whole = pa.concat_tables([joined, rows.take(pa.array(over))])
        return whole, rows.take(pa.array(lost)), pa.array([reason] * len(lost), pa.string())

    def _halves(self, rows: pa.Table) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The time of each row, and which have a start and which an end."""
        halves = []
        for column in (self.spans.start, self.spans.end):
            ticks, known = ticks_of(evaluate(column, rows), self.scheme.time_type)
            halves.append((ticks, np.ones(len(ticks), np.bool_) if known is None else known))
        (start, begun), (end, ended) = halves
        return np.where(ended, end, start), begun, ended
