"""What is known of rows that no frame reaches by time any more: partials, counts, the last rows, and a few that matter.

Rows go into it once and for all, oldest first. The last rows of a partition stay as rows, as many as frames reach
by number. Of what is before them each partition has a partial for each expression that begins with the first row,
or how many rows there were, or the few of them that alone can matter.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from sash.engine.answering.asking import Question
from sash.engine.answering.folds import counted
from sash.engine.answering.ranks import rank_counts
from sash.engine.elsewhere import Elsewhere
from sash.engine.row_streams.row_scheme import RowScheme, WindowColumns
from sash.engine.sorted_partitions import SortedPartitions
from sash.engine.streams.formats import PartialFormat, format_of
from sash.engine.streams.keys import Keys
from sash.engine.streams.restoring import array_of, flags_of, numbers_of, refused, table_of
from sash.engine.summaries.few_rows import edges, few_rows
from sash.engine.tables import one_array
from sash.engine.ties import break_ties
from sash.expressions.evaluation import infer
from sash.kernels.answers import Answered
from sash.kernels.inputs import Inputs
from sash.kernels.operations.merging import join_runs, merged, state_of, unlowered
from sash.kernels.sealing import making
from sash.kernels.structures.segment_tree import ALGORITHM as SEGMENT_TREE
from sash.windows.bounds import Bounds
from sash.windows.frame import Frame
from sash.windows.over import Over

NONE = np.zeros(0, np.int64)


class KeyedTable:
    """Rows with the number of each one's key."""

    def __init__(self, table: pa.Table, codes: np.ndarray) -> None:
        self.table, self.codes = table, codes

    def where(self, mask: np.ndarray) -> KeyedTable:
        """Those of a mask."""
        return self if mask.all() else KeyedTable(self.table.filter(pa.array(mask)), self.codes[mask])


def joined(parts: list[KeyedTable]) -> KeyedTable:
    """Rows one behind the other."""
    if len(parts) == 1:
        return parts[0]
    return KeyedTable(pa.concat_tables([part.table for part in parts]), np.concatenate([part.codes for part in parts]))


class PastPartials:
    """The partials of one expression, by the number of the partition."""

    def __init__(self, scheme: RowScheme, over: Over) -> None:
        rows = SortedPartitions(scheme.schema.empty_table(), over.window.partition, over.window.order)
        _, given = counted(Question(rows, over))
        self.inputs = Inputs(given.aggregate, tuple(column.dtype for column in given.columns))
        self.dtype = state_of(self.inputs)
        meant = getattr(over.call.aggregate, "origin", None) or making(given.aggregate)
        self.format: PartialFormat = format_of(given.aggregate.format, (meant, str(over)), self.dtype, str(over.call))
        self.states, self.some = np.zeros(0, self.dtype), np.zeros(0, np.bool_)

    def grow(self, keys: int) -> None:
        """Have room for so many partitions."""
        if more := keys - len(self.some):
            self.states = np.concatenate([self.states, np.zeros(more, self.dtype)])
            self.some = np.append(self.some, np.zeros(more, np.bool_))

    def fold(self, question: Question, starts: np.ndarray, stops: np.ndarray, numbers: np.ndarray) -> None:
        """Join the rows between positions to what these partitions have."""
        selection, given = counted(question)
        bounds = Bounds(*edges(selection, starts, stops), selection.length)
        states, some = SEGMENT_TREE.run(unlowered(given.aggregate), given.columns, selection.length, bounds)
        new = np.flatnonzero(some)
        numbers = numbers[new]
        before = self.some[numbers]
        stops = np.cumsum(1 + before)
        which = np.empty(int(stops[-1]) if len(stops) else 0, np.int64)
        which[stops - 1] = len(self.states) + new
        which[stops[before] - 2] = numbers[before]  # the older is the left one
        runs = np.append(0, stops).astype(np.int64)
        self.states[numbers] = join_runs(self.inputs, np.concatenate([self.states, states]), which, runs)
        self.some[numbers] = True


@dataclass(frozen=True)
class Before(Elsewhere):
    """What lies before the rows of each partition, for one expression; nothing lies after them."""

    states: np.ndarray
    places: np.ndarray  # of each segment's partial or counts, -1 for none

    @staticmethod
    def of(states: np.ndarray, places: np.ndarray, wanted: np.ndarray) -> Before:
        """Before each segment what is at a place."""
        return Before(pa.array([], pa.binary()), ([], []), NONE, NONE, wanted, states, places)

    def counts(self) -> tuple[np.ndarray, np.ndarray]:
        """How many rows, and groups of peers, are before each segment and after it: a pair for each."""
        return self.states[self.places], np.zeros((len(self.places), 2), np.int64)

    def merged(self, inputs: Inputs, local: Answered, frame: Frame, segments: np.ndarray) -> Answered:
        """The answers to frames whose rows here have been folded to partials."""
        nowhere = np.full(len(self.places), -1)
        places = self.places if frame.start.is_unbounded else nowhere
        return merged(inputs, local, self.wanted, self.states, segments, places, nowhere)


