"""Events that last: the experiments of the 2021 paper, and Sash against a join on Spark: ``make bench-spans``.

Each technique takes events one by one as they end and releases windows, as in section 6 of the paper: count, sum and
max, one after the other, single-threaded; throughput is in millions of events a second, the best of two runs after one
to warm up. The stream is the paper's: one event a moment, lengths normal with a deviation of 10, windows that slide by
a fifth of their range and wait 15,000 moments.

``python -m bench.spans sizes heights ranges overlaps map calls flights insertions costs spark`` names parts;
``SASH_BENCH_EVENTS=200000`` tries it out.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
import time
from functools import cache

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import sash
from bench.timing import machine, seconds, table
from sash import functions as sf
from sash.algebra.catalogue import builtin
from sash.kernels.index.folding import exact
from sash.kernels.index.merging import state_of
from sash.kernels.inputs import Inputs
from sash.kernels.spans import ANSWERS, COVERS
from sash.planner.spans import HEIGHTS, Technique, choose, load_of

EVENTS = int(os.environ.get("SASH_BENCH_EVENTS", 1_000_000))
WAIT = 15_000
SLOW = 4e8  # steps after which a technique is left out; of tuple buckets a quarter, for their memory
AGGREGATES = ("count", "sum", "max")


@cache
def synthetic(size, count=EVENTS):
    """Starts, ends and values: one event a moment, as they end."""
    random = np.random.default_rng(1)
    lengths = np.maximum(random.normal(size, 10, count).astype(np.int64), 1)
    ends = np.arange(count) + lengths.max() + 1
    return ends - lengths, ends, random.random(count)


@cache
def calls(count=EVENTS * 16 // 5):
    """Call records of the shape of the SS7 set: a minute of ends, lengths of 16 seconds on average, in milliseconds."""
    random = np.random.default_rng(2)
    ends = 9_000_000 + np.sort(random.integers(0, 60_000, count))
    lengths = np.clip(random.lognormal(np.log(16_000) - 1.3**2 / 2, 1.3, count), 1, 9_000_000).astype(np.int64)
    return ends - lengths, ends, random.random(count)


class Cut:
    """Events in slices, and the windows over them."""

    def __init__(self, events, range_, slide):
        starts, ends, self.values = events
        base = int(starts.min()) // slide * slide - range_
        base -= base % slide
        edges = np.arange(base, int(ends.max()) + range_ + slide, slide)
        if range_ % slide:
            edges = np.unique(np.concatenate([edges, edges + range_ % slide]))
        self.first = np.searchsorted(edges, starts, "right") - 1
        self.last = np.searchsorted(edges, ends - 1, "right") - 1
        begins = np.arange(base, int(ends.max()), slide)
        self.lo, self.hi = np.searchsorted(edges, begins), np.searchsorted(edges, begins + range_)
        self.cells = len(edges)
        self.slice = slide if range_ % slide == 0 else slide / 2
        self.steps = (ends - starts).mean() / self.slice

    def took(self, technique, wait, **options):
        """The seconds of all aggregates, or None where it would take too long."""
        windows = len(self.first) * (self.steps + float((self.hi - self.lo).mean()))
        work = {"slicing": len(self.first) * self.steps, "multilevel_slicing": len(self.first) * self.steps / 4}
        work["tuple_buckets"] = 4 * windows
        if work.get(technique, 0 if technique == "sweeping" else windows) > SLOW:
            return None
        postpone = int(min(wait / self.slice, (self.last - self.first).max() + 1)) + 1
        total = 0.0
        for name in AGGREGATES:
            inputs = Inputs(builtin(name), () if name == "count" else (self.values.dtype,))
            given = () if name == "count" else (self.values,)
            ask = (inputs, given, self.first, self.last, self.lo, self.hi, postpone)
            total += min(_timed(lambda: ANSWERS[technique].answers(*ask, **options)) for _ in range(3))  # noqa: B023
        return total


def _timed(task):
    start = time.perf_counter()
    task()
    return time.perf_counter() - start


def rates(cut, wait=WAIT, heights=(4, 15)):
    """Throughput of each technique."""
    columns = [(name, {}) for name in ("tuple_buckets", "aggregate_buckets", "sweeping", "slicing")]
    columns += [("multilevel_slicing", {"height": height}) for height in heights]
    found = []
    for name, options in columns:
        took = cut.took(name, wait, **options)
        found.append(None if took is None else 3 * len(cut.first) / took / 1e6)
    return found


HEAD = ["tuple buckets", "aggregate buckets", "sweeping", "slicing"]


def sizes():
    """Figures 10 and 11: the size of events."""
    rows = [[f"{range_:,}", f"{size:,}", *rates(Cut(synthetic(size), range_, range_ // 5))]
            for range_ in (500, 5000, 10_000) for size in (1, 100, 1000, 5000, 15_000)]  # fmt: skip
    table("size of events", ["range", "size", *HEAD, "4 levels", "15 levels"], rows)


def heights():
    """Figure 13: heights of several levels."""
    rows = []
    for size in (500, 5000):
        for factor in (5, 50, 500):
            cut = Cut(synthetic(size), 5000, 5000 // factor)
            found = [cut.took("multilevel_slicing", WAIT, height=height) for height in (1, 2, 4, 7, 10, 15, 20)]
            rows.append([f"{size:,}", factor, *(None if each is None else 3 * EVENTS / each / 1e6 for each in found)])
    table("levels, range 5,000", ["size", "range/slide", "1", "2", "4", "7", "10", "15", "20"], rows)


def ranges():
    """Figure 12: ranges, and ranges that the slide does not divide."""
    rows = []
    for range_, slide in ((100, 20), (1000, 200), (1000, 300), (10_000, 2000), (10_000, 3000), (50_000, 10_000)):
        rows.append([f"{range_:,}", f"{slide:,}", *rates(Cut(synthetic(500), range_, slide))])
    table("ranges, events of 500", ["range", "slide", *HEAD, "4 levels", "15 levels"], rows)


def overlaps():
    """Figures 12 and 13: how many windows overlap."""
    rows = [[factor, *rates(Cut(synthetic(size), 5000, 5000 // factor)), f"{size:,}"]
            for size in (500, 5000) for factor in (5, 50, 500)]  # fmt: skip
    table("overlapping windows, range 5,000", ["range/slide", *HEAD, "4 levels", "15 levels", "size"], rows)


def map():
    """Figure 15: the technique that folds a batch of events into slices the fastest, and the planner's."""
    rows, within, points = [], 0, 0
    for size in (10, 100, 1000, 10_000):
        for slide in (10, 100, 1000):
            starts, ends, values = synthetic(size, 1_000_000)
            begin, end = starts // slide, (ends - 1) // slide + 1
            begin, end = begin - begin.min(), end - begin.min()
            for name in AGGREGATES:
                inputs = Inputs(builtin(name), () if name == "count" else (values.dtype,))
                given = () if name == "count" else (values,)
                found = _covers(inputs, given, begin, end)
                best = min(found, key=found.get)
                chosen = choose(inputs.aggregate, exact(state_of(inputs)), load_of(end - begin, int(end.max())))
                loss = found[chosen] / found[best]
                points, within = points + 1, within + (loss <= 1.1)
                rows.append([f"{size:,}", f"{slide:,}", name, _named(best), _named(chosen), found[best] * 1e3, loss])
    table(f"the map: {within} of {points} points within 10 % of the best",
          ["size", "slice", "aggregate", "best", "chosen", "best, ms", "chosen over best"], rows)  # fmt: skip


