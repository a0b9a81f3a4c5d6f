"""Continuous queries, in process: ``make bench-streams``, or ``python -m bench.streams PART…``.

Millions of events a second, from an Arrow table to an Arrow table; doubles 1 ms apart unless said. Ratios are within
one run; medians of ``SASH_BENCH_REPEAT`` runs after one to warm up, but what takes longer than ``LONG`` seconds runs
once. ``SASH_BENCH_ROWS`` events go to one key; where answers multiply or peers are slow there are fewer, as the titles
say. Polars has all threads and its frames in memory, DuckDB has all threads and a table of its own. Before a peer is
timed its answers are compared with ours: how many, and a checksum. quixstreams needs a Kafka broker, so it is left out.
"""

from __future__ import annotations

import datetime
import functools
import importlib
import os
import statistics
import sys
import threading
import time

import numpy as np
import pyarrow as pa

import sash
from bench.timing import machine, table
from sash import functions as sf

ROWS = int(os.environ.get("SASH_BENCH_ROWS", 20_000_000))
REPEAT = int(os.environ.get("SASH_BENCH_REPEAT", 3))
LONG = 10.0  # seconds: a task that takes longer is not repeated
BATCH = 100_000
MICROS = 1_000_000
NAMES = {"avg": ("mean", "avg({})"), "count_distinct": ("n_unique", "count(distinct {})")}  # Polars, SQL
FOLDS = {  # what Bytewax begins with, how it takes an event, and what it makes of the end
    "max": (lambda: -np.inf, lambda most, event: event[1] if event[1] > most else most, lambda most: most),
    "avg": (lambda: (0.0, 0), lambda now, event: (now[0] + event[1], now[1] + 1), lambda now: now[0] / now[1]),
    "median": (list, lambda values, event: values.append(event[1]) or values, statistics.median),
}


def events(rows, keys=1, gap=1000, late=0.0):
    """Events a gap of microseconds apart, some of them up to five seconds later in the table than their time."""
    random, at = np.random.default_rng(0), np.arange(rows) * gap
    if late:
        arrival = at + np.where(random.random(rows) < late, random.integers(0, 5 * MICROS, rows), 0)
        at = at[np.argsort(arrival, kind="stable")]
    columns = {"ts": pa.array(at, pa.timestamp("us")), "key": random.integers(0, keys, rows)}
    return pa.table(columns | {"value": random.normal(size=rows), "user": random.integers(0, 10_000, rows)})


def board(data, call, length, slide, keys=1, watermark=None):
    """A board with one query; length and slide in seconds."""
    stream = sash.stream(data, time="ts", key="key" if keys > 1 else None, watermark=watermark)
    return stream.query("answer", call, range=f"{length} seconds", slide=f"{slide} seconds")


def pushed(asked, data):
    """A function that pushes the events through an operator in batches, and closes it."""
    batches = [data.slice(at, BATCH) for at in range(0, data.num_rows, BATCH)]

    def run():
        operator = asked.open()
        return pa.concat_tables([*map(operator.push, batches), operator.close()])

    return run


def seconds(task, warm=True):
    """The median time of a task after one run to warm up, or that run's where it is long."""
    times = []
    for _ in range(REPEAT + warm):
        start = time.perf_counter()
        task()
        times.append(time.perf_counter() - start)
        if times[0] > LONG:
            return times[0]
    return statistics.median(times[warm:])


