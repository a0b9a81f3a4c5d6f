"""What a stream keeps between batches: one store of parts, of which a snapshot is the dump.

Where state is a log, too (on Spark), cells or rows are in its entries, and ``rest`` is what no entry holds.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from sash.engine.encoding import biased
from sash.engine.sizes import total_bytes
from sash.engine.streams.assigners.base import LEAST, MISSED, MOST, Positions
from sash.engine.streams.assigners.by_time import TimePositions
from sash.engine.streams.buffer import Buffer, ties
from sash.engine.streams.cells import Cells
from sash.engine.streams.emitting import Changes, Updates, WindowAnswers
from sash.engine.streams.filling import Fill, Filling
from sash.engine.streams.formats import refuse_others
from sash.engine.streams.keyed_rows import KeyedRows
from sash.engine.streams.keys import Keys
from sash.engine.streams.lateness import Late
from sash.engine.streams.lengths import Lengths
from sash.engine.streams.limits import Limits
from sash.engine.streams.pairing import Pairing
from sash.engine.streams.restoring import (
    numbers_of,
    part_of,
    refuse_outside,
    table_of,
    typed_of,
    watermark_of,
    whole_of,
)
from sash.engine.streams.revisions import Revisions
from sash.engine.streams.scheme import Scheme
from sash.engine.streams.span_cells import AUTO, refuse_odd_spans
from sash.engine.streams.timed_stream import FIRST
from sash.engine.streams.watermark_clock import IdleClock
from sash.kernels.sorting import argsort

FEW = 1024  # keys that are not worth letting go of


class StreamState:
    """The keys of a stream, its cells and rows, where these lie, and what was set aside."""

    def __init__(
        self,
        scheme: Scheme,
        positions: Positions,
        emit: str,
        types: list[pa.DataType],
        arrival: bool,
        fill: Fill = False,
        starts: bool = False,
    ) -> None:
        self.scheme, self.positions, self.emit = scheme, positions, emit
        self.watermark: int | None = None
        self.clock = IdleClock(scheme.idle)
        self.closed = False
        self.late_count = 0
        self.late: list[pa.Table] = []
        self.keys = Keys(scheme.key_types)
        self._looked = FEW  # keys of which something was left when last looked
        self.cells = Cells([each.layout for each in scheme.partials])
        columns = columns_of(scheme.schema.empty_table(), scheme.needed)
        self.buffer = Buffer(with_further(scheme, columns.schema), arrival)
        spans = scheme.settings.spans
        self.lengths = Lengths() if spans is not None and spans.postpone == AUTO else None
        self.pairing = Pairing(scheme) if spans is not None and spans.pair is not None else None
        self.waiting: list[KeyedRows] = []
        self.changes, self.updates = Changes(types), Updates(types)
        self.filling = Filling(types, fill) if fill else None
        self.revisions: Revisions | None = None
        if scheme.settings.lateness is not None and emit == "final":
            compared = types + [pa.int64()] * len(types) if starts and scheme.merging else types
            self.revisions = Revisions(compared, bool(scheme.merging))

    @property
    def emitted(self) -> Changes | Updates | Filling | None:
        """The answers that were given, where later ones depend on them."""
        return self.changes if self.emit == "changes" else self.updates if self.emit == "updates" else self.filling

    @property
    def shut(self) -> int | None:
        """Up to where windows by time have ended that are of no use any more."""
        watermark = self.watermark
        if watermark is None or watermark == MOST or not self.scheme.lateness:
            return watermark
        return max(watermark - self.scheme.lateness, LEAST + 1)

    @property
    def size(self) -> int:
        """About how many bytes it has in memory."""
        waiting = sum(total_bytes(rows.table) + 16 * len(rows.codes) for rows in self.waiting)
        emitted = sum(each.size for each in self._given)
        return self.cells.size + self.buffer.size + waiting + self.keys.size + emitted

    def joined(self) -> KeyedRows:
        """All rows that wait."""
        if len(self.waiting) == 1:
            return self.waiting[0]
        if not self.waiting:
            empty = columns_of(self.scheme.schema.empty_table(), self.scheme.row_columns)
            return KeyedRows(empty, np.zeros(0, np.int64), np.zeros(0, np.int64))
        tables, codes, times, _ = zip(*self.waiting, strict=True)
        return KeyedRows(pa.concat_tables(tables), np.concatenate(codes), np.concatenate(times))

    def ready(self, watermark: int, arrival: bool) -> KeyedRows:
        """The rows before the watermark, which wait no more, by time; ``arrival`` keeps those of one time as they came.

        Otherwise these are told apart by their columns.
        """
        waiting = self.joined()
        assert waiting.time is not None
        ready = np.flatnonzero(waiting.time < watermark)
        rest = np.flatnonzero(waiting.time >= watermark)
        self.waiting = [waiting.take(rest)] if len(rest) else []
        rows = waiting.take(ready)
        words = [biased(waiting.time[ready])]
        return rows.take(argsort(words if arrival else [*words, *ties(rows.table)]))

    @property
    def by_time(self) -> TimePositions:
        """Where its rows lie, for windows by time."""
        assert isinstance(self.positions, TimePositions)
        return self.positions

    # Late rows, where windows stay after their answer

    def note_late(self, windows: Any, codes: np.ndarray, at: np.ndarray) -> None:
        """See what windows answer that rows or cells are late for, before these join the others."""
        if self.revisions is not None:
            self.revisions.note(windows, self.by_time, self.cells, self.buffer, codes, at)

    def revised(self, windows: Any, limits: Limits | None) -> Iterator[WindowAnswers]:
        """The answers that late rows changed."""
        if self.revisions is not None:
            yield from self.revisions.changed(windows, self.by_time, self.cells, self.buffer, limits)

    # As parts

    def parts(self) -> dict[str, Any]:
        """All that must be kept to go on later."""
        parts: dict[str, Any] = {
            "partials": [each.text for each in self.scheme.formats],
            "closed": self.closed,
            "late": pa.concat_tables([Late.schema(self.scheme.schema).empty_table(), *self.late]).combine_chunks(),
            **self.rest(keyed=True),
            **self.stores(),
        }
        if self.scheme.sorts:
            waiting = self.joined()
            parts |= {"waiting": waiting.table, "waiting codes": waiting.codes, "waiting time": waiting.time}
        if self.pairing is not None:
            parts["halves"] = self.pairing.waiting
        parts |= self.clock.parts()
        if self.lengths is not None:
            parts |= {"lengths": self.lengths.counts, "longer": self.lengths.longer}
        return parts

    def rest(self, keyed: bool) -> dict[str, Any]:
        """What is neither cells nor rows; ``keyed`` says whether the numbers of keys matter to it."""
        parts: dict[str, Any] = {"watermark": self.watermark, "late count": self.late_count}
        parts |= {f"axis {name}": part for name, part in self.positions.parts().items()}
        if keyed:
            keys = self.keys.all()
            parts["keys"] = pa.table(keys, [str(k) for k in range(len(keys))])
        for each in self._given:
            parts |= each.parts()
        return parts

    @property
    def _given(self) -> list[Changes | Updates | Filling | Revisions]:
        """What is known of answers that were given."""
        return [each for each in (self.emitted, self.revisions) if each is not None]

    @property
    def keyed(self) -> bool:
        """Whether what is neither cells nor rows depends on the numbers of keys."""
        return self.scheme.sorts or bool(self._given)

    def stores(self) -> dict[str, Any]:
        """Cells and rows that have a position."""
        return self.cells.parts() | self.buffer.parts()

    def restore(self, parts: dict[str, Any]) -> None:
        """Go on with all parts; it is new."""
        scheme = self.scheme
        refuse_others(part_of(parts, "partials"), scheme.formats)
        self.closed = typed_of(parts, "closed", bool)
        self.restore_rest(parts, keyed=True)
        self.restore_stores(parts)
        self.late = [table_of(parts, "late", Late.schema(scheme.schema))]
        if scheme.sorts:
            waiting = table_of(parts, "waiting", columns_of(scheme.schema.empty_table(), scheme.row_columns).schema)
            codes = numbers_of(parts, "waiting codes", waiting.num_rows, 0, len(self.keys) - 1)
            time = numbers_of(parts, "waiting time", waiting.num_rows, *scheme.reach)
            self.waiting = [KeyedRows(waiting, codes, time)]
        if self.pairing is not None:
            self.pairing.waiting = table_of(parts, "halves", scheme.schema)
        if self.lengths is not None:
            self.lengths.restore(parts)
        self.clock.restore(parts)

    def restore_rest(self, parts: dict[str, Any], keyed: bool) -> None:
        """Go on with all that is neither cells nor rows."""
        self.watermark, self.late_count = watermark_of(parts), whole_of(parts, "late count", 0)
        if keyed:
            self.keys = Keys.restored(self.scheme.key_types, parts)
        self.positions.restore({name[5:]: part for name, part in parts.items() if name.startswith("axis ")},
                               len(self.keys))  # fmt: skip
        for each in self._given:
            each.restore(parts, len(self.keys))

    def restore_stores(self, parts: dict[str, Any]) -> None:
        """Go on with cells and rows, once the rest is known."""
        cells, buffer, scheme = self.cells, self.buffer, self.scheme
        cells.restore(parts, len(self.keys))
        buffer.restore(parts, len(self.keys))
        if scheme.by_time:
            refuse_outside(cells.at, "cell at", *scheme.slice_reach)
            refuse_outside(buffer.at, "held at", *scheme.reach)
        self.positions.refuse_unknown(cells)
        self.positions.refuse_rows(buffer)
        if scheme.spans:
            refuse_odd_spans(scheme, buffer.table, buffer.at)

    # Of some keys

    def take_keys(self, other: StreamState, numbers: np.ndarray) -> None:
        """Have what another has of some keys; these are sorted by number, and numbered anew."""
        self.watermark, self.keys = other.watermark, Keys.of(self.scheme.key_types, other.keys.values(numbers))
        self.positions.restore(other.positions.of_keys(numbers), len(numbers))
        self.cells = other.cells.compact().of_numbers(numbers)
        self.buffer = other.buffer.compact().of_numbers(numbers)
        for rows in other.waiting:
            taken = rows.take(np.flatnonzero(np.isin(rows.codes, numbers)))
            self.waiting.append(taken._replace(codes=np.searchsorted(numbers, taken.codes)))
        self.changes, self.updates = other.changes.of_keys(numbers), other.updates.of_keys(numbers)
        self.filling = None if other.filling is None else other.filling.of_keys(numbers)
        self.revisions = None if other.revisions is None else other.revisions.of_keys(numbers)

    def forget_keys(self) -> None:
        """Number keys anew, without those of which nothing is left, where these are the most."""
        count = len(self.keys)
        if count <= 2 * self._looked:
            return
        self.cells.compact()
        self.buffer.compact()
        left = np.zeros(count, np.bool_)
        for store in (self.cells, self.buffer):
            left[store.key] = True
        used = np.flatnonzero(left)
        self._looked = max(len(used), FEW)
        if 2 * len(used) > count:
            return
        self.keys = Keys.of(self.scheme.key_types, self.keys.values(used))
        self.buffer.runs = None
        for store in (self.cells, self.buffer):
            store.key = np.searchsorted(used, store.key)
        self.updates = self.updates.of_keys(used)  # windows of others have ended
        self.revisions = None if self.revisions is None else self.revisions.of_keys(used)


def with_further(scheme: Scheme, columns: pa.Schema) -> pa.Schema:
    """The columns of rows, and those that Sash adds to them."""
    further = [name for name, some in ((FIRST, scheme.spans), (MISSED, scheme.merging)) if some]
    return pa.schema([*columns, *(pa.field(name, pa.int64()) for name in further)])


def columns_of(table: pa.Table, names: Sequence[str]) -> pa.Table:
    """These columns, or one of nothing, for the number of rows."""
    return table.select(list(names)) if names else pa.table({"": pa.nulls(table.num_rows)})
