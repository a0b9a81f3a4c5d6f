"""The answers to a table that comes in batches and may be larger than memory.

Rows that fit are evaluated at once. Others go to files, apart by a hash of their partition keys; each file is evaluated
alone, or split again, or, if it holds one key, cut into range pieces. Answers leave in the order of arrival.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from sash.engine.memory_need import SCRATCH, need, said, size_of
from sash.engine.spilling.range_pieces import Ranges, cut_apart
from sash.engine.spilling.row_files import Directory, Rows, arrivals, merged, numbered, unnumbered
from sash.engine.spilling.splitting import MANY, KeySplit, grouped, share, split
from sash.engine.tables import as_arrow
from sash.errors import SashError

CHUNK = 1 << 17  # answers that leave at once, at most
STEP = 1 << 12  # answers of a file that are in memory while files are merged, at most


def answers(
    batches: Iterable[pa.Table | pa.RecordBatch],
    evaluate: Callable[[pa.Table], Any],
    partition: Sequence[str] | Mapping[str, str] = (),
    *,
    budget: int,
    pieces: Ranges | None = None,
    bytes_per_row: int = SCRATCH,
) -> Iterator[pa.RecordBatch]:
    """What a function answers to each row of all batches, in the order of the rows.

    Args:
        batches: the rows, all of one schema.
        evaluate: answers to some rows, one each: a table, or an array of structs. The rows are of whole partitions.
        partition: names of the columns that rows must have in common to be evaluated together, or a mapping
            from these to what messages call them.
        budget: bytes of memory that may be used; files are used where ``need`` says more.
        pieces: where a partition may be cut, if all frames are bounded.
        bytes_per_row: what ``evaluate`` uses beside its input, see ``scratch``.

    >>> rows = pa.table({"key": ["a", "b", "a"]})
    >>> def together(table):
    ...     return pa.table({"rows": [table.num_rows] * table.num_rows})
    >>> for budget in (1000, 300):
    ...     [batch["rows"].to_pylist() for batch in answers([rows], together, ["key"], budget=budget)]
    [[3, 3, 3]]
    [[2, 1, 2]]

    """
    waiting: deque[pa.Table] = deque()
    source = (_table(batch) for batch in batches if batch.num_rows)
    size = rows = 0
    for table in source:
        waiting.append(table)
        size, rows = size + size_of(table), rows + table.num_rows
        if need(size, rows, bytes_per_row) > budget:
            break
    else:
        if waiting:
            yield from _at_once(waiting, evaluate)
        return
    with Directory() as disk:
        spill = _Spill(evaluate, partition, budget, pieces, bytes_per_row, disk)
        files = spill.files(_drained(waiting, source))
        for table in grouped(merged(files), share(budget), CHUNK):
            yield from unnumbered(table).combine_chunks().to_batches(max_chunksize=CHUNK)


class _Spill:
    """Files of rows, made into files of answers."""

    def __init__(
        self,
        evaluate: Callable[[pa.Table], Any],
        partition: Sequence[str] | Mapping[str, str],
        budget: int,
        pieces: Ranges | None,
        bytes_per_row: int,
        disk: Directory,
    ) -> None:
        self.evaluate, self.budget, self.pieces, self.disk = evaluate, budget, pieces, disk
        self.partition = dict(partition) if isinstance(partition, Mapping) else {name: name for name in partition}
        self.bytes_per_row = bytes_per_row
        self.schema: pa.Schema | None = None

    def files(self, tables: Iterator[pa.Table]) -> list[Rows]:
        """Answers to all rows, in few files, each in order of arrival."""
        arriving = _numbered(tables)
        if self.partition:
            parts = split(arriving, list(self.partition), self.budget, 0, self.disk)
        else:
            parts = [KeySplit(self._whole(arriving))]
        return self._few([file for part in parts for file in self._answered(part, 1)])

    def _whole(self, tables: Iterator[pa.Table]) -> Rows:
        """All rows in one file."""
        rows = self.disk.file()
        for table in grouped(tables, share(self.budget)):
            if self.pieces is None:  # there is no hope: just count
                rows.rows, rows.size = rows.rows + table.num_rows, rows.size + size_of(table)
            else:
                rows.write(table)
        if self.pieces is None:
            raise self._too_large(rows)
        return rows

    def _answered(self, part: KeySplit, level: int) -> list[Rows]:
        rows = part.rows
        if self._need(rows) <= self.budget:
            return [self._alone(rows)]
        if part.single:
            return self._few([self._own(piece) for piece in self._cut(rows)])
        parts = split(rows.tables(), list(self.partition), self.budget, level, self.disk)
        rows.remove()
        return self._few([file for each in parts for file in self._answered(each, level + 1)])

    def _alone(self, rows: Rows) -> Rows:
        """Answers to the rows of a file."""
        table = rows.table()
        rows.remove()
        answers = _as_table(self.evaluate(unnumbered(table)))
        return self._written(answers, arrivals(table))

    def _own(self, piece: Rows) -> Rows:
        """Answers to the own rows of a piece."""
        table = piece.table()
        piece.remove()
        arrival, marked = arrivals(table), unnumbered(table)
        own, marked = marked.column(marked.num_columns - 1), unnumbered(marked)
        answers = _as_table(self.evaluate(marked)).filter(own)
        return self._written(answers, arrival[own.to_numpy()])

    def _written(self, answers: pa.Table, arrival: np.ndarray) -> Rows:
        self.schema = self.schema or answers.schema
        file = self.disk.file()
        if len(arrival):
            self._write(
                file, numbered(answers if answers.schema == self.schema else answers.cast(self.schema), arrival)
            )
        pa.default_memory_pool().release_unused()
        return file

    def _write(self, file: Rows, answers: pa.Table) -> None:
        """Write answers in batches of which one from every file is in memory when files are merged."""
        step = share(self.budget) // MANY * answers.num_rows // size_of(answers)
        file.write(answers, min(max(step, 64), STEP))

    def _few(self, files: list[Rows]) -> list[Rows]:
        """The same answers in no more files than can be merged at once."""
        queue = deque(files)
        while len(queue) > MANY:
            some = [queue.popleft() for _ in range(MANY)]
            joined = self.disk.file()
            for table in grouped(merged(some), share(self.budget), CHUNK):
                self._write(joined, table)
            for file in some:
                file.remove()
            queue.append(joined)
        return list(queue)

    def _cut(self, rows: Rows) -> list[Rows]:
        """The pieces of a partition."""
        if self.pieces is None:
            raise self._too_large(rows)
        most = self.budget * rows.rows // self._need(rows)
        cuts = self.pieces.cuts(rows, self.budget, most)
        if cuts is None:
            raise self._too_large(rows, frames=True)
        pieces = cut_apart(rows, self.pieces, cuts, self.budget, self.disk)
        rows.remove()
        return pieces

    def _need(self, rows: Rows) -> int:
        return need(rows.size, rows.rows, self.bytes_per_row)

    def _too_large(self, rows: Rows, frames: bool = False) -> SashError:
        advice = "use narrower frames" if frames else "use a frame bounded on both sides"
        named = [f"{called} = {self._value(rows, name)}" for name, called in self.partition.items()]
        which = f" ({', '.join(named)})" if named else ", as there is no partitionBy,"
        return SashError(
            f"a partition of {rows.rows:,} rows{which} needs about {said(self._need(rows))} and a worker may use "
            f"{said(self.budget)}: set sash.options.memory (or SASH_MEMORY), or {advice}"
        )

    def _value(self, rows: Rows, name: str) -> str:
        value = next(rows.tables()).column(name)[0].as_py()
        return "NULL" if value is None else repr(value)


def _at_once(waiting: deque[pa.Table], evaluate: Callable[[pa.Table], Any]) -> list[pa.RecordBatch]:
    table = pa.concat_tables(waiting)
    waiting.clear()
    return _as_table(evaluate(table)).to_batches(max_chunksize=CHUNK)


def _as_table(answers: Any) -> pa.Table:
    if isinstance(answers, (pa.StructArray, pa.ChunkedArray)):
        return pa.Table.from_struct_array(answers)
    return _table(answers)


def _table(batch: pa.Table | pa.RecordBatch) -> pa.Table:
    return batch if isinstance(batch, pa.Table) else pa.Table.from_batches([batch])


def _drained(waiting: deque[pa.Table], source: Iterator[pa.Table]) -> Iterator[pa.Table]:
    while waiting:
        yield waiting.popleft()
    yield from source


def _numbered(tables: Iterator[pa.Table]) -> Iterator[pa.Table]:
    """Rows of types of which Arrow can take some, numbered as they arrive."""
    arrived = 0
    for table in tables:
        yield numbered(as_arrow(table, table.column_names), np.arange(arrived, arrived + table.num_rows))
        arrived += table.num_rows
