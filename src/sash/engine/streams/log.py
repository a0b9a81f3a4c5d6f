"""The log of a bucket: what batches brought, as runs of bytes; old runs lapse, and small ones are merged.

As many runs as ``fan`` of one level become one of the next, so that there are few of them however many batches came,
and each row is written a few times. What is merged is cut at ``body`` bytes: the parts that are full stay as they are
for good, and only the rest goes on to the next level, so that every merge leaves fewer runs to merge than it took.
Where most of the log is of cells that others joined, all is written anew.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple, Protocol

import pyarrow as pa

from sash.engine.sizes import together, total_bytes
from sash.engine.streams.limits import Limits
from sash.engine.streams.logged import holds_cells
from sash.engine.streams.packing import sound_table, table_bytes, table_of
from sash.engine.streams.restoring import is_whole, refused
from sash.engine.streams.store import ChunkWriter, digest_of, unchanged

FULL = 1 << 20  # the level of runs that are merged no more


class Run(NamedTuple):
    """An entry of the log as it was written."""

    number: int  # of its chunk
    rows: int
    size: int  # in bytes
    lapses: int  # the position that must be reached before it may go
    cells: bool  # or rows
    level: int
    digest: str


def runs_of(described: Any, following: int) -> list[Run]:
    """The runs that a head describes; chunks are numbered up to those that follow."""
    types = (int, int, int, int, bool, int, str)
    runs = [Run(*run) for run in described if _is_list(run, types)] if isinstance(described, list) else None
    if runs is None or len(runs) != len(described) or not all(
        0 <= run.number < following and run.rows >= 0 and run.size >= 0 and 0 <= run.level <= FULL
        and is_whole(run.lapses) for run in runs
    ):  # fmt: skip
        raise refused("the runs of the log", "their numbers, sizes and digests", "another thing")
    return runs


def _is_list(thing: Any, types: tuple[type, ...]) -> bool:
    return isinstance(thing, list) and [type(each) for each in thing] == list(types)


class Logged(Protocol):
    """What a log holds, and can be made of it again."""

    joins_behind: bool  # whether all is to be written anew

    @property
    def by_cells(self) -> bool:
        """Whether entries are of cells, or of rows."""

    @property
    def reached(self) -> int:
        """The position up to which entries have lapsed."""

    def replay(self, entry: pa.Table) -> None:
        """Take an entry again."""

    def replayed(self) -> None:
        """All entries have been taken again."""

    def lapses(self, entry: pa.Table) -> int:
        """The position that must be reached before an entry may go."""

    def live(self) -> int:
        """How many cells or rows the log must hold."""

    def everything(self, size: int) -> Iterator[pa.Table]:
        """Entries in the place of all, of about so many bytes each."""

    def condensed(self, entries: list[pa.Table]) -> pa.Table:
        """One entry in the place of some, without what has lapsed."""


class BucketLog:
    """The runs of a bucket."""

    def __init__(self, operator: Logged, limits: Limits) -> None:
        self.operator, self.limits = operator, limits
        self.runs: list[Run] = []
        self._new: list[pa.Table] = []  # entries that are not written yet
        self._new_size = 0

    @property
    def size(self) -> int:
        """How many bytes are kept."""
        return sum(run.size for run in self.runs)

    @property
    def waiting(self) -> int:
        """How many bytes are not written yet."""
        return self._new_size

    def restore(self, runs: list[Run], writer: ChunkWriter) -> None:
        """Have the operator take all runs again."""
        self.runs = runs
        for run in runs:
            body = unchanged(writer.read(run.number), run.digest, "the log")
            entry = sound_table(body)
            if (run.rows, run.size, run.cells) != (entry.num_rows, len(body), holds_cells(entry)):
                raise refused(
                    "a run of the log", f"{run.rows} rows in {run.size} bytes", f"{entry.num_rows}, {len(body)}"
                )
            self.operator.replay(entry)
        self.operator.replayed()
        if self.operator.by_cells and not all(run.cells for run in runs):  # the query that needed rows is gone
            self._remove(runs, writer)
            self._write(self.operator.everything(self.limits.body), 0, writer, 0)

    def take(self, entry: pa.Table, writer: ChunkWriter) -> None:
        """Take in what a batch brought; what is much is written at once."""
        if not entry.num_rows:
            return
        self._new.append(entry)
        self._new_size += total_bytes(entry)
        if self._new_size >= self.limits.body:
            self._write(self._entries(), 0, writer, len(self.runs))

    def compact(self, writer: ChunkWriter) -> None:
        """Let go of what has lapsed, and write what came; runs that are small and many are merged."""
        operator, stay = self.operator, []
        for run in self.runs:
            if run.lapses > operator.reached:
                stay.append(run)
            else:
                writer.remove(run.number)
        self.runs = stay
        new = [entry for entry in self._entries() if operator.lapses(entry) > operator.reached]
        rows = sum(run.rows for run in self._mine()) + sum(entry.num_rows for entry in new)
        if operator.joins_behind or rows > 2 * operator.live() + self.limits.few:
            operator.joins_behind = False
            self.rewrite(writer)
            return
        self._write(new, 0, writer, len(self.runs))
        while group := self._due():
            tables = [self._read(run, writer) for run in group]
            place = self.runs.index(group[0])
            self._remove(group, writer)
            self._write([operator.condensed(tables)], group[0].level + 1, writer, place)

    def older(self, writer: ChunkWriter) -> list[pa.Table]:
        """Entries that are otherwise than the queries need them now: they are kept until they lapse."""
        mine = self._mine()
        return [self._read(run, writer) for run in self.runs if run not in mine]

    def add_older(self, entries: list[pa.Table], writer: ChunkWriter) -> None:
        """Keep such entries of another log."""
        self._write(entries, FULL, writer, 0)

    def rewrite(self, writer: ChunkWriter) -> None:
        """Write all that the operator has, in the place of all that was written."""
        self._entries()
        self._remove(self._mine(), writer)
        self._write(self.operator.everything(self.limits.body), 0, writer, len(self.runs))

    def clear(self, writer: ChunkWriter) -> None:
        """Drop all runs."""
        self._entries()
        self._remove(list(self.runs), writer)

    def _entries(self) -> list[pa.Table]:
        new, self._new, self._new_size = self._new, [], 0
        return new

    def _due(self) -> list[Run]:
        """Runs of one level that are to become one of the next, if any level has enough."""
        levels: dict[int, list[Run]] = {}
        for run in self._mine():
            if run.level < FULL:
                levels.setdefault(run.level, []).append(run)
        return next((group for _, group in sorted(levels.items()) if len(group) >= self.limits.fan), [])

    def _mine(self) -> list[Run]:
        """The runs that are as the queries need them: others, of before a query was added, lapse by themselves."""
        return [run for run in self.runs if run.cells == self.operator.by_cells]

    def _read(self, run: Run, writer: ChunkWriter) -> pa.Table:
        return table_of(unchanged(writer.read(run.number), run.digest, "the log"))

    def _remove(self, old: list[Run], writer: ChunkWriter) -> None:
        gone = {run.number for run in old}
        for number in gone:
            writer.remove(number)
        self.runs = [run for run in self.runs if run.number not in gone]

    def _write(self, entries: Iterable[pa.Table], level: int, writer: ChunkWriter, place: int) -> None:
        """Write entries as runs, full ones and a rest, at a place among the others."""
        runs: list[Run] = []
        for part in together(entries, self.limits.body):
            body = table_bytes(part)
            lapses, cells = self.operator.lapses(part), holds_cells(part)
            runs.append(Run(writer.add(body), part.num_rows, len(body), lapses, cells, FULL, digest_of(body)))
        if runs:
            runs[-1] = runs[-1]._replace(level=min(level, FULL))
        self.runs = [*self.runs[:place], *runs, *self.runs[place:]]
