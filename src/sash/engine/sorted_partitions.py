"""One way of partitioning and ordering a table: its rows sorted, and whatever its expressions share.

Sorts, columns in sorted order, frames, ranks by another order and the rows left by a filter are made when
first asked for, and kept: expressions that need the same take the same.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import pyarrow as pa

from sash.engine.encoding import combined, equality_key, order_key, tie_keys
from sash.engine.frame_bounds import FrameBounds, frame_bounds
from sash.engine.memo import Memo
from sash.engine.sorted_rows import Ranking, Remaining, Selection
from sash.engine.tables import one_array
from sash.expressions.columns import Expression, Order
from sash.expressions.evaluation import evaluate, predicate
from sash.kernels.coordinates import RowNumbers
from sash.kernels.sorting import argsort, groups, occurrences, rank_within
from sash.kernels.sorting.moving import gathered
from sash.kernels.sorting.radix import in_order
from sash.kernels.structures.ranked import Ranked
from sash.windows.bounds import positions

Columns = tuple[Any, ...]  # the keys of columns
Orders = tuple[Any, ...]  # the keys of orders


class SortedPartitions:
    """The rows of a table by partition and order; a position is a place in that."""

    def __init__(self, table: pa.Table, partition: tuple[Expression, ...], order: tuple[Order, ...]) -> None:
        self.table, self.order = table, order
        self.rows = table.num_rows
        self.dtype = np.dtype(positions(self.rows))
        self._of_peers: Memo[str, np.ndarray] = Memo()
        self._columns: Memo[Any, pa.Array] = Memo()
        self._sources: Memo[Any, pa.Array] = Memo()
        self._frames: Memo[Any, FrameBounds] = Memo()
        self._remaining: Memo[Remaining, Selection] = Memo()
        self._keys: Memo[Orders, list[np.ndarray]] = Memo()
        self._ranked: Memo[Orders, Ranked] = Memo()
        self._equals: Memo[tuple[bool, Orders], np.ndarray] = Memo()
        self._rankings: Memo[tuple[Orders, Remaining], Ranking] = Memo()
        self._identities: Memo[Columns, np.ndarray] = Memo()
        self._occurrences: Memo[tuple[Columns, Remaining], tuple[np.ndarray, np.ndarray]] = Memo()
        parts = self._partition_keys(partition)
        orders = [key for each in order for key in self._order_key(each)]
        self.permutation = self._sorted([*parts, *orders])
        self.segments = self._starts(parts)
        self.order_keys = [self.placed(key) for key in orders]

    def _partition_keys(self, partition: tuple[Expression, ...]) -> list[np.ndarray]:
        return [equality_key(evaluate(column, self.table)) for column in partition]

    def _sorted(self, keys: list[np.ndarray]) -> RowNumbers | None:
        """The number of the row at each position, as they came; None where the rows are in order already."""
        if not keys or self.rows < 2:
            return None
        whole = np.array([0, self.rows], np.int64)
        return None if in_order(keys, whole) else RowNumbers(argsort(keys))

    def _starts(self, keys: list[np.ndarray]) -> np.ndarray:
        """Where each partition starts, and then the number of rows."""
        if not keys:
            return np.array([0, self.rows] if self.rows else [0], np.int64)
        changes = self._changes([self.placed(key) for key in keys])
        return np.append(np.flatnonzero(changes), self.rows).astype(np.int64)

    def _changes(self, keys: list[np.ndarray]) -> np.ndarray:
        """Whether each position differs from the one before in some key; the first does."""
        changes = np.zeros(self.rows, np.bool_)
        changes[:1] = True
        for key in keys:
            changes[1:] |= key[1:] != key[:-1]
        return changes

    def _order_key(self, order: Order) -> list[np.ndarray]:
        return order_key(evaluate(order.column, self.table), order.descending, order.nulls_first)

    def _memos(self) -> list[Memo[Any, Any]]:
        return [each for each in vars(self).values() if isinstance(each, Memo)]

    def forget(self) -> None:
        """Let go of all that was made: it refers to the rows, which refer to it, and is large."""
        for memo in self._memos():
            memo.forget()

    def turn(self) -> None:
        """Begin another expression, for what is shared."""
        for memo in self._memos():
            memo.turn()

    def shared(self) -> tuple[str, ...]:
        """What an expression takes that was made for those before it, in words."""
        again = {
            "the frames": bool(self._frames.again()),
            "the ranks by its order": bool(self._ranked.again()),
            "the rows its filter leaves": any(each.condition for each in self._remaining.again()),
        }
        return tuple(words for words, taken in again.items() if taken)

    def placed(self, values: np.ndarray) -> np.ndarray:
        """Values of the rows as they came, by position."""
        return values if self.permutation is None else gathered(values, self.permutation)

    @property
    def askers(self) -> np.ndarray | None:
        """Which row each frame answers, by its number as the rows came; None where they came in this order."""
        return self.permutation

    def of_asker(self, expression: Expression) -> pa.Array:
        """A column of the rows that ask, as these came."""
        return self.source(expression)

    def by_partition(self) -> tuple[np.ndarray, np.ndarray | slice]:
        """How many rows ask for frames of each partition, and which of the frames these are, partition by partition."""
        return np.diff(self.segments), slice(None)

    def break_ties(self, columns: Iterable[Expression]) -> None:
        """Put peers in the order of some columns, so that what is asked does not depend on how the rows came.

        To be called before anything is asked for by position. Peers that are equal in these columns, too, are
        interchangeable.
        """
        first = self._heads()
        if first.all():
            return
        tied = ~first
        tied[:-1] |= tied[1:]  # a row whose next row is its peer
        where = np.flatnonzero(tied)
        came = where.astype(self.dtype) if self.permutation is None else self.permutation[where]
        groups = np.append(np.flatnonzero(first[where]), len(where))
        rows = None if self.permutation is None and len(where) == self.rows else pa.array(came)
        sources = [self.source(column) for column in columns]
        keys = [key for each in sources for key in tie_keys(each if rows is None else each.take(rows))]
        if in_order(keys, groups):
            return
        if self.permutation is None:
            self.permutation = RowNumbers(np.arange(self.rows, dtype=self.dtype))
        self.permutation[where] = came[rank_within(keys, groups).order]

    def _heads(self) -> np.ndarray:
        """Whether each position is the first of its peers."""

        def find() -> np.ndarray:
            changes = self._changes(self.order_keys)
            changes[self.segments[:-1]] = True
            return changes

        return self._of_peers.once("heads", find)

    def peers(self) -> np.ndarray:
        """The position at which each row's peers start: rows equal in all order keys."""

        def find() -> np.ndarray:
            starts = np.flatnonzero(self._heads()).astype(self.dtype)
            return np.repeat(starts, np.diff(np.append(starts, self.rows)))

        return self._of_peers.once("starts", find)

    def column(self, expression: Expression) -> pa.Array:
        """A column of any type, by position."""

        def find() -> pa.Array:
            array = self.source(expression)
            return array if self.permutation is None else array.take(pa.array(self.permutation))

        return self._columns.once(expression.key, find)

    def source(self, expression: Expression) -> pa.Array:
        """A column of any type, as its rows came."""

        def find() -> pa.Array:
            return one_array(evaluate(expression, self.table))

        return self._sources.once(expression.key, find)

    def framed(self, frame: Any) -> FrameBounds:
        """The frames of all rows."""
        return self._frames.once(frame.key, lambda: self._framed(frame))

    def _framed(self, frame: Any) -> FrameBounds:
        start, end = (None if bound.column is None else self.column(bound.column) for bound in (frame.start, frame.end))
        by_key = frame.kind == "range" and len(self.order) == 1
        first = self.order[0] if by_key else None
        alone = frame.kind == "rows" and frame.exclude in ("no others", "current row")
        return frame_bounds(
            frame,
            segments=self.segments,
            peers=None if alone else self.peers(),
            key=self.column(first.column) if first else None,
            descending=first.descending if first else False,
            nulls_first=first.nulls_first if first else True,
            offsets=(start, end),
        )

    def remaining(self, condition: Expression | None, known: tuple[Expression, ...]) -> Selection:
        """The rows that a filter lets through and that have no NULL in some columns."""
        names = tuple(sorted(column.key for column in known))
        key = Remaining(None if condition is None else condition.key, names)
        return self._remaining.once(key, lambda: Selection(self, self._mask(condition, known), key))

    def _mask(self, condition: Expression | None, known: tuple[Expression, ...]) -> np.ndarray | None:
        mask = None if condition is None else predicate(condition, self.table)
        for column in known:
            array = self.source(column)
            if array.null_count:
                valid = array.is_valid().to_numpy(zero_copy_only=False)
                mask = valid if mask is None else mask & valid
        if mask is None or mask.all():
            return None
        return self.placed(mask)

    def keys(self, orders: tuple[Order, ...]) -> list[np.ndarray]:
        """The keys of an order, by position; without one all rows are equal."""
        if not orders:
            return [np.zeros(self.rows, np.uint64)]
        name = tuple(order.key for order in orders)
        if name == tuple(order.key for order in self.order):
            return self.order_keys
        return self._keys.once(name, lambda: [self.placed(key) for order in orders for key in self._order_key(order)])

    def ranking(self, orders: tuple[Order, ...], selection: Selection) -> Ranking:
        """All rows ranked by an order of a function's own, and where each would be among those of a selection."""
        names = tuple(order.key for order in orders)
        keys = self.keys(orders)
        ranked = self._ranked.once(names, lambda: rank_within(keys, self.segments))

        def equals(stops: bool) -> np.ndarray:
            return self._equals.once((stops, names), lambda: groups(keys, ranked, stops)[stops])

        return self._rankings.once((names, selection.key), lambda: Ranking(ranked, equals, selection))

    def identity(self, columns: tuple[Expression, ...]) -> np.ndarray:
        """One key for each position that is the same where some columns are."""
        name = tuple(column.key for column in columns)
        return self._identities.once(
            name, lambda: self.placed(combined([equality_key(evaluate(each, self.table)) for each in columns]))
        )

    def occurrences(self, columns: tuple[Expression, ...], selection: Selection) -> tuple[np.ndarray, np.ndarray]:
        """For each index, the one at which its value occurs before it in the partition, and after it."""
        name = tuple(column.key for column in columns), selection.key

        def find() -> tuple[np.ndarray, np.ndarray]:
            return occurrences(selection.only(self.identity(columns)), selection.segments)

        return self._occurrences.once(name, find)
