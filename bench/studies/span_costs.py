"""What the planner knows of events that last: the costs of folding them into cells, and whether it chooses the best.

A batch of events that cover 1 to 1,000 cells each is folded by every technique that works on cells, on one thread;
nanoseconds an event are what ``src/sash/planner/techniques.py`` is made of. Insertions are for one key: by a kernel
alone, and by a whole query from table to table. The techniques that take events one by one are in
``papers.spans_2021``.
"""

from __future__ import annotations

import os
from dataclasses import replace

os.environ["SASH_THREADS"] = "1"

from functools import partial

import numpy as np
import pyarrow as pa

import sash
from bench.papers.spans_2021._common import AGGREGATES, synthetic
from sash import functions as sf
from sash.kernels.inputs import exact
from sash.kernels.operations.merging import state_of
from sash.kernels.spans import difference, doubling, slicing
from sash.kernels.spans.load import load_of
from sash.kernels.spans.multilevel_slicing import COVERING as LEVELS
from sash.planner import cheapest

TITLE = "Events that last: what folding costs, and what the planner chooses"
EACH = (1, 3, 10, 100, 1_000)  # cells that an event covers
TECHNIQUES = (slicing.COVERING, difference.COVERING, doubling.COVERING, *LEVELS.variants)


def run(bench):
    events = bench.pick(1_000_000, 20_000)
    costs(bench, events)
    insertions(bench, events)


def costs(bench, events):
    """A table of nanoseconds an event."""
    lines, ratios = [], []
    for each in EACH:
        random = np.random.default_rng(3)
        begin, values = np.sort(random.integers(0, events // 10, events)), random.random(events)
        for name, inputs in AGGREGATES.items():
            found = covered(bench, inputs, values, begin, begin + each, f"{name}, {each} cells")
            load = load_of(np.full(events, each), events // 10 + each)
            chosen = cheapest(replace(load, aggregate=inputs.aggregate, exact=exact(state_of(inputs)))).algorithm
            ratios.append(found[chosen] / min(found.values()))
            nanoseconds = (found[one] / events * 1e9 if one in found else None for one in TECHNIQUES)
            lines.append([each, name, *nanoseconds, named(chosen), ratios[-1]])
    within = sum(ratio <= 1.1 for ratio in ratios)
    head = ["cells", "aggregate", *map(named, TECHNIQUES), "chosen", "chosen over best"]
    bench.table(f"nanoseconds an event; {within} of {len(ratios)} choices within 10 % of the best", head, lines)


def covered(bench, inputs, values, begin, end, at):
    """The seconds of each technique that can fold these events."""
    able = {"difference": inputs.aggregate.invertible and exact(state_of(inputs)),
            "doubling": inputs.aggregate.selective}  # fmt: skip
    techniques = {named(each): each for each in TECHNIQUES if able.get(each.name, True)}
    tasks = {name: partial(cover, each, inputs, values, begin, end) for name, each in techniques.items()}
    return {techniques[name]: timing.median for name, timing in bench.measure(tasks, at).items()}


def cover(technique, inputs, values, begin, end):
    """Fold events into fresh cells."""
    cells = int(end[-1]) + 1
    states, held = np.zeros(cells, state_of(inputs)), np.zeros(cells, np.uint8)
    technique.run(inputs, (values,) if inputs.dtypes else (), begin, end, states, held)


def insertions(bench, events):
    """A table of millions of insertions a second."""
    starts, ends, values = synthetic(16, events)
    begin, end = starts // 1000, (ends - 1) // 1000 + 1
    tasks = {
        f"kernel, {name} by {technique.COVERING.name}": partial(
            cover, technique.COVERING, AGGREGATES[name], values, begin, end
        )
        for name, technique in (("count", slicing), ("count", difference), ("max", slicing))
    }
    moments = {"start": pa.array(starts, pa.timestamp("us")), "end": pa.array(ends, pa.timestamp("us"))}
    stream = sash.stream(pa.table({**moments, "v": values}), span=("start", "end"))
    queries = {"count": {"n": sf.count()}, "count, sum and max": {"n": sf.count(), "s": sf.sum("v"), "m": sf.max("v")}}
    for name, calls in queries.items():
        tasks[f"query, {name}"] = stream.query(calls, range="5 milliseconds", slide="1 millisecond").results
    times = bench.measure(tasks, "insertions")
    lines = [[name, events / timing.median / 1e6] for name, timing in times.items()]
    bench.table("insertions for one key: millions a second", ["", "million events/s"], lines)


def named(technique):
    return f"{technique.height} levels" if technique in LEVELS.variants else technique.name
