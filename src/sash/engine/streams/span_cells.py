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

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from sash.engine.streams.restoring import positions_of, refused
from sash.engine.streams.scheme import Scheme
from sash.engine.streams.timed_stream import FIRST
from sash.engine.streams.times import ticks_of
from sash.expressions.evaluation import evaluate
from sash.kernels.slices.runs import Runs, most, runs_of, too_many
from sash.windows.slicers import Edges

AUTO = "auto"
PIECE = 1 << 22  # parts of spans that are weighed at a time
SPARSE = 1 << 16  # edges that are listed in any case


class Moments(NamedTuple):
    """The first and the last moment of each span, when it was known of, and why some have no place; "" for others."""

    first: np.ndarray
    last: np.ndarray
    seen: np.ndarray  # its end or, where that is not known, its start
    wrong: np.ndarray | None

    def take(self, which: np.ndarray) -> Moments:
        """Some of the spans."""
        return Moments(self.first[which], self.last[which], self.seen[which], None)


def moments_of(scheme: Scheme, table: pa.Table) -> Moments:
    """The spans of some rows."""
    spans, longest = scheme.settings.spans, scheme.longest
    assert spans is not None
    start, begun = ticks_of(evaluate(spans.start, table), scheme.time_type)
    end, ended = ticks_of(evaluate(spans.end, table), scheme.time_type)
    wrong: list[tuple[np.ndarray, str]] = []
    if begun is not None:
        wrong.append((~begun, f"{spans.start} is NULL"))
    seen = end
    if ended is not None and longest is not None:
        seen, end = np.where(ended, end, start), np.where(ended, end, start + longest)
        wrong.append((~ended & (end < start), "out of reach"))
    elif ended is not None:
        wrong.append((~ended, f"{spans.end} is NULL, and no longest was given"))
    length = end - start
    wrong.append((end < start, f"{spans.end} is before {spans.start}"))
    wrong.append((length < 0, "out of reach"))  # more than 64 bits
    if longest is not None:
        wrong.append((length > longest, f"longer than {spans.longest}"))
    reasons = None
    if any(mask.any() for mask, _ in wrong):
        reasons = np.full(len(start), "", object)
        for mask, words in reversed(wrong):
            reasons[mask] = words
    return Moments(start, np.maximum(end - 1, start), seen, reasons)


def refuse_odd_spans(scheme: Scheme, rows: pa.Table, last: np.ndarray) -> None:
    """Refuse rows that were kept and end before they begin."""
    if (positions_of(rows, FIRST, *scheme.reach) > last).any():
        raise refused("spans", "first and last moments", "a last before the first")


class SliceNumbers:
    """Slices that hold some spans by number, from 0 on; those between spans may have none."""

    def __init__(self, edges: Edges, first: np.ndarray, last: np.ndarray) -> None:
        low, high = int(first.min()), int(last.max())
        self.step, self.phase, self.base = 0, 0, 0
        self.table = np.zeros(0, np.int64)
        if len(edges.progressions) == 1 and not edges.calendars:
            (each,) = edges.progressions
            self.step, self.phase = each.step, each.phase
            self.base = (low - each.phase) // each.step
        elif edges.how_many(low, high) <= max(len(first), SPARSE):
            self.table = edges.between(low, high)
        else:
            self.table = edges.within(*stretches(first, last), most(len(first)))
            if not len(self.table):
                raise too_many(len(first), edges.how_many(low, high))

    def of(self, at: np.ndarray) -> np.ndarray:
        """The number of the slice that each position is in."""
        if self.step:
            return (at - self.phase) // self.step - self.base
        return np.searchsorted(self.table, at, "right") - 1

    def starts(self, numbers: np.ndarray) -> np.ndarray:
        """Where slices begin."""
        return (self.base + numbers) * self.step + self.phase if self.step else self.table[numbers]


def stretches(first: np.ndarray, last: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Where time is covered by spans: the beginnings of such stretches, and their ends.

    >>> stretches(np.array([50, 0, 3]), np.array([60, 4, 9]))
    (array([ 0, 50]), array([ 9, 60]))
    """
    order = np.argsort(first, kind="stable")
    first, last = first[order], np.maximum.accumulate(last[order])
    heads = np.append(True, first[1:] > last[:-1])
    return first[heads], last[np.append(np.flatnonzero(heads)[1:] - 1, len(last) - 1)]


class SpanCells:
    """Where spans lie in cells; what of a span is before ``since`` is left out, as no open window has it."""

    def __init__(
        self,
        first: np.ndarray,
        last: np.ndarray,
        codes: np.ndarray,
        keys: int,
        edges: Edges,
        since: int | None = None,
    ) -> None:
        self.length = last - first + 1
        if since is not None:
            first = np.maximum(first, np.minimum(since, last))
        self.first, self.last = first, last
        numbers = SliceNumbers(edges, first, last)
        begin, end = numbers.of(first), numbers.of(last)
        runs: Runs = runs_of(codes, keys, begin, end)
        self.key, self.at, self.covered = runs.key, numbers.starts(runs.slice), runs.covered
        self.begin, self.end = runs.begin, runs.end

    def __len__(self) -> int:
        return len(self.key)

    def parts(self) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
        """Each part of a span that a slice has, some at a time: the span, the cell, and how long the part is."""
        sizes = self.end - self.begin + 1
        upto = np.cumsum(sizes)
        low = 0
        while low < len(sizes):
            before = int(upto[low - 1]) if low else 0
            high = max(int(np.searchsorted(upto, before + PIECE, "right")), low + 1)
            some = sizes[low:high]
            which = np.repeat(np.arange(low, high), some)
            cell = np.arange(len(which)) + np.repeat(self.begin[low:high] - (upto[low:high] - some - before), some)
            start = np.maximum(self.first[which], self.at[cell])
            after = self.at[np.minimum(cell + 1, len(self.at) - 1)]
            stop = np.where(cell == self.end[which], self.last[which] + 1, after)
            yield which, cell, stop - start
            low = high