def keys():
    """One query over 1, 100 and 100,000 keys, in order and a tenth of the events out of order."""
    many, figures = 100_000, []
    cases = [(1, 60, 1, ROWS), (100, 60, 1, ROWS // 4), (many, 60, 60, ROWS // 10), (many, 60, 10, ROWS // 10)]
    for count, length, slide, rows in cases:
        data = (events(rows, count, late=late) for late in (0.0, 0.1))
        boards = [board(each, sf.max("value"), length, slide, count) for each in data]
        answers, rates = boards[0].results().num_rows, [rows / seconds(each.results) / 1e6 for each in boards]
        figures.append([f"{count:,}", f"{length} s / {slide} s", f"{rows:,}", f"{answers:,}", *rates])
    head = ["keys", "windows", "events", "answers", "in order, M/s", "10 % late, M/s"]
    table("max, whole tables: M events/s", head, figures)
    print("  100,000 keys: not 60 s / 1 s, where answers outnumber events by far")


def queries():
    """Queries that share a stream against the same queries apart."""
    rows, sample, random, figures = ROWS // 10, 10, np.random.default_rng(1), []
    stream = sash.stream(events(rows), time="ts")
    calls = sf.max("value"), sf.avg("value"), sf.stddev("value")
    drawn = random.integers([10, 1], [701, 11], (1000, 2))
    windows = [{"range": f"{length} seconds", "slide": f"{slide} seconds"} for length, slide in drawn]
    asked = [(f"q{k}", calls[k % 3], window) for k, window in enumerate(windows)]
    apart = [seconds(stream.query(name, call, **window).results) for name, call, window in asked[:sample]]
    one = statistics.mean(apart)
    for count in (1, 10, 100, 1000):
        start, shared = time.perf_counter(), stream
        for name, call, window in asked[:count]:
            shared = shared.query(name, call, **window)
        made = time.perf_counter() - start
        took, alone = seconds(shared.results), apart[0] if count == 1 else one * count
        figures.append([f"{count:,}", made, rows / took / 1e6, rows / alone / 1e6, took / one, alone / took])
    head = ["queries", "board made, s", "shared, M/s", "apart, M/s", "shared time / one query", "apart / shared"]
    table(f"max, avg and stddev over 10..700 s by 1..10 s, {rows:,} events: M events/s", head, figures)
    print(f"  one query is the mean of the first {sample} apart; apart, 100 and 1,000 are scaled from these")


def ratios(slide=0.1):
    """Windows of 1 to 100,000 slides: the cost of an event should not change."""
    data, figures = events(ROWS), []
    for ratio in (1, 10, 100, 1_000, 10_000, 100_000):
        cells = []
        for call in (sf.max("value"), sf.avg("value")):
            whole, part = (board(data, call, slide * ratio, slide, watermark=mark) for mark in (None, "0 seconds"))
            cells += [ROWS / seconds(task) / 1e6 for task in (whole.results, pushed(part, data))]
        figures.append([f"{ratio:,}", *cells])
    head = ["range / slide", "max, whole", "max, batches", "avg, whole", "avg, batches"]
    table(f"one key, slide {slide} s, {ROWS:,} events, batches of {BATCH:,}: M events/s", head, figures)


def disorder():
    """Batches with a watermark, in order and a tenth of the events out of order."""
    figures = []
    for count, rows in ((1, ROWS), (100, ROWS // 4)):
        for name in ("max", "avg", "median"):
            given = rows // 10 if name == "median" else rows
            call, data = getattr(sf, name)("value"), [events(given, count, late=late) for late in (0.0, 0.1)]
            boards = [board(each, call, 60, 1, count, watermark="5 seconds") for each in data]
            ordered, late = (seconds(pushed(*pair)) for pair in zip(boards, data, strict=True))
            figures.append([name, count, f"{given:,}", given / ordered / 1e6, given / late / 1e6, late / ordered])
    head = ["", "keys", "events", "in order, M/s", "10 % late, M/s", "late time / in order"]
    table(f"60 s / 1 s, batches of {BATCH:,}, watermark 5 seconds: M events/s", head, figures)


class Case:
    """One aggregate over windows of one length and slide, in every language; answers are (ends, values)."""

    def __init__(self, name, length, slide, keys, rows, gap=1000):
        self.name, self.length, self.slide, self.keys, self.rows, self.gap = name, length, slide, keys, rows, gap
        self.data, self.notes = events(rows, keys, gap), []
        self.column = "user" if name == "count_distinct" else "value"
        self.polars_name, self.sql = NAMES.get(name, (name, f"{name}({{}})"))
        self.title = [f"{name}, {keys} key{'s' * (keys > 1)}, {length} s / {slide} s", f"{rows:,}"]
        self.asked = board(self.data, getattr(sf, name)(self.column), length, slide, keys)

    def answers(self):
        given = self.asked.results()
        return given["window_end"], given["answer"]

    def seconds_of(self, label, task):
        """The time of a peer's task, whose first answers are compared with ours."""
        start, answers = time.perf_counter(), task()
        took = time.perf_counter() - start
        until = self.rows * self.gap + (0 if label == "River" else self.length * MICROS)
        mine, theirs = self._sums(self.answers(), until), self._sums(answers, until)
        if mine[0] != theirs[0] or not np.isclose(mine[1], theirs[1], rtol=1e-8, atol=1e-6):
            print(f"  DIFFERENT ANSWERS: {label}, {self.title[0]}: rows and checksum {theirs}, Sash {mine}")
        return took if took > LONG else seconds(task, warm=False)

    def _sums(self, answers, until):
        ends = np.asarray(answers[0]).astype("datetime64[us]").astype(np.int64)
        kept = (ends >= self.length * MICROS) & (ends <= until)  # Polars has no windows that begin before the events
        return int(kept.sum()), float(np.dot(np.asarray(answers[1], float)[kept], ends[kept] // MICROS % 1009))


class Polars:
    """group_by_dynamic, and the rolling functions at rows put between the events where windows end."""

    def __init__(self, case):
        self.pl, self.case = importlib.import_module("polars"), case
        self.data = self.pl.from_arrow(case.data)
        self.by = ["key"] if case.keys > 1 else []

    def dynamic(self):
        case, pl = self.case, self.pl
        extent = {"every": f"{case.slide}s", "period": f"{case.length}s", "group_by": self.by or None}
        given = self.data.group_by_dynamic("ts", **extent).agg(answer=getattr(pl.col(case.column), case.polars_name)())
        return given["ts"].dt.offset_by(f"{case.length}s"), given["answer"]

    def rolling(self):
        case, pl = self.case, self.pl
        ends = np.arange(case.slide * MICROS, case.rows * case.gap + case.length * MICROS, case.slide * MICROS)
        edges = pl.DataFrame({"ts": ends.astype("datetime64[us]")})
        edges = edges.join(self.data.select(self.by).unique(), how="cross") if self.by else edges
        edges = edges.with_columns(pl.lit(None, pl.Float64).alias("value"), edge=pl.lit(True))
        both = self.data.select("ts", *self.by, "value", edge=pl.lit(False)).merge_sorted(edges, key="ts")
        rolling = getattr(pl.col("value"), f"rolling_{case.polars_name}_by")
        answer = rolling("ts", window_size=f"{case.length}s", closed="left")
        given = both.with_columns(answer=answer.over(self.by) if self.by else answer)
        given = given.filter("edge", pl.col("answer").is_not_null())
        return given["ts"], given["answer"]


class DuckDB:
    """A join of windows with their events, or a RANGE frame at rows put where windows end: whichever is faster."""

    def __init__(self, case):
        self.connection = importlib.import_module("duckdb").connect()
        self.connection.register("given", case.data)
        self.connection.execute("create table events as select * from given")
        self.case, self.by = case, "key, " if case.keys > 1 else ""
        start, _ = time.perf_counter(), self.run(self.join())
        faster = self.within(time.perf_counter() - start, self.frame())
        case.notes.append("frame" if faster else "join")
        self.answers = functools.partial(self.run, self.frame() if faster else self.join())

    def within(self, limit, query):
        """Whether a query takes less than a time; it is stopped then."""
        timer = threading.Timer(limit, self.connection.interrupt)
        timer.start()
        try:
            return bool(self.run(query))
        except importlib.import_module("duckdb").InterruptException:
            return False
        finally:
            timer.cancel()

    def run(self, query):
        given = self.connection.sql(query).to_arrow_table()
        return given["e"], given["answer"]

    def _ends(self):
        slide, length = (f"interval {given} second" for given in (self.case.slide, self.case.length))
        return f"(select unnest(generate_series(min(ts) + {slide}, max(ts) + {length}, {slide})) as e from events)"

    def join(self):
        answer, by = self.case.sql.format(self.case.column), self.by
        within = f"ts < e and ts >= e - interval {self.case.length} second"
        return f"select {by} e, {answer} as answer from events join {self._ends()} on {within} group by {by} e"

    def frame(self):
        by, column, tick = self.by, self.case.column, "interval 1 microsecond"
        edges = self._ends() + (" cross join (select distinct key from events)" if by else "")
        added = f"select {by} e - {tick}, null, true from {edges}"
        both = f"select {by} ts, {column}, false as edge from events union all {added}"
        window = f"{'partition by key' if by else ''} order by ts range between"
        window += f" interval {self.case.length * MICROS - 1} microsecond preceding and current row"
        query = f"select {by} ts + {tick} as e, {self.case.sql.format(column)} over ({window}) as answer from ({both})"
        return f"{query} qualify edge and answer <> 0"  # of no events: NULL or 0


def river_task(case):
    """River's rolling statistics over as many events as a window has, read where windows end; for one key."""
    from river import stats, utils

    size, step = (round(length * MICROS / case.gap) for length in (case.length, case.slide))
    makers = {"max": stats.RollingMax, "avg": functools.partial(utils.Rolling, stats.Mean)}
    makers["median"] = functools.partial(stats.RollingQuantile, 0.5)
    values = case.data["value"].to_pylist()

    def run():
        rolling, answers = makers[case.name](window_size=size), []
        for count, value in enumerate(values, 1):
            rolling.update(value)
            if count % step == 0:
                answers.append(rolling.get())
        return np.arange(1, len(answers) + 1) * case.slide * MICROS, answers

    return run


def bytewax_task(case):
    """Bytewax's sliding windows in one worker, as a fold."""
    from bytewax import dataflow, operators, testing
    from bytewax.operators import windowing

    epoch, span = datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC), datetime.timedelta
    begin, fold, end = FOLDS[case.name]
    columns = (case.data[name].to_pylist() for name in ("key", "ts", "value"))
    given = [(str(key), (at.replace(tzinfo=datetime.UTC), value)) for key, at, value in zip(*columns, strict=True)]

    def run():
        flow, out = dataflow.Dataflow("windows"), []
        source = operators.input("in", flow, testing.TestingSource(given, batch_size=1000))
        # The clock stands still: with the system's, the watermark moves while Bytewax computes.
        clock = windowing.EventClock(lambda event: event[0], span(0), now_getter=lambda: epoch)
        windower = windowing.SlidingWindower(span(seconds=case.length), span(seconds=case.slide), epoch)
        windows = windowing.fold_window("fold", source, clock, windower, begin, fold, max)  # only sessions merge
        operators.output("out", windows.down, testing.TestingSink(out))
        testing.run_main(flow)
        ends = np.array([window for _, (window, _) in out]) * case.slide + case.length
        return ends * MICROS, [end(state) for _, (_, state) in out]

    return run


@functools.cache
def present(module):
    """Whether a peer can be imported; says so where it cannot."""
    try:
        importlib.import_module(module)
    except ImportError as error:
        print(f"  {module.partition('.')[0]} is left out: {error}")
        return False
    return True


PEERS = {
    "dynamic": ("polars", lambda case: Polars(case).dynamic),
    "rolling": ("polars", lambda case: Polars(case).rolling if case.column == "value" else None),  # not distinct
    "DuckDB": ("duckdb", lambda case: DuckDB(case).answers),
    "River": ("river.stats", lambda case: river_task(case) if case.keys == 1 else None),
    "Bytewax": ("bytewax.operators.windowing", bytewax_task),
}
COLUMNAR = ["dynamic", "rolling", "DuckDB"]


def compare(title, cases, names):
    """Sash and some peers, on the same events; DuckDB with the form that was faster."""
    figures = []
    for case in cases:
        ours, made = seconds(case.answers), [(name, *PEERS[name]) for name in names]
        tasks = [(name, make(case) if present(module) else None) for name, module, make in made]
        times = [task and case.seconds_of(name, task) for name, task in tasks]
        rates = [took and case.rows / took / 1e6 for took in (ours, *times)]
        figures.append([*case.title, *rates, *(took and took / ours for took in times), *case.notes])
    head = ["case", "events", "Sash", *names, *(f"{name} / Sash" for name in names), *["DuckDB by"] * len(case.notes)]
    table(f"{title}: M events/s, then peer time / Sash time", head, figures)


def peers():
    """Overlapping windows: the columnar peers."""
    names, windows = ("max", "avg", "median"), ((600, 10), (60, 1))
    cases = [(name, *window, count) for window in windows for count in (1, 100) for name in names]
    compare("overlapping windows, Polars and DuckDB", (Case(*case, ROWS // 10) for case in cases), COLUMNAR)


def one_by_one():
    """Overlapping windows: the peers that take events one at a time."""
    cases = [(name, 60, 1, count) for count in (1, 100) for name in ("max", "avg")]
    compare("events 10 ms apart", (Case(*case, min(ROWS, 100_000), gap=10_000) for case in cases), ["River", "Bytewax"])
    print("  both take rows one at a time, in Python; River's windows are by rows, so it has one key only")


def holistic():
    """What no partial holds: windows need their rows."""
    cases = [(name, count) for count in (1, 100) for name in ("median", "count_distinct")]
    compare("holistic", (Case(name, 600, 10, count, ROWS // 10) for name, count in cases), COLUMNAR)


PARTS = {part.__name__: part for part in (keys, queries, ratios, peers, one_by_one, disorder, holistic)}

if __name__ == "__main__":
    print(machine())
    for part in sys.argv[1:] or PARTS:
        PARTS[part]()
