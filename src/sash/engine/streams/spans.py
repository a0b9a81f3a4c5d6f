"""Spans on their way into cells: an event that lasts is in every slice that it overlaps, and counts once in a window.

What a cell holds of an aggregate is one of

    ends     of the spans that end in the slice, and beyond  of those that are in it and go on after it: a window has
             the first of all its slices, and the second of its last
    covers   of all spans that are in the slice: of selective aggregates, which duplicates do no harm
    spread   of the part that the slice has of each span: of what is weighed by time

A span is known by its first and its last moment, both of which belong to it; an instant has one.
paper   spanning-event-slicing-2021, 3.2
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pyarrow as pa

from sash.engine.streams.scheme import Scheme
from sash.engine.streams.times import ticks_of
from sash.errors import SashError
from sash.expressions.evaluation import evaluate
from sash.kernels.slices.runs import Runs, runs_of
from sash.windows.slicing import Edges

AUTO = "auto"
FIRST = "__sash_first"  # the column of first moments in rows on their way
MOST = 1 << 28  # cells that the spans of a batch may cover


class Moments(NamedTuple):
    """The first and the last moment of each span, its end, and why some have no place; "" for the others."""

    first: np.ndarray
    last: np.ndarray
    end: np.ndarray
    wrong: np.ndarray | None

    def take(self, which: np.ndarray) -> Moments:
        """Some of the spans."""
        return Moments(self.first[which], self.last[which], self.end[which], None)


def moments_of(scheme: Scheme, table: pa.Table) -> Moments:
    """The spans of some rows."""
    spans = scheme.settings.spans
    assert spans is not None
    start, begun = ticks_of(evaluate(spans.start, table), scheme.time_type)
    end, ended = ticks_of(evaluate(spans.end, table), scheme.time_type)
    wrong: list[tuple[np.ndarray, str]] = []
    if begun is not None:
        wrong.append((~begun, f"{spans.start} is NULL"))
    if ended is not None and scheme.longest is not None:
        end = np.where(ended, end, start + scheme.longest)
    elif ended is not None:
        wrong.append((~ended, f"{spans.end} is NULL, and no longest was given"))
    wrong.append((end < start, f"{spans.end} is before {spans.start}"))
    if scheme.longest is not None:
        wrong.append((end - start > scheme.longest, f"longer than {spans.longest}"))
    reasons = None
    if any(mask.any() for mask, _ in wrong):
        reasons = np.full(len(start), "", object)
        for mask, words in reversed(wrong):
            reasons[mask] = words
    return Moments(start, np.maximum(end - 1, start), end, reasons)


class Numbers:
    """Slices between two positions by number, from 0 on."""

    def __init__(self, edges: Edges, low: int, high: int) -> None:
        self.step, self.base = 0, 0
        self.table = np.zeros(0, np.int64)
        if len(edges.progressions) == 1 and not edges.calendars:
            (each,) = edges.progressions
            self.step, self.base = each.step, low - (low - each.phase) % each.step
        elif edges.how_many(low, high) > MOST:
            raise _too_many(edges.how_many(low, high))
        else:
            self.table = edges.between(low, high)

    def of(self, at: np.ndarray) -> np.ndarray:
        """The number of the slice that each position is in."""
        if self.step:
            return (at - self.base) // self.step
        return np.searchsorted(self.table, at, "right") - 1

    def starts(self, numbers: np.ndarray) -> np.ndarray:
        """Where slices begin."""
        return self.base + numbers * self.step if self.step else self.table[numbers]


class Layout:
    """Where spans lie in cells."""

    def __init__(self, first: np.ndarray, last: np.ndarray, codes: np.ndarray, keys: int, edges: Edges) -> None:
        self.first, self.last = first, last
        numbers = Numbers(edges, int(first.min()), int(last.max()))
        begin, end = numbers.of(first), numbers.of(last)
        self.insertions = int((end - begin).sum()) + len(first)
        if self.insertions > MOST:
            raise _too_many(self.insertions)
        runs: Runs = runs_of(codes, keys, begin, end)
        self.key, self.at, self.covered = runs.key, numbers.starts(runs.slice), runs.covered
        self.begin, self.end = runs.begin, runs.end

    def __len__(self) -> int:
        return len(self.key)

    def parts(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Each part of a span that a slice has: the span, the cell, and where the part begins and stops."""
        sizes = self.end - self.begin + 1
        which = np.repeat(np.arange(len(sizes)), sizes)
        cell = np.arange(len(which)) + np.repeat(self.begin - (np.cumsum(sizes) - sizes), sizes)
        start = np.maximum(self.first[which], self.at[cell])
        last, after = cell == self.end[which], self.at[np.minimum(cell + 1, len(self.at) - 1)]
        return which, cell, start, np.where(last, self.last[which] + 1, after)


def _too_many(count: int) -> SashError:
    return SashError(f"the spans of a batch must be in at most {MOST:,} slices, got {count:,}; "
                     "a longer slide makes fewer, and longest= sets spans aside that are too long")  # fmt: skip
