"""Window expressions on the rows of some keys, of which all is kept in logs and a core, as shards keep boards."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from sash.engine.row_streams.row_log import ContextLog, RowLog, WaitingLog, entry_of
from sash.engine.row_streams.row_operator import RowOperator
from sash.engine.row_streams.row_scheme import EARLY, RowScheme
from sash.engine.streams.assigners.base import LEAST
from sash.engine.streams.body import ROWS, Body
from sash.engine.streams.keyed_rows import KeyedRows
from sash.engine.streams.keys import Keys
from sash.engine.streams.limits import Limits
from sash.engine.streams.packing import table_of
from sash.engine.streams.restoring import typed_of
from sash.engine.streams.sharding import Share
from sash.engine.value_words import hashes_of
from sash.errors import SashError

WAITING, CONTEXT = "waiting", "context"


class LoggedRows(RowOperator):
    """An operator that says what its logs must hold, and can be made of them again."""

    def __init__(self, scheme: RowScheme) -> None:
        self._left: list[pa.Table] = []
        super().__init__(scheme)

    # What comes in, and goes out

    def take_body(self, body: Body) -> tuple[Mapping[str, pa.Table], int]:
        """Take what came; gives the entries of its logs, and the time of the latest row."""
        if body.content != ROWS:
            return {}, LEAST
        rows = self.absorb(table_of(body.table))
        if not len(rows.codes):
            return {}, LEAST
        assert rows.time is not None
        waits = {} if self.scheme.emit == EARLY else {WAITING: entry_of(rows.table)}
        return waits, int(rows.time.max())

    def finish(self) -> tuple[Mapping[str, pa.Table], int]:
        """Nothing waits for the end of a batch."""
        return {}, LEAST

    def passing(self, watermark: int | None, limits: Limits) -> Iterator[pa.Table]:
        """The rows that leave by now, with their answers."""
        del limits  # they are cut on their way
        yield self.passed(watermark)

    def since(self, queries: dict[str, int]) -> None:
        """All columns are asked for from the beginning."""
        if queries:
            raise SashError(f"columns of rows cannot be asked for later, got {', '.join(queries)}")

    # What the logs hold

    def logged(self) -> Mapping[str, RowLog]:
        """Rows that wait, and rows that others reach."""
        needed = self.scheme.schema.empty_table().select(list(self.scheme.needed)).schema
        return {WAITING: WaitingLog(self, self.scheme.schema), CONTEXT: ContextLog(self, needed)}

    def left(self) -> Mapping[str, list[pa.Table]]:
        """The rows that have left since this was last asked."""
        entries, self._left = self._left, []
        return {CONTEXT: [entry_of(rows) for rows in entries]}

    def remember(self, rows: KeyedRows) -> None:
        """Have rows that have left at hand for others."""
        super().remember(rows)
        self._left.append(rows.table)

    # What they do not hold

    def core(self) -> dict[str, Any]:
        """The rest of the state."""
        return {**self.rest(), "rows": True}

    def recover(self, parts: dict[str, Any]) -> None:
        """Begin with a core; the logs are to be replayed."""
        self.clear()
        typed_of(parts, "rows", bool)
        self.restore_rest(parts)

    # What is kept of some keys alone

    def key_values(self) -> list[pa.Array]:
        """The values of all keys that it knows."""
        known = [self._keys.all(), *(self._keys_of(past.partitions()) for past in self.pasts if past.stays)]
        columns = [pa.concat_arrays(arrays) for arrays in zip(*known, strict=True)]
        return Keys.of(self._keys.dtypes, columns).all() if columns else []

    def of_share(self, share: Share, shards: int) -> LoggedRows:
        """Another that has what this one has of a share of the keys; these are numbered anew."""

        def holds(values: Sequence[pa.Array]) -> np.ndarray:
            return share.holds(hashes_of(values, len(values[0])) // np.uint64(shards))

        part = LoggedRows(self.scheme)
        part.watermark = self.watermark
        some = holds(self._keys.all())
        numbers = np.cumsum(some) - 1
        part._keys = Keys.of(self._keys.dtypes, self._keys.values(np.flatnonzero(some)))
        for mine, theirs in ((part.waiting, self.waiting), (part.context, self.context)):
            for rows in theirs:
                which = np.flatnonzero(some[rows.codes])
                if len(which):
                    here = rows.take(which)
                    mine.append(here._replace(codes=numbers[here.codes]))
        part.pasts = [
            past.of_keys(some, numbers, holds(self._keys_of(past.partitions())) if past.stays else None)
            for past in self.pasts
        ]
        return part

    def _keys_of(self, partitions: Mapping[Any, pa.Array]) -> list[pa.Array]:
        """The keys of partitions, of which they have further columns."""
        return [partitions[each.key] for each in self.scheme.key]

    def take_late(self, other: LoggedRows) -> None:
        """Go on with the rows that another set aside."""
        self.late_count, self._late = other.late_count, other._late

    # What an observer sees

    def open_windows(self) -> int:
        """How many rows wait."""
        return sum(len(rows.codes) for rows in self.waiting)

    def open_keys(self) -> int:
        """How many keys have a row that waits."""
        return len(np.unique(np.concatenate([np.zeros(0, np.int64), *(rows.codes for rows in self.waiting)])))
