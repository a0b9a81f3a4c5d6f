"""What tasks run for windows cut into pieces: sample the keys, summarise the pieces, answer them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import chain
from typing import Any

import numpy as np
import pyarrow as pa

from sash.algebra import Over
from sash.engine.carrying import Carried, evaluate_carried, summarise
from sash.engine.ranges import Cuts, KeyOrder, sample
from sash.errors import SashError
from sash.spark.worker import as_told, batches_of, begin, received, spilled

SAMPLES = 1024  # of each chunk
CHUNK = 1 << 20  # keys that are sorted at once
PIECE, OWN, TOLD = "__sash_piece", "__sash_own", "__sash_told"  # columns beside those that expressions read
MINE = "mine"  # whether an answer is of a row in its own piece
Batches = Iterator[pa.RecordBatch]


def sampling(order: KeyOrder, near: tuple[int, int]) -> Callable[[Batches], Batches]:
    """A sample of a task's keys: of chunks, so that a large task needs no more memory.

    ``near`` is how many rows frames reach before and after, which the sample must be able to tell.
    """

    def sampled(batches: Batches) -> Batches:
        from pyspark import TaskContext

        begin()
        task = TaskContext.get().partitionId() << 32  # type: ignore[union-attr]
        held: list[pa.RecordBatch] = []
        rows = 0
        for batch in batches:
            held.append(batch)
            rows += batch.num_rows
            if rows >= CHUNK:
                yield from sample(pa.Table.from_batches(held), order, SAMPLES, task, near).to_batches()
                held, rows, task = [], 0, task + 1
        if rows:
            yield from sample(pa.Table.from_batches(held), order, SAMPLES, task, near).to_batches()

    return sampled


def summarising(columns: dict[str, Over], names: list[str]) -> Callable[[Batches], Batches]:
    """A summary of a task's rows for the pieces that do not hold them."""

    def summarised(batches: Batches) -> Batches:
        begin()
        held = list(batches)
        if held:
            table = pa.table(pa.Table.from_batches(held).columns, [*names, "own", "first", "last"])
            places = [_numbers(table, name) for name in ("own", "first", "last")]
            summary = summarise(table.select(names), columns, *places, arrival=False)
            yield pa.record_batch([pa.array([summary], pa.binary())], ["summary"])

    return summarised


def piecewise(
    columns: dict[str, Over], names: list[str], answers: pa.Schema, cuts: Cuts | None, memory: int | None
) -> Callable[[Any], Any]:
    """What the UDF runs: rows of whole pieces, copies among them; each gets an answer, right where it is its own."""
    inputs = [name for name in names if name not in (PIECE, OWN, TOLD)]

    def evaluated(batches: Iterator[Any]) -> Iterator[pa.Array]:
        begin()
        rows = received(batches, names)
        first = next(rows, None)
        if first is None:
            return
        carried = Carried(first[TOLD][0].as_py() if TOLD in names else [])  # only with the first row of a task

        def answered(table: pa.Table) -> pa.Table:
            piece, own = _numbers(table, PIECE), _numbers(table, OWN)
            if cuts is not None:
                _check(piece, own, cuts)
            found = evaluate_carried(table.select(inputs), columns, piece, own, carried, arrival=False)
            return as_told(found | {MINE: pa.array(piece == own)}, answers)

        told = [name for name in names if name != TOLD]
        whole = (batch.select(told) for batch in chain([first], rows))
        yield from spilled(whole, answered, (PIECE,), None, memory, len(columns))

    return batches_of(evaluated)


def _numbers(table: pa.Table, name: str) -> np.ndarray:
    return table[name].combine_chunks().to_numpy(zero_copy_only=False).astype(np.int32, copy=False)


def _check(piece: np.ndarray, own: np.ndarray, cuts: Cuts) -> None:
    """Refuse to answer where fewer rows came than were there when the cuts were made."""
    before, after = (np.bincount(piece[way], minlength=cuts.pieces) for way in (own < piece, own > piece))
    for each in np.flatnonzero(np.bincount(piece, minlength=cuts.pieces)).tolist():
        promised = cuts.promised(each)
        if before[each] < promised[0] or after[each] < promised[1]:
            raise SashError(
                "the data changed between two reads of it: cache the DataFrame, or write it out, before withColumns"
            )
