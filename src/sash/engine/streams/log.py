"""The log of a shard: what batches brought, as runs of bytes; old runs lapse, and small ones are merged.

As many runs as ``FAN`` of one level become one of the next, so that there are few of them however many batches came,
and each row is written a few times. Where most of the log is of cells that others joined, all is written anew.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from typing import NamedTuple

import pyarrow as pa

from sash.engine.streams.logged import Logged
from sash.engine.streams.packing import table_bytes, table_of
from sash.errors import SashError

FAN = 8
FEW = 1 << 12  # cells or rows that are not worth writing anew
LARGE = 1 << 25  # bytes of a run, about, that is written as a whole and not merged


class Writing:
    """The chunks that a batch writes and drops, and the number of the next."""

    def __init__(self, following: int) -> None:
        self.put: dict[int, bytes] = {}
        self.drop: list[int] = []
        self.next = following

    def add(self, body: bytes) -> int:
        """Write a chunk; gives its number."""
        self.put[self.next] = body
        self.next += 1
        return self.next - 1

    def remove(self, number: int) -> None:
        """Drop a chunk; one that is not written yet never will be."""
        if self.put.pop(number, None) is None:
            self.drop.append(number)


class Run(NamedTuple):
    """An entry of the log as it was written."""

    number: int  # of its chunk
    rows: int
    size: int  # in bytes
    lapses: int  # the position that must be reached before it may go
    cells: bool  # or rows
    level: int
    digest: str


class Log:
    """The runs of a shard."""

    def __init__(self, operator: Logged) -> None:
        self.operator = operator
        self.runs: list[Run] = []

    @property
    def size(self) -> int:
        """How many bytes are kept."""
        return sum(run.size for run in self.runs)

    def restore(self, runs: list[Run], read: Callable[[int], bytes]) -> None:
        """Have the operator take all runs again."""
        self.runs = runs
        for run in runs:
            self.operator.replay(table_of(unchanged(read(run.number), run.digest, "the log")))

    def add(self, entries: list[pa.Table], writing: Writing, read: Callable[[int], bytes]) -> None:
        """Take in what a batch brought, and let go of what has lapsed."""
        operator = self.operator
        kept = []
        for run in self.runs:
            if run.lapses > operator.reached:
                kept.append(run)
            else:
                writing.remove(run.number)
        self.runs = kept
        new = [entry for entry in entries if operator.lapses(entry) > operator.reached]
        rows = sum(run.rows for run in self._mine()) + sum(entry.num_rows for entry in new)
        if rows > 2 * operator.live() + FEW:
            self._replace(self._mine(), operator.everything(), 0, writing)
            return
        if new:
            self._replace([], pa.concat_tables(new, promote_options="default"), 0, writing)
        level = 0
        while level <= max((run.level for run in self.runs), default=-1):
            group = [run for run in self._mine() if run.level == level and run.size < LARGE]
            if len(group) >= FAN:
                bodies = [writing.put.get(run.number) or read(run.number) for run in group]
                tables = [
                    table_of(unchanged(body, run.digest, "the log")) for body, run in zip(bodies, group, strict=True)
                ]
                self._replace(group, operator.condensed(tables), level + 1, writing)
            level += 1

    def _mine(self) -> list[Run]:
        """The runs that are as the queries need them: others, of before a query was added, lapse by themselves."""
        return [run for run in self.runs if run.cells == self.operator.by_cells]

    def _replace(self, old: list[Run], entry: pa.Table, level: int, writing: Writing) -> None:
        gone = {run.number for run in old}
        for number in gone:
            writing.remove(number)
        made = []
        for part in cut(entry, LARGE):
            body = table_bytes(part)
            lapses, cells = self.operator.lapses(part), self.operator.by_cells
            made.append(Run(writing.add(body), part.num_rows, len(body), lapses, cells, level, digest_of(body)))
        place = next((k for k, run in enumerate(self.runs) if run.number in gone), len(self.runs))
        stay = [run for run in self.runs if run.number not in gone]
        self.runs = [*stay[:place], *made, *stay[place:]]


def cut(table: pa.Table, size: int, rows: int | None = None) -> Iterator[pa.Table]:
    """The rows of a table in parts of about so many bytes, and of so many rows, at most."""
    if not table.num_rows:
        return
    step = max(int(size * table.num_rows / max(table.nbytes, 1)), 1)
    step = step if rows is None else min(step, rows)
    for at in range(0, table.num_rows, step):
        yield table.slice(at, step)


def digest_of(body: bytes) -> str:
    """What a chunk is known by when it is read again."""
    return hashlib.blake2b(body, digest_size=8).hexdigest()


def unchanged(body: bytes, digest: str, part: str) -> bytes:
    """A chunk that was read, once it is found to be what was written."""
    if digest_of(body) != digest:
        raise SashError(f"state must be unchanged since it was kept; a chunk of {part} is damaged")
    return body
