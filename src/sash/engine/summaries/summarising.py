"""Intervals of rows, summarised: what any row elsewhere may have to know of them, as a few bytes.

An interval is the rows that belong to the same piece and are needed by the same pieces. Its rows follow each
other, so that of its partitions only the first and the last can go on elsewhere. Each of these is a part.

A summary is two Arrow streams: parts, with their keys and what each expression must know of them; then the
few rows that matter, each with its part.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from sash.engine.answering.asking import Question
from sash.engine.answering.folds import counted
from sash.engine.answering.ranks import rank_counts
from sash.engine.encoding import order_key
from sash.engine.sorted_partitions import SortedPartitions
from sash.engine.summaries.contents import COUNT, PARTIAL, ROWS, content_of, opened, sees_order, summary_name
from sash.engine.summaries.few_rows import edges, few_rows
from sash.engine.ties import break_ties
from sash.expressions.columns import col
from sash.kernels.operations.merging import unlowered
from sash.kernels.sorting import argsort
from sash.kernels.structures.segment_tree import ALGORITHM as SEGMENT_TREE
from sash.windows.bounds import Bounds
from sash.windows.over import Over

INTERVAL = "__sash_interval"
PART = "__sash_part"  # of the summary that a row is kept for
PLACES = ("own", "first", "last")
BITS = 21  # of the number of a piece


def summarise(
    table: pa.Table,
    columns: Mapping[str, Over],
    own: Any,
    first: Any,
    last: Any,
    *,
    arrival: bool = True,
    tie_breakers: Iterable[Over] = (),
) -> bytes:
    """What pieces must know of rows that they do not hold, for the expressions that need it.

    ``own`` is the piece that each row belongs to, ``first`` and ``last`` those that need it. Cuts are by partition
    keys, ascending and with NULLs first, and then by the window's order; all expressions have the same of these.
    """
    checked, window = opened(columns)
    contents = {name: content for name, over in checked.items() if (content := content_of(over)) is not None}
    if not len(own) or not contents:
        return b""
    intervals, number = _intervals(own, first, last)
    names = [*table.column_names, INTERVAL]
    whole = pa.Table.from_arrays([*table.columns, pa.array(number)], names)
    ordered = any(map(sees_order, checked.values()))
    rows = SortedPartitions(whole, (col(INTERVAL), *window.partition), window.order if ordered else ())
    if ordered and not arrival:
        break_ties(rows, checked, tie_breakers)
    chosen = _parts(rows, window.partition)
    starts, stops = rows.segments[chosen], rows.segments[chosen + 1]
    heads = pa.array(starts)
    of = rows.column(col(INTERVAL)).take(heads).to_numpy()
    columns_of_pieces = {place: pa.array(each[of]) for place, each in zip(PLACES, intervals, strict=True)}
    columns_of_pieces |= {
        f"key {k}": plain_key(rows.column(each).take(heads)) for k, each in enumerate(window.partition)
    }
    matter: list[np.ndarray] = [np.zeros(0, np.int64)]
    for name, content in contents.items():
        question = Question(rows, checked[name])
        if content == ROWS:
            matter.append(few_rows(question, starts, stops))
        else:
            write = {PARTIAL: _partials, COUNT: _counts}[content]
            columns_of_pieces[summary_name(content, name)] = write(question, starts, stops)
    positions = np.unique(np.concatenate(matter))
    part = np.full(len(rows.segments) - 1, -1, np.int32)
    part[chosen] = np.arange(len(chosen))
    owner = part[np.searchsorted(rows.segments, positions, "right") - 1]
    numbers = positions if rows.permutation is None else rows.permutation[positions]
    few = table.take(pa.array(numbers)) if len(numbers) else table.slice(0, 0)
    rows.forget()
    return _written(pa.table(columns_of_pieces), few.add_column(0, PART, pa.array(owner, pa.int32())))


def _intervals(*places: Any) -> tuple[list[np.ndarray], np.ndarray]:
    """The intervals that rows at these places are of, as columns, in order; and the number of each row's."""
    own, first, last = (np.asarray(each, np.int64) for each in places)
    words = (own << 2 * BITS) | (first << BITS) | last
    different, number = np.unique(words, return_inverse=True)
    mask = (1 << BITS) - 1
    columns = [different >> 2 * BITS, (different >> BITS) & mask, different & mask]
    return [each.astype(np.int32) for each in columns], number.astype(np.int32)


def plain_key(array: pa.Array) -> pa.Array:
    """A key that can be put after those of other tables: dictionaries are of one table alone."""
    return array.dictionary_decode() if pa.types.is_dictionary(array.type) else array


def _parts(rows: SortedPartitions, partition: tuple[Any, ...]) -> np.ndarray:
    """The segments that are the first or the last of their interval, in the order of intervals and partitions."""
    heads = pa.array(rows.segments[:-1])
    interval = rows.column(col(INTERVAL)).take(heads).to_numpy().astype(np.uint64)
    keys = [key for each in partition for key in order_key(rows.column(each).take(heads))]
    order = argsort([interval, *keys])
    ordered = interval[order]
    edge = np.ones(len(order), np.bool_)
    edge[1:-1] = (ordered[1:-1] != ordered[:-2]) | (ordered[1:-1] != ordered[2:])
    return order[edge]


def _partials(question: Question, starts: np.ndarray, stops: np.ndarray) -> pa.Array:
    """The partial of each part; NULL where no row counts."""
    selection, lifted = counted(question)
    bounds = Bounds(*edges(selection, starts, stops), selection.length)
    partials, valid = SEGMENT_TREE.run(unlowered(lifted.aggregate), lifted.columns, selection.length, bounds)
    return pa.array([each.tobytes() if some else None for each, some in zip(partials, valid, strict=True)], pa.binary())


def _counts(question: Question, starts: np.ndarray, stops: np.ndarray) -> pa.Array:
    counts = rank_counts(question, starts, stops)
    return pa.array([each.tobytes() for each in counts], pa.binary())


def _written(*tables: pa.Table) -> bytes:
    sink = pa.BufferOutputStream()
    for table in tables:
        with pa.ipc.new_stream(sink, table.schema) as stream:
            stream.write_table(table)
    return sink.getvalue().to_pybytes()
