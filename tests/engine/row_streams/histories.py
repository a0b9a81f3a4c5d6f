"""Streams of rows drawn at random, and what a batch over those that were not late gives."""

import random
from collections import Counter
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

import sash
from sash import Window, col
from sash import functions as sf
from sash.engine.columns_read import expressions_of
from sash.engine.evaluating import evaluate
from sash.engine.row_streams.row_scheme import RowScheme
from sash.windows.intervals import Interval

BY_KEY = Window.partitionBy("k").orderBy("ts")
RECENT = BY_KEY.rangeBetween("-10 seconds", 0)
SO_FAR = BY_KEY.rangeBetween(Window.unboundedPreceding, 0)
UP_TO_HERE = BY_KEY.rowsBetween(Window.unboundedPreceding, 0)
EVERYTHING = Window.orderBy("ts")
LATEST = sash.Aggregate("latest", lift=lambda x: x, combine=lambda a, b: b)

COLUMNS = {
    "count": sf.count().over(RECENT),
    "sum": sf.sum("v").over(RECENT),
    "mean": sf.avg("x").over(RECENT),
    "open": sf.sum("v").over(RECENT.closed("left")),
    "median": sf.median("v").over(RECENT),
    "distinct": sf.count_distinct("v").over(RECENT),
    "distinct sum": sf.sum("v").distinct().over(RECENT),
    "place": sf.rank().order_by("v desc").over(RECENT),
    "list": sf.collect_list("v").over(RECENT),
    "without ties": sf.sum("v").over(RECENT.exclude("ties")),
    "filtered": sf.max("v").filter(col("v") > 3).over(RECENT),
    "around": sf.max("v").over(BY_KEY.rangeBetween("-3 seconds", "2 seconds")),
    "ahead": sf.count().over(BY_KEY.rangeBetween("1 second", "4 seconds")),
    "before": sf.lag("v", 2).over(BY_KEY),
    "number": sf.row_number().over(BY_KEY),
    "dense": sf.dense_rank().over(BY_KEY),
    "total": sf.sum("v").over(SO_FAR),
    "total but three": sf.sum("v").over(BY_KEY.rowsBetween(Window.unboundedPreceding, -3)),
    "largest": sf.max("v").over(BY_KEY.rangeBetween(Window.unboundedPreceding, "-1 second")),
    "first": sf.first("v").over(UP_TO_HERE),
    "latest": LATEST("v").over(UP_TO_HERE),
    "five rows": sf.avg("v").over(BY_KEY.rowsBetween(-4, 0)),
    "groups": sf.collect_list("v").over(BY_KEY.groupsBetween(-2, 0)),
    "of all": sf.count().over(EVERYTHING.rangeBetween("-2 seconds", 0)),
    "total of all": sf.sum("v").over(Window.orderBy("ts", "v").rowsBetween(Window.unboundedPreceding, 0)),
    "of both": sf.sum("v").over(Window.partitionBy("j", "k").orderBy("ts").rowsBetween(Window.unboundedPreceding, 0)),
    "dates": sf.max("day").over(SO_FAR),
}  # fmt: skip


@dataclass
class History:
    """Batches of a stream, the columns asked for, and how far its watermark is behind."""

    batches: list[pa.Table]
    columns: dict
    seconds: int
    random: random.Random

    def scheme(self, emit="final"):
        return RowScheme(self.batches[0].schema, self.columns, Interval(0, 0, self.seconds * 1_000_000), emit)

    @property
    def rows(self):
        return pa.concat_tables(self.batches)


def history(seed, columns=None, many=150, ties=True):
    """Rows out of order, of a few keys, with ties and NULLs, in batches of any size."""
    draw = np.random.default_rng(seed)
    choose = random.Random(seed)
    count = int(draw.integers(1, many))
    seconds = np.arange(count) * int(draw.integers(1, 3)) // 2 + draw.integers(-3, 4, count)
    rows = pa.table({
        "ts": pa.array(seconds * 1_000_000 + (0 if ties else np.arange(count)), pa.timestamp("us")),
        "k": pa.array(draw.integers(0, 4, count)),
        "j": pa.array([["a", "b", None][k] for k in draw.integers(0, 3, count)]),
        "v": pa.array(draw.integers(0, 9, count), mask=draw.random(count) < 0.1),
        "x": pa.array(draw.integers(0, 9, count) / 8),
        "day": pa.array(draw.integers(0, 99, count).astype("int32"), pa.date32()),
        "name": [f"row {k}" for k in range(count)],
    })  # fmt: skip
    batches, at = [], 0
    while at < count:
        size = choose.choice([0, 1, 3, 10, 40])
        batches.append(rows.slice(at, size))
        at += size
    names = choose.sample(list(COLUMNS), choose.randint(1, 6))
    return History(batches, columns or {name: COLUMNS[name] for name in names}, choose.randint(0, 6), choose)


def expected(history, late):
    """What a batch over all rows but those gives."""
    gone = set(late["name"].to_pylist())
    assert late.num_rows == len(gone)
    stay = pa.array([name not in gone for name in history.rows["name"].to_pylist()], pa.bool_())
    return evaluate(history.rows.filter(stay), history.columns, arrival=False)


def rows_of(table):
    """The rows as a bag."""
    return Counter(map(repr, table.to_pylist()))


def same(found, wanted, columns):
    """Whether rows are the same, each as often; those that look alike to the columns of a window may change places."""
    assert found.schema == wanted.schema
    came = [name for name in found.column_names if name not in columns]
    assert rows_of(found.select(came)) == rows_of(wanted.select(came))
    for spec in RowScheme(wanted.select(came).schema, columns).by_window:
        read = {path[0] for over in spec.columns.values() for each in expressions_of(over) for path in each.paths}
        names = [*sorted(read), *spec.columns]
        more = rows_of(found.select(names)) - rows_of(wanted.select(names))
        assert more == Counter(), names
