"""The streams of the paper, cut into slices, and the techniques that answer their windows.

Each technique takes events one by one as they end and releases windows, as in section 6 of the paper: count, sum and
max on one thread. The paper computes the three in one pass, here they run one after the other; a throughput is in
millions of events a second with all three. The cells of events are found before the clock starts, for all techniques
alike, where the paper's throughput has the reading of the stream in it (its limit is at 550,000 events a second).
A slow technique is given fewer events of a stream, at least 50,000; where these take too long, too, its line ends.

Beside the techniques there are "sweeping, index", with the paper's own structure in place of Sash's, and "Sash": a
whole query of the three aggregates, from table to table, by what it chooses.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

os.environ["SASH_THREADS"] = "1"

import numpy as np
import pyarrow as pa

import sash
from bench.harness.experiment import Bench, Lines
from bench.papers.spans_2021._end_points import swept
from sash import functions as sf
from sash.algebra.catalogue import builtin
from sash.kernels.compiling import specialise
from sash.kernels.inputs import Inputs
from sash.kernels.spans import ANSWERS, driving
from sash.planner.techniques import with_height

WAIT = 15_000  # the paper's time to postpone, in moments
SINGLE = ("tuple_buckets", "aggregate_buckets", "sweeping", "slicing")
INDEX, SASH = "sweeping, index", "Sash"
HEIGHTS = (2, 4, 7, 15, 20)
LEVELS = tuple(f"multilevel_slicing({height})" for height in HEIGHTS)
MULTI = ("sweeping", "slicing", *LEVELS)
AGGREGATES = {
    "count": Inputs(builtin("count"), ()),
    "sum": Inputs(builtin("sum"), (np.float64,)),
    "max": Inputs(builtin("max"), (np.float64,)),
}
BUDGET, LEAST, PATIENCE = 1e7, 50_000, 10  # nanoseconds of a run by aggregate, events, budgets of a run at most
THROUGHPUT = "million events/s"
UPDATES = "sweeping here makes 2 or 3 updates an event, however long, in arrays of slices; the paper's searches a tree"

Events = tuple[np.ndarray, np.ndarray, np.ndarray]


@cache
def synthetic(size: int, count: int) -> Events:
    """Starts, ends and values: one event a moment as they end, lengths normal with a deviation of 10."""
    random = np.random.default_rng(1)
    lengths = np.maximum(random.normal(size, 10, count).astype(np.int64), 1)
    ends = np.arange(count) + lengths.max() + 1
    return ends - lengths, ends, random.random(count)


@cache
def calls(count: int) -> Events:
    """Calls of the shape of the SS7 set, in milliseconds: a minute of ends, lengths of 16 seconds on average.

    Slices begin with the stream, as in Algorithm 1, so that a call is cut where it began before.
    """
    random = np.random.default_rng(2)
    ends = 1 + np.sort(random.integers(0, 60_000, count))
    lengths = np.clip(random.lognormal(math.log(16_000) - 1.3**2 / 2, 1.3, count), 1, 9_000_000).astype(np.int64)
    return np.maximum(ends - lengths, 0), ends, random.random(count)


class Cut:
    """Events in slices made by Pairs, and the windows over them, the first of which begins at 0.

    Fewer events are the beginning of the stream, or, where that is ``thinned``, some of all of it.
    """

    def __init__(self, events: Events, range_: int, slide: int, wait: int = WAIT, thinned: bool = False) -> None:
        self.made_of = events, range_, slide, wait, thinned
        starts, ends, self.values = events
        self.slide, self.rest = slide, range_ % slide
        self.first, self.last = self._cell(starts), self._cell(ends - 1)
        begins = np.arange(0, int(ends.max()), slide)
        self.lo, self.hi = self._cell(begins), self._cell(begins + range_)
        longest = int((ends - starts).max())
        self.postpone = int(self._cell(np.array([max(wait, longest)]))[0]) + 2
        self.cells = float((self.last - self.first).mean()) + 1
        self.windows = float((ends - starts).mean() + range_) / slide

    def _cell(self, moments: np.ndarray) -> np.ndarray:
        step, within = np.divmod(moments, self.slide)
        return 2 * step + (within >= self.rest) if self.rest else step

    def nanoseconds(self, technique: str) -> float:
        """About how long an event takes; only to tell how many a technique is given."""
        name, height = with_height(technique)
        released, wide = len(self.lo) / len(self.first), float((self.hi - self.lo).mean())
        if name in ("slicing", "multilevel_slicing"):
            levels = height or 1
            return 6 + 3 * self.cells / levels + released * levels * (wide + levels / 2)
        by_name = {"sweeping": 25 + 50 * released, "tuple_buckets": 60 * self.windows, INDEX: 200, SASH: 20}
        return by_name.get(str(name), 12 * self.windows)

    def affordable(self, technique: str) -> Cut | None:
        """As much of the stream as a technique is given, or None where it takes too long."""
        each, count = self.nanoseconds(technique), len(self.first)
        kept = min(max(int(BUDGET / each), LEAST), count)
        if kept * each > PATIENCE * BUDGET:
            return None
        (starts, ends, values), *windows = self.made_of
        some = np.arange(0, count, count // kept) if windows[-1] else slice(kept)
        return self if kept == count else Cut((starts[some], ends[some], values[some]), *windows)

    def answer(self, technique: str, aggregate: str) -> tuple[np.ndarray, np.ndarray]:
        """The answers to all windows."""
        name, height = with_height(technique)
        inputs = AGGREGATES[aggregate]
        if technique == INDEX:
            return swept(aggregate, self.values, self.first, self.last, self.lo, self.hi, self.postpone)
        given = (self.values,) if inputs.dtypes else ()
        asked = (given, self.first, self.last, self.lo, self.hi, self.postpone)
        options = {"height": height} if height else {}
        return ANSWERS[str(name)].answers(inputs, *asked, **options)

    def answer_all(self, technique: str) -> None:
        """Count, sum and max."""
        for aggregate in AGGREGATES:
            self.answer(technique, aggregate)

    def task(self, technique: str) -> Callable[[], Any]:
        """What is timed: count, sum and max by a technique, or a whole query of them, a moment being a millisecond."""
        if technique != SASH:
            return lambda: self.answer_all(technique)
        (starts, ends, values), range_, slide, *_ = self.made_of
        times = {name: pa.array(at, pa.timestamp("ms")) for name, at in (("start", starts), ("end", ends))}
        wanted = {"n": sf.count(), "s": sf.sum("v"), "m": sf.max("v")}
        stream = sash.stream(pa.table({**times, "v": values}), span=("start", "end"))
        return stream.query(wanted, range=f"{range_} milliseconds", slide=f"{slide} milliseconds").results

    def state(self, technique: str) -> int:
        """The bytes that a technique keeps at most, for the worst of the aggregates; neither events nor answers."""
        return max(self._kept(technique, aggregate) for aggregate in ("sum", "max"))

    def _kept(self, technique: str, aggregate: str) -> int:
        given: list[list[np.ndarray]] = []

        def spying(*kind: Any) -> Any:
            made = specialise(*kind)

            def run(*arguments: Any) -> Any:
                given.append([each for each in arguments if isinstance(each, np.ndarray)])
                return made.run(*arguments)

            return SimpleNamespace(state=made.state, run=run)

        with patch.object(driving, "specialise", spying):
            answers = self.answer(technique, aggregate)
        apart = {id(array) for array in (self.first, self.last, self.lo, self.hi, *answers)}
        return max(sum(array.nbytes for array in arrays if id(array) not in apart) for arrays in given)


def footprint(technique: str, size: int, count: int, range_: int, slide: int) -> None:
    """What a fresh process does whose peak of memory is asked for."""
    Cut(synthetic(size, count), range_, slide).answer(technique, "count")


def throughputs(bench: Bench, cuts: Mapping[Any, Cut], techniques: Iterable[str], panel: str) -> Lines:
    """Millions of events a second by technique and point."""
    lines: Lines = {name: {} for name in techniques}
    for point, cut in cuts.items():
        given = {name: some for name in lines if (some := cut.affordable(name))}
        tasks = {name: some.task(name) for name, some in given.items()}
        for name, timing in bench.measure(tasks, f"{panel} @ {point}").items():
            lines[name][point] = len(given[name].first) / timing.median / 1e6
    return {name: line for name, line in lines.items() if line}


def overlapping(
    bench: Bench, ranges: Iterable[int], factors: Iterable[Any], techniques: Iterable[str], count: int
) -> dict:
    """Throughputs by range, for each size of events and range/slide of Figures 12 and 13."""
    found = {}
    for size in (500, 5000):
        for factor in factors:
            slides = {range_: range_ * 3 // 10 if factor == "10/3" else range_ // factor for range_ in ranges}
            cuts = {range_: Cut(synthetic(size, count), range_, slide) for range_, slide in slides.items()}
            found[size, factor] = throughputs(bench, cuts, techniques, f"size {size} @ range/slide {factor}")
    return found


def states(bench: Bench, cuts: Mapping[Any, Cut], techniques: Iterable[str], panel: str) -> Lines:
    """Bytes of state by technique and point, of one stream for all techniques that do not take too long."""
    lines: Lines = {name: {} for name in techniques}
    for point, cut in cuts.items():
        for name in lines:
            if cut.affordable(name):
                lines[name][point] = cut.state(name)
                bench.record(f"{name} @ {panel} @ {point}", lines[name][point], "bytes")
    return {name: line for name, line in lines.items() if line}


# What is read off lines


def gains(lines: Lines, ours: str, theirs: str) -> dict[Any, float]:
    """How many times the throughput of another a technique has, where both were measured."""
    mine, other = lines.get(ours, {}), lines.get(theirs, {})
    return {point: mine[point] / other[point] for point in mine if point in other}


def common(panels: Mapping[str, Lines], ours: str, theirs: str) -> dict[str, dict[Any, float]]:
    """The gains by panel, at those points only that all panels have."""
    found = {panel: gains(lines, ours, theirs) for panel, lines in panels.items()}
    shared = set.intersection(*(set(gain) for gain in found.values()))
    return {panel: {point: gain[point] for point in gain if point in shared} for panel, gain in found.items()}


def only(panels: Mapping[Any, Lines], keep: Callable[[Any, Any], bool]) -> dict[Any, Lines]:
    """The points for which ``keep(panel, point)`` is true."""
    return {
        panel: {name: {at: value for at, value in line.items() if keep(panel, at)} for name, line in lines.items()}
        for panel, lines in panels.items()
    }


def mean(values: Iterable[float]) -> float:
    """The geometric mean."""
    logs = [math.log(value) for value in values]
    return math.exp(sum(logs) / len(logs))


def wins(panels: Mapping[Any, Lines], ours: str, theirs: str) -> tuple[int, int]:
    """At how many points of all panels a technique is ahead, and of how many; one whose line has ended is behind."""
    found = [
        lines.get(ours, {}).get(point, 0.0) > lines.get(theirs, {}).get(point, 0.0)
        for lines in panels.values()
        for point in dict.fromkeys([*lines.get(ours, {}), *lines.get(theirs, {})])
    ]
    return sum(found), len(found)


def updates(panels: Mapping[Any, Lines], ours: Iterable[str] = ("slicing",)) -> str:
    """Why sweeping is ahead of what the paper has ahead of it, and how that is with the paper's own structure."""
    found = [wins(panels, name, INDEX) for name in ours]
    ratios = span(gain for lines in panels.values() for name in ours for gain in gains(lines, name, INDEX).values())
    ahead, of = sum(each for each, _ in found), sum(each for _, each in found)
    return (
        f"{UPDATES}; ahead of sweeping by such an index at {ahead} of {of} points, with {ratios} times its throughput"
    )


