"""Overlapping windows over events, in the languages of the peers; every answer is (ends of windows, values)."""

from __future__ import annotations

import datetime
import functools
import statistics

import numpy as np
import polars as pl
import pyarrow as pa

import sash
from bench.harness.measuring import Stopped, once
from bench.peers._duckdb import Duck
from sash import functions as sf

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


class Case:
    """One aggregate over windows of one length and slide."""

    def __init__(self, name, length, slide, keys, rows, gap=1000):
        self.name, self.length, self.slide, self.keys, self.rows, self.gap = name, length, slide, keys, rows, gap
        self.data = events(rows, keys, gap)
        self.column = "user" if name == "count_distinct" else "value"
        self.polars, self.sql = NAMES.get(name, (name, f"{name}({{}})"))
        self.asked = board(self.data, getattr(sf, name)(self.column), length, slide, keys)

    def __str__(self):
        what = f"{self.name}, {self.keys} key{'s' * (self.keys > 1)}"
        return f"{what}, windows of {self.length} s every {self.slide} s, {self.rows:,} events"

    def answers(self):
        given = self.asked.results()
        return given["window_end"], given["answer"]

    def pushed(self, rows):
        """A function that pushes the events in batches of so many rows, as they would come."""
        asked = board(self.data, getattr(sf, self.name)(self.column), self.length, self.slide, self.keys, "0 seconds")
        batches = [self.data.slice(at, rows) for at in range(0, self.rows, rows)]

        def run():
            operator = asked.open()
            given = pa.concat_tables([*map(operator.push, batches), operator.close()])
            return given["window_end"], given["answer"]

        return run

    def check(self, peer, answers):
        """Raise unless a peer's answers are ours: as many, with the same checksum.

        River has no windows beyond the last event, Polars none that begin before the first.
        """
        until = self.rows * self.gap + (0 if peer == "River" else self.length * MICROS)
        mine, theirs = self._sums(self.answers(), until), self._sums(answers, until)
        if mine[0] != theirs[0] or not np.isclose(mine[1], theirs[1], rtol=1e-8, atol=1e-6):
            raise AssertionError(f"{peer} has other answers to {self}: {theirs}, Sash {mine}")

    def _sums(self, answers, until):
        ends = np.asarray(answers[0]).astype("datetime64[us]").astype(np.int64)
        kept = (ends >= self.length * MICROS) & (ends <= until)
        return int(kept.sum()), float(np.dot(np.asarray(answers[1], float)[kept], ends[kept] // MICROS % 1009))


class Polars:
    """group_by_dynamic, and the rolling functions at rows put between the events where windows end."""

    def __init__(self, case):
        self.case, self.data = case, pl.from_arrow(case.data)
        self.by = ["key"] if case.keys > 1 else []

    def dynamic(self):
        case = self.case
        extent = {"every": f"{case.slide}s", "period": f"{case.length}s", "group_by": self.by or None}
        given = self.data.group_by_dynamic("ts", **extent).agg(answer=getattr(pl.col(case.column), case.polars)())
        return given["ts"].dt.offset_by(f"{case.length}s"), given["answer"]

    def rolling(self):
        case = self.case
        ends = np.arange(case.slide * MICROS, case.rows * case.gap + case.length * MICROS, case.slide * MICROS)
        edges = pl.DataFrame({"ts": ends.astype("datetime64[us]")})
        edges = edges.join(self.data.select(self.by).unique(), how="cross") if self.by else edges
        edges = edges.with_columns(pl.lit(None, pl.Float64).alias("value"), edge=pl.lit(True))
        both = self.data.select("ts", *self.by, "value", edge=pl.lit(False)).merge_sorted(edges, key="ts")
        rolling = getattr(pl.col("value"), f"rolling_{case.polars}_by")
        answer = rolling("ts", window_size=f"{case.length}s", closed="left")
        given = both.with_columns(answer=answer.over(self.by) if self.by else answer)
        given = given.filter("edge", pl.col("answer").is_not_null())
        return given["ts"], given["answer"]

    def sliced(self):
        """Partials of slices, which have no gaps here, and a rolling function over them."""
        case, size = self.case, self.case.length // self.case.slide
        if self.by:
            return self._sliced_by_key(size)
        partials = pl.col("value").max(), pl.col("value").sum().alias("sum"), pl.len().alias("rows")
        slices = self.data.group_by_dynamic("ts", every=f"{case.slide}s").agg(*partials)
        tail = slices.select("ts")[-1:].join(pl.DataFrame({"n": np.arange(1, size)}), how="cross")
        tail = tail.select(pl.col("ts") + pl.duration(seconds=pl.col("n") * case.slide))
        slices = pl.concat([slices, tail], how="diagonal")
        if case.name == "max":
            answer = pl.col("value").rolling_max(size, min_samples=1)
        else:
            total, rows = (pl.col(name).fill_null(0).rolling_sum(size, min_samples=1) for name in ("sum", "rows"))
            answer = total / rows
        given = slices.select(pl.col("ts").dt.offset_by(f"{case.slide}s"), answer=answer)
        return given["ts"], given["answer"]

    def _sliced_by_key(self, size):
        """The same over every key and slice, whether it has events or not."""
        case, every = self.case, f"{self.case.slide}s"
        partial = getattr(pl.col("value"), "max" if case.name == "max" else "sum")()
        slices = self.data.group_by("key", pl.col("ts").dt.truncate(every)).agg(partial, rows=pl.len())
        last = slices["ts"].max() + datetime.timedelta(seconds=case.length - case.slide)
        times = pl.datetime_range(slices["ts"].min(), last, every, time_unit="us", eager=True)
        grid = slices.select("key").unique().sort("key").join(pl.DataFrame({"ts": times}), how="cross")
        grid = grid.join(slices, on=["key", "ts"], how="left", maintain_order="left")
        if case.name == "max":
            answer = pl.col("value").rolling_max(size, min_samples=1)
        else:
            total, rows = (pl.col(name).fill_null(0).rolling_sum(size, min_samples=1) for name in ("value", "rows"))
            answer = total / rows
        given = grid.select(pl.col("ts").dt.offset_by(every), answer=answer.over("key"))
        return given["ts"], given["answer"]


def duckdb_sliced(case):
    """Partials of slices by hand, a grid of keys and slices, and a ROWS frame over it; for maxima and averages."""
    duck, size = Duck("events", case.data), case.length // case.slide
    slide, rest = (f"interval {n} second" for n in (case.slide, case.length - case.slide))
    partials, answer = (
        ("max(value) as v", "max(v) over w")
        if case.name == "max"
        else ("sum(value) as v, count(*) as n", "sum(v) over w / sum(n) over w")
    )
    query = f"""
        with slices as (select key, time_bucket({slide}, ts) as b, {partials} from events group by all),
        times as (select unnest(generate_series(min(b), max(b) + {rest}, {slide})) as b from slices),
        grid as (select key, b from (select distinct key from slices), times)
        select key, b + {slide} as e, {answer} as answer from grid left join slices using (key, b)
        window w as (partition by key order by b rows between {size - 1} preceding and current row)"""

    def run():
        given = duck.answer(query)
        return given["e"], given["answer"]

    return run


def duckdb_task(case):
    """A join of windows with their events, or a RANGE frame at rows put where windows end: whichever is faster."""
    duck, by, column = Duck("events", case.data), "key, " if case.keys > 1 else "", case.column
    slide, length, tick = (f"interval {n} {unit}" for n, unit in
                           ((case.slide, "second"), (case.length, "second"), (1, "microsecond")))  # fmt: skip
    ends = f"(select unnest(generate_series(min(ts) + {slide}, max(ts) + {length}, {slide})) as e from events)"
    answer = case.sql.format(column)
    within = f"ts < e and ts >= e - {length}"
    join = f"select {by} e, {answer} as answer from events join {ends} on {within} group by {by} e"
    edges = ends + (" cross join (select distinct key from events)" if by else "")
    both = (
        f"select {by} ts, {column}, false as edge from events union all select {by} e - {tick}, null, true from {edges}"
    )
    frame = f"range between interval {case.length * MICROS - 1} microsecond preceding and current row"
    window = f"{'partition by key' if by else ''} order by ts {frame}"
    framed = f"select {by} ts + {tick} as e, {answer} over ({window}) as answer from ({both})"
    framed += " qualify edge and answer <> 0"  # of no events: NULL or 0
    duck.limit = 120.0
    duck.limit = once(lambda: duck.answer(join))
    try:
        duck.answer(framed)
        faster = framed
    except Stopped:
        faster = join
    duck.limit = 120.0

    def run():
        given = duck.answer(faster)
        return given["e"], given["answer"]

    return run


def river_task(case):
    """River's rolling statistics over as many events as a window has, read where windows end; for one key."""
    from river import stats, utils

    size, step = (round(length * MICROS / case.gap) for length in (case.length, case.slide))
    makers = {"max": stats.RollingMax, "avg": functools.partial(utils.Rolling, stats.Mean)}
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