class Past:
    """The past of the expressions over one partition and order."""

    def __init__(self, scheme: RowScheme, window_columns: WindowColumns) -> None:
        self.scheme, self.window_columns = scheme, window_columns
        self.keys = Keys([infer(each, scheme.schema) for each in window_columns.window.partition])
        self.partials = {name: PastPartials(scheme, window_columns.columns[name]) for name in window_columns.partials}
        self.counts = {name: np.zeros((0, 2), np.int64) for name in window_columns.counts}
        nothing = scheme.schema.empty_table().select(list(scheme.needed))
        self.few, self.last = KeyedTable(nothing, NONE), KeyedTable(nothing, NONE)

    @property
    def formats(self) -> list[PartialFormat]:
        """What its partials are known by."""
        return [each.format for each in self.partials.values()]

    @property
    def size(self) -> int:
        """About how many bytes it has in memory."""
        states = sum(each.states.nbytes + each.some.nbytes for each in self.partials.values())
        rows = sum(each.table.nbytes + each.codes.nbytes for each in (self.few, self.last))
        return int(states + rows + self.keys.size + sum(each.nbytes for each in self.counts.values()))

    @property
    def stays(self) -> bool:
        """Whether something is known of every partition that there ever was."""
        return self.window_columns.has_past

    def _numbers(self, rows: SortedPartitions) -> np.ndarray:
        """The number of each segment's partition."""
        heads = pa.array(rows.segments[:-1])
        values = [one_array(rows.column(each).take(heads)) for each in self.window_columns.window.partition]
        numbers = self.keys.numbers(values)
        numbers = np.zeros(len(heads), np.int64) if numbers is None else numbers
        for each in self.partials.values():
            each.grow(len(self.keys))
        for name, counts in self.counts.items():
            self.counts[name] = np.concatenate([counts, np.zeros((len(self.keys) - len(counts), 2), np.int64)])
        return numbers

    def elsewhere(self, rows: SortedPartitions, wanted: np.ndarray) -> Mapping[str, Elsewhere]:
        """What expressions are told of the rows before those that are there."""
        if not self.partials and not self.counts:
            return {}
        numbers = self._numbers(rows)
        partials = {name: Before.of(each.states, np.where(each.some[numbers], numbers, -1), wanted)
                 for name, each in self.partials.items()}  # fmt: skip
        return partials | {name: Before.of(each, numbers, wanted) for name, each in self.counts.items()}

    def take(self, left: KeyedTable, touched: np.ndarray) -> None:
        """Take rows that frames do not reach by time any more; ``touched`` says which keys they are of."""
        if not self.stays or not len(left.codes):
            return
        (few, few_stay), (last, last_stay) = (_parted(each, touched) for each in (self.few, self.last))
        came = joined([few, last, left])
        window = self.window_columns.window
        rows = SortedPartitions(came.table, window.partition, window.order)
        break_ties(rows, self.window_columns.columns)
        starts, stops = rows.segments[:-1], self._boundaries(rows)
        is_few = rows.placed(np.arange(rows.rows) < len(few.codes))
        firsts = starts + np.add.reduceat(is_few, starts) if rows.rows else starts  # few rows are the oldest
        stops = np.maximum(stops, firsts)
        self._fold(rows, firsts, stops)
        overs = [self.window_columns.columns[name] for name in self.window_columns.few]
        matter = [few_rows(Question(rows, over), starts, stops) for over in overs]
        positions = np.unique(np.concatenate([NONE, *matter]))
        suffix = np.flatnonzero(np.arange(rows.rows) >= np.repeat(stops, np.diff(rows.segments)))
        self.few = joined([few_stay, _at(came, rows, positions)])
        self.last = joined([last_stay, _at(came, rows, suffix)])
        rows.forget()

    def _boundaries(self, rows: SortedPartitions) -> np.ndarray:
        """Where the last rows of each segment begin that frames reach by number; peers stay together."""
        before = self.window_columns.reach.before
        starts, stops = rows.segments[:-1], rows.segments[1:]
        peers = rows.peers()
        boundaries = stops.astype(np.int64)
        if before.rows:
            first = np.maximum(stops - before.rows, starts)
            boundaries = np.minimum(boundaries, np.where(first < stops, peers[np.minimum(first, rows.rows - 1)], stops))
        if before.groups:
            heads = np.unique(peers)
            of = np.searchsorted(heads, stops) - before.groups
            boundaries = np.minimum(boundaries, np.maximum(heads[np.maximum(of, 0)], starts))
        return boundaries

    def _fold(self, rows: SortedPartitions, starts: np.ndarray, stops: np.ndarray) -> None:
        if not self.partials and not self.counts:
            return
        numbers = self._numbers(rows)
        for name, partials in self.partials.items():
            partials.fold(Question(rows, self.window_columns.columns[name]), starts, stops, numbers)
        for name, counts in self.counts.items():
            counts[numbers] += rank_counts(Question(rows, self.window_columns.columns[name]), starts, stops)

    # What is kept

    def parts(self, name: str) -> Iterator[tuple[str, Any]]:
        """The state, under names that begin with one."""
        if not self.stays:
            return
        yield f"{name} few", self.few.table
        yield f"{name} last", self.last.table
        keys = self.keys.all()
        yield f"{name} keys", pa.table(keys, [str(k) for k in range(len(keys))])
        for k, each in enumerate(self.partials.values()):
            yield f"{name} partials {k}", each.states
            yield f"{name} some {k}", each.some.view(np.uint8)
        for k, counts in enumerate(self.counts.values()):
            yield f"{name} counts {k}", counts.reshape(-1)

    def restore(self, parts: Mapping[str, Any], name: str, codes: Any) -> None:
        """Go on with what was kept; ``codes`` gives the numbers of the keys of rows."""
        if not self.stays:
            return
        schema = self.few.table.schema
        few, last = (table_of(parts, f"{name} {which}", schema) for which in ("few", "last"))
        self.few, self.last = KeyedTable(few, codes(few)), KeyedTable(last, codes(last))
        self.keys = Keys.restored(self.keys.dtypes, {"keys": parts.get(f"{name} keys")})
        for k, each in enumerate(self.partials.values()):
            each.some = flags_of(parts, f"{name} some {k}", None).astype(np.bool_)
            each.states = array_of(parts, f"{name} partials {k}", each.dtype, len(each.some))
            if len(each.some) > len(self.keys):
                raise refused(f"{name} partials {k}", f"partials of {len(self.keys)} keys", len(each.some))
        for k, each_name in enumerate(self.counts):
            counts = numbers_of(parts, f"{name} counts {k}", None, 0)
            if len(counts) % 2 or len(counts) > 2 * len(self.keys):
                raise refused(f"{name} counts {k}", f"two for each of {len(self.keys)} keys", len(counts))
            self.counts[each_name] = counts.reshape(-1, 2)

    def partitions(self) -> Mapping[Any, pa.Array]:
        """The values of all partitions of which something is known, by the key of each column."""
        columns = self.window_columns.window.partition
        return {each.key: values for each, values in zip(columns, self.keys.all(), strict=True)}

    def of_keys(self, some: np.ndarray, numbers: np.ndarray, partitions: np.ndarray | None) -> Past:
        """The past of some keys, which have other numbers there, and of their partitions."""
        part = Past(self.scheme, self.window_columns)
        for which in ("few", "last"):
            rows = getattr(self, which)
            rows = rows.where(some[rows.codes])
            setattr(part, which, KeyedTable(rows.table, numbers[rows.codes]))
        if partitions is None or not len(self.keys):
            return part
        here = np.flatnonzero(partitions)
        part.keys = Keys.of(self.keys.dtypes, self.keys.values(here))
        for name, each in self.partials.items():
            each.grow(len(self.keys))
            part.partials[name].states, part.partials[name].some = each.states[here], each.some[here]
        for name, counts in self.counts.items():
            more = np.zeros((len(self.keys) - len(counts), 2), np.int64)
            part.counts[name] = np.concatenate([counts, more])[here]
        return part


def _parted(rows: KeyedTable, touched: np.ndarray) -> tuple[KeyedTable, KeyedTable]:
    """The rows of keys that are touched, and the others."""
    here = touched[rows.codes]
    return rows.where(here), rows.where(~here)


def _at(rows: KeyedTable, positions_of: SortedPartitions, positions: np.ndarray) -> KeyedTable:
    """The rows at some positions."""
    numbers = positions if positions_of.permutation is None else positions_of.permutation[positions]
    return KeyedTable(rows.table.take(pa.array(numbers)), rows.codes[numbers])