def claim_ahead(
    bench: Bench, paper: str, panels: Mapping[Any, Lines], ours: Iterable[str], theirs: Iterable[str], why: str = ""
) -> None:
    """Claim that techniques are ahead of others at every point; ``why`` is for where they are not."""
    pairs = [(one, other) for one in ours for other in theirs]
    found = [wins(panels, *pair) for pair in pairs]
    ahead, of = sum(each for each, _ in found), sum(each for _, each in found)
    ratios = span(gain for lines in panels.values() for pair in pairs for gain in gains(lines, *pair).values())
    here = f"at {ahead} of {of} points; {ratios} times the throughput"
    bench.claim(paper, here, ahead == of, why if ahead < of else "")


def memory_claims(bench: Bench, panels: Mapping[Any, Lines]) -> None:
    """What sections 6.2 and 6.4 say of the bytes that techniques keep."""
    alike, more, most = (
        [gain for lines in panels.values() for gain in gains(lines, name, "slicing").values()]
        for name in ("aggregate_buckets", "tuple_buckets", "sweeping")
    )
    bench.claim(
        "slicing and aggregate buckets use about the same memory",
        f"aggregate buckets keep {span(alike)} times the bytes of slicing",
        min(alike) > 0.5 and max(alike) < 2,
        "for sums, slicing keeps two partials a slice, aggregate buckets one a window" if min(alike) <= 0.5 else "",
    )
    bench.claim("tuple buckets use more", f"{span(more)} times the bytes of slicing", min(more) > 1)
    flat = max(max(each["sweeping"].values()) / min(each["sweeping"].values()) for each in panels.values())
    bench.claim(
        "sweeping uses more, and the same in all use cases",
        f"{span(most)} times the bytes of slicing; within {flat:.3g} times in a panel",
        min(most) > 1 and flat < 1.5,
        "for max it keeps events that begin after the window released last, of long ones fewer" if flat >= 1.5 else "",
    )


def spread(panels: Mapping[Any, Lines], technique: str) -> float:
    """The highest over the lowest throughput of a technique in all panels."""
    values = [value for lines in panels.values() for value in lines[technique].values()]
    return max(values) / min(values)


def ends(line: Mapping[Any, float]) -> tuple[float, float]:
    """The values at the least and at the greatest point of a line."""
    return line[min(line)], line[max(line)]


def span(values: Iterable[float]) -> str:
    """The least and the greatest of some numbers, in words."""
    listed = list(values)
    return f"{min(listed):.3g} to {max(listed):.3g}" if listed else "(none)"
