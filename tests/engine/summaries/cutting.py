"""Tables cut into pieces as a distributed sort cuts them, and answers put together from the pieces."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from sash.engine.summaries import Summaries, evaluate_pieces, summarise


def ascending(value):
    """A key of Python's that sorts as the engine does: NULL, numbers and strings, NaN."""
    if value is None:
        return (0, 0)
    return (2, 0) if isinstance(value, float) and math.isnan(value) else (1, value)


@dataclass
class Cut:
    """Where each row, by its place in the table, belongs, and the pieces that need it."""

    own: np.ndarray
    first: np.ndarray
    last: np.ndarray


def cut(table, window, lows, reach, more=0):
    """Cut at some places, given as shares of the rows; ``reach(i, j)`` says whether row i of a sort needs row j."""
    partition = [column.key for column in window.partition]
    keys = [*partition, *(order.column.key for order in window.order)]
    rows = list(zip(*(map(ascending, table[key].to_pylist()) for key in keys), strict=True)) or [()] * len(table)
    order = sorted(range(len(rows)), key=lambda i: rows[i])
    edges = [i for i in range(len(rows) + 1) if i in (0, len(rows)) or rows[order[i]] != rows[order[i - 1]]]
    group = np.searchsorted(edges, np.arange(len(rows)), "right")
    lows = [0, *sorted(edges[low % len(edges)] for low in lows)]
    ends = [*lows[1:], len(rows)]
    begins, stops = [], []
    for low, end in zip(lows, ends, strict=True):
        near = [j for i in range(low, end) for j in range(len(rows)) if reach(rows, group, order, i, j)]
        begins.append(max(e for e in edges if e <= max(min([low, *near]) - more, 0)))
        stops.append(min(e for e in edges if e >= min(max([end, *(j + 1 for j in near)]) + more, len(rows))))
    begins = np.minimum.accumulate(begins[::-1])[::-1]
    stops = np.maximum.accumulate(stops)
    places = np.arange(len(rows))
    found = []
    for cuts, side in ((lows[1:], "right"), (stops[:-1], "right"), (begins[1:], "right")):
        by_place = np.empty(len(rows), np.int32)
        by_place[order] = np.searchsorted(cuts, places, side)
        found.append(by_place)
    return Cut(*found)


def by_rows(n):
    return lambda rows, group, order, i, j: abs(i - j) <= n


def by_groups(n):
    return lambda rows, group, order, i, j: abs(group[i] - group[j]) <= n


def by_range(n, keys):
    def near(rows, group, order, i, j):
        a, b = rows[order[i]], rows[order[j]]
        return a[:keys] == b[:keys] and a[keys][0] == b[keys][0] == 1 and abs(a[keys][1] - b[keys][1]) <= n

    return near


def answered(table, columns, places, together, tasks=None, arrival=True, shuffle=None):
    """Answers of all rows, each from its piece: all pieces in one call, or each on its own."""
    pieces = int(places.own.max(initial=0)) + 1
    tasks = places.own if tasks is None else tasks
    summaries = []
    for task in np.unique(tasks):
        some = tasks == task
        summaries.append(
            summarise(
                table.filter(pa.array(some)),
                columns,
                places.own[some],
                places.first[some],
                places.last[some],
                arrival=arrival,
            )
        )
    collected = Summaries(summaries[::-1])
    copies = [(row, piece) for piece in range(pieces) for row in range(len(table))
              if places.first[row] <= piece <= places.last[row]]  # fmt: skip
    if shuffle is not None:
        shuffle.shuffle(copies)
    together = together or pieces > 6  # each piece on its own takes its time
    runs = [copies] if together else [[each for each in copies if each[1] == piece] for piece in range(pieces)]
    found = {name: [None] * len(table) for name in columns}
    kinds = {name: set() for name in columns}
    for run in runs:
        row, piece = np.array([r for r, _ in run], np.int64), np.array([p for _, p in run], np.int32)
        answers = evaluate_pieces(
            table.take(pa.array(row)), columns, piece, places.own[row], collected, arrival=arrival
        )
        for name, answer in answers.items():
            assert len(answer) == len(row)
            kinds[name].add(answer.type)
            for place, value in enumerate(answer.to_pylist()):
                if piece[place] == places.own[row[place]]:
                    found[name][row[place]] = value
    return found, kinds


def same(a, b):
    """Whether answers are equal, floats within rounding."""
    if isinstance(a, float) and isinstance(b, float):
        return math.isclose(a, b, rel_tol=1e-9, abs_tol=1e-9) or (math.isnan(a) and math.isnan(b))
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(same(a[key], b[key]) for key in a)
    return type(a) is type(b) and a == b


def check(whole, found, kinds):
    for name, answers in found.items():
        expected = whole[name]
        assert kinds[name] == {expected.type} or not len(expected), name
        for a, b in zip(answers, expected.to_pylist(), strict=True):
            assert same(a, b), (name, answers, expected.to_pylist())