def _covers(inputs, given, begin, end):
    found = {}
    cells = int(end.max())
    techniques = [Technique("slicing"), *(Technique("multilevel_slicing", height) for height in HEIGHTS)]
    if inputs.aggregate.invertible and exact(state_of(inputs)):
        techniques.append(Technique("difference"))
    if inputs.aggregate.selective:
        techniques.append(Technique("doubling"))
    for each in techniques:
        options = {"height": each.height} if each.name == "multilevel_slicing" else {}

        def run(each=each, options=options):
            states, held = np.zeros(cells, state_of(inputs)), np.zeros(cells, np.uint8)
            COVERS[each.name].cover(inputs, given, begin, end, states, held, **options)

        run()
        found[each] = min(_timed(run) for _ in range(3))
    return found


def _named(technique):
    return f"{technique.height} levels" if technique.height > 1 else technique.name


def calls_():
    """Figure 14: call records, for windows of 1 to 60 seconds that slide by a fifth."""
    rows = []
    for range_ in (1000, 5000, 20_000, 60_000):
        found = rates(Cut(calls(), range_, range_ // 5), wait=9_000_000)
        slicing, whole = found[3], _whole(calls(), range_)
        times = [slicing / each if each and slicing else None for each in found[:3]]
        rows.append([f"{range_ // 1000} s", *found, whole, *times])
    table(
        "call records",
        ["range", *HEAD, "4 levels", "15 levels", "a query", "slicing over tuple", "aggregate", "sweeping"],
        rows,
    )


def _whole(events, range_):
    """Throughput of a whole query of the three aggregates, from table to table, by the techniques that Sash chooses."""
    starts, ends, values = events
    moments = {"start": pa.array(starts * 1000, pa.timestamp("us")), "end": pa.array(ends * 1000, pa.timestamp("us"))}
    board = sash.stream(pa.table({**moments, "v": values}), span=("start", "end"))
    queries = {"n": sf.count(), "s": sf.sum("v"), "m": sf.max("v")}
    board = board.query(queries, range=f"{range_} milliseconds", slide=f"{range_ // 5} milliseconds")
    return 3 * len(starts) / seconds(board.results, repeat=3) / 1e6


def flights():
    """Aircraft in the air by airport, every 5 minutes over 15: the whole query, from table to table."""
    from examples.aircraft import flown

    flown_ = flown()
    board = sash.stream(flown_, span=("left", "landed"), key="origin")
    board = board.query("up", sf.count(), range="15 minutes", slide="5 minutes")
    took = seconds(board.results, repeat=3)
    table(
        "flights", ["flights", "answers", "ms"], [[f"{flown_.num_rows:,}", f"{board.results().num_rows:,}", took * 1e3]]
    )


def insertions():
    """Insertions a second for one key: the kernel, and a whole query of batches of a million."""
    starts, ends, values = synthetic(16, 1_000_000)
    begin = starts // 1000
    end = (ends - 1) // 1000 + 1
    rows = []
    for name, technique in (("count", "slicing"), ("count", "difference"), ("max", "slicing")):
        inputs = Inputs(builtin(name), () if name == "count" else (values.dtype,))
        states, held = np.zeros(int(end.max()), state_of(inputs)), np.zeros(int(end.max()), np.uint8)
        given = () if name == "count" else (values,)
        took = seconds(lambda: COVERS[technique].cover(inputs, given, begin, end, states, held))  # noqa: B023
        rows.append([f"kernel: {name} by {technique}", 1e6 * len(begin) / took / 1e12])
    events = pa.table({"start": starts, "end": ends, "v": values})
    events = events.set_column(0, "start", events["start"].cast(pa.timestamp("us")))
    events = events.set_column(1, "end", events["end"].cast(pa.timestamp("us")))
    for name, call in (("count", sf.count()), ("count, sum and max", None)):
        board = sash.stream(events, span=("start", "end"))
        queries = {"q": call} if call else {"n": sf.count(), "s": sf.sum("v"), "m": sf.max("v")}
        board = board.query(queries, range="5 milliseconds", slide="1 millisecond")
        took = seconds(board.results, repeat=3)
        rows.append([f"query: {name}", len(starts) / took / 1e6])
    table("insertions for one key", ["what", "million a second"], rows)


def costs():
    """What the planner's cost model is made of: nanoseconds an event."""
    rows = []
    for each in (1, 3, 10, 100, 1000):
        random = np.random.default_rng(3)
        begin = np.sort(random.integers(0, 100_000, 1_000_000))
        end = begin + each
        for name in AGGREGATES:
            values = random.random(len(begin))
            inputs = Inputs(builtin(name), () if name == "count" else (values.dtype,))
            given = () if name == "count" else (values,)
            found = _covers(inputs, given, begin, end)
            rows.append([each, name, *(found.get(Technique(kind, height)) and found[Technique(kind, height)] * 1e3
                                       for kind, height in COLUMNS)])  # fmt: skip
    table("folding events into cells", ["cells", "aggregate", *(_named(Technique(*each)) for each in COLUMNS)], rows)


COLUMNS = (("slicing", 1), ("difference", 1), ("doubling", 1), *(("multilevel_slicing", height) for height in HEIGHTS))


def spark():
    """Against a join with a generated table of windows, on Spark, at range/slide 60."""
    from bench.spark_streams import FOLDER, session

    count, spark_ = 4 * EVENTS, session()
    random = np.random.default_rng(4)
    ends = 1_767_225_600_000_000 + np.sort(random.integers(0, 3 * 3600 * 10**6, count))
    lengths = random.exponential(120e6, count).astype(np.int64)
    moment = pa.timestamp("us", "UTC")
    data = {"start": pa.array(ends - lengths, moment), "end": pa.array(ends, moment),
            "antenna": random.integers(0, 100, count), "bytes": random.random(count)}  # fmt: skip
    folder = tempfile.mkdtemp(dir=FOLDER)
    pq.write_table(pa.table(data), f"{folder}/calls.parquet")
    frame = spark_.read.parquet(folder)
    frame.createOrReplaceTempView("calls")
    board = sash.stream(frame, span=("start", "end"), key="antenna")
    board = board.query({"busy": sf.count(), "bytes": sf.sum("bytes")}, range="10 minutes", slide="10 seconds")
    joined = spark_.sql("""
        with numbers as (
            select explode(sequence(
                floor(unix_seconds(min(start)) / 10) - 60, ceil(unix_seconds(max(end)) / 10))) as n from calls),
        windows as (select timestamp_seconds(n * 10) as lo, timestamp_seconds(n * 10 + 600) as hi from numbers)
        select antenna, hi as window_end, count(*) as busy, sum(bytes) as bytes
        from calls join windows on start < hi and end > lo group by antenna, hi""")
    exploded = spark_.sql("""
        with placed as (
            select antenna, bytes, explode(sequence(
                floor(unix_seconds(start) / 10) - 59, ceil(unix_micros(end) / 1e7) - 1)) as n from calls)
        select antenna, timestamp_seconds(n * 10 + 600) as window_end, count(*) as busy, sum(bytes) as bytes
        from placed group by antenna, n""")
    found = [_timed(lambda: each.write.format("noop").mode("overwrite").save())  # noqa: B023
             for each in (board.results(), board.results(), exploded, exploded)]  # fmt: skip
    assert board.results().count() == exploded.count()
    join = _timed(lambda: joined.write.format("noop").mode("overwrite").save())
    head = ["Sash", "join", "times", "windows exploded", "times"]
    row = [f"{found[1]:.1f} s", f"{join:.1f} s", join / found[1], f"{found[3]:.1f} s", found[3] / found[1]]
    table(f"{count:,} calls on Spark, range 10 minutes, slide 10 seconds", head, [row])
    shutil.rmtree(folder, ignore_errors=True)


PARTS = {"sizes": sizes, "heights": heights, "ranges": ranges, "overlaps": overlaps, "map": map, "calls": calls_,
         "flights": flights, "insertions": insertions, "costs": costs, "spark": spark}  # fmt: skip


def main():
    """The parts that are asked for."""
    print(machine())
    for part in sys.argv[1:] or PARTS:
        PARTS[part]()


if __name__ == "__main__":
    main()
