"""What tasks run for windows cut into pieces: sample the keys, summarise the pieces, answer them."""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Callable, Iterator
from itertools import chain
from typing import Any

import numpy as np
import pyarrow as pa

from sash.engine.ranges import Cuts, KeyOrder, sample
from sash.engine.summaries import Summaries, evaluate_pieces, summarise
from sash.errors import SashError
from sash.spark.worker import as_answers, batches_of, beginning, received, spilled
from sash.windows.over import Over

SAMPLES = 1024  # of each chunk
CHUNK = 1 << 20  # keys that are sorted at once
PIECE, OWN, SUMMARIES = "__sash_piece", "__sash_own", "__sash_summaries"  # columns beside those that expressions read
SUMMARY = ("summary", "counts")  # what tasks say of their rows
MINE = "mine"  # whether an answer is of a row in its own piece
Batches = Iterator[pa.RecordBatch]


def sampling(order: KeyOrder, near: tuple[int, int]) -> Callable[[Batches], Batches]:
    """A sample of a task's keys: of chunks, so that a large task needs no more memory.

    ``near`` is how many rows frames reach before and after, which the sample must be able to tell.
    """
    start = beginning()

    def sampled(batches: Batches) -> Batches:
        from pyspark import TaskContext

        start()
        task = TaskContext.get().partitionId() << 32  # type: ignore[union-attr]
        for number, chunk in enumerate(_chunks(batches, CHUNK)):
            yield from sample(pa.Table.from_batches(chunk), order, SAMPLES, task + number, near).to_batches()

    return sampled


def summarising(
    columns: dict[str, Over],
    tie_breakers: tuple[Over, ...],
    names: list[str],
    places: tuple[int, int, int],
    splits: bool,
) -> Callable[[Batches], Batches]:
    """Summaries of a task's rows for the pieces that do not hold them, and how many rows each piece has.

    ``places`` says which columns after those named hold a row's own piece, and the first and the last that need it.
    Where the summary of an interval may be split, a chunk at a time.
    """
    start = beginning()

    def summary(chunk: list[pa.RecordBatch]) -> pa.RecordBatch:
        arrays = pa.Table.from_batches(chunk).columns
        numbers = [_numbers(column) for column in arrays[len(names) :]]
        own, first, last = (numbers[place] for place in places)
        table = pa.table(arrays[: len(names)], names)
        said = summarise(table, columns, own, first, last, arrival=False, tie_breakers=tie_breakers)
        counts = np.bincount(own).astype(np.int64).tobytes()
        return pa.record_batch([pa.array([said], pa.binary()), pa.array([counts], pa.binary())], list(SUMMARY))

    def summarised(batches: Batches) -> Batches:
        start()
        for chunk in _chunks(batches, CHUNK if splits else None):
            yield summary(chunk)

    return summarised


def _chunks(batches: Batches, rows: int | None) -> Iterator[list[pa.RecordBatch]]:
    """Batches together, as many as have so many rows; all of them for None."""
    chunk: list[pa.RecordBatch] = []
    for batch in batches:
        chunk.append(batch)
        if rows is not None and sum(map(len, chunk)) >= rows:
            yield chunk
            chunk = []
    if any(map(len, chunk)):
        yield chunk


def piecewise(
    columns: dict[str, Over],
    tie_breakers: tuple[Over, ...],
    names: list[str],
    answers: pa.Schema,
    cuts: Cuts | None,
    memory: int | None,
) -> Callable[[Any], Any]:
    """What the UDF runs: rows of whole pieces, copies among them; each gets an answer, right where it is its own."""
    inputs, start = [name for name in names if name not in (PIECE, OWN, SUMMARIES)], beginning()

    def evaluated(batches: Iterator[Any]) -> Iterator[pa.Array]:
        start()
        rows = received(batches, names)
        first = next(rows, None)
        if first is None:
            return
        pairs = _unpacked(first[SUMMARIES][0].as_py()) if SUMMARIES in names else []  # only a task's first row has them
        summaries = Summaries(summary for summary, _ in pairs)
        counts = _added([np.frombuffer(count, np.int64) for _, count in pairs])

        def answered(table: pa.Table) -> pa.Table:
            piece, own = _numbers(table[PIECE]), _numbers(table[OWN])
            _check(piece, own, cuts, counts)
            answers_by_name = evaluate_pieces(
                table.select(inputs), columns, piece, own, summaries, arrival=False, tie_breakers=tie_breakers
            )
            out = as_answers(answers_by_name, pa.schema(list(answers)[:-1]))
            return out.append_column(MINE, pa.array(piece == own))

        row_columns = [name for name in names if name != SUMMARIES]
        whole = (batch.select(row_columns) for batch in chain([first], rows))
        yield from spilled(whole, answered, {PIECE: "piece"}, None, memory, len(columns))

    return batches_of(evaluated)


def _unpacked(text: str) -> list[tuple[bytes, bytes]]:
    """The summaries of all tasks, and how many rows each counted of each piece."""
    pairs = [each.split(":") for each in text.split(",") if each]
    return [(b64decode(summary), b64decode(count)) for summary, count in pairs]


def _added(counts: list[np.ndarray]) -> np.ndarray | None:
    """How many rows each piece has, from what each task counted."""
    if not counts:
        return None
    total = np.zeros(max(map(len, counts)), np.int64)
    for each in counts:
        total[: len(each)] += each
    return total


def _numbers(column: pa.ChunkedArray) -> np.ndarray:
    return column.combine_chunks().to_numpy(zero_copy_only=False).astype(np.int32, copy=False)


def _check(piece: np.ndarray, own: np.ndarray, cuts: Cuts | None, counts: np.ndarray | None) -> None:
    """Refuse to answer where other rows came than were there when they were sampled or summarised."""
    pieces = int(piece.max()) + 1
    before, mine, after = (
        np.bincount(piece[way], minlength=pieces) for way in (own < piece, own == piece, own > piece)
    )
    for each in np.flatnonzero(before + mine + after).tolist():
        promised = (0, 0) if cuts is None else cuts.promised(each)
        known = mine[each] if counts is None else counts[each] if each < len(counts) else 0
        if before[each] < promised[0] or after[each] < promised[1] or mine[each] != known:
            raise SashError(
                "the data changed between two reads of it: cache the DataFrame, or write it out, before withColumns"
            )
