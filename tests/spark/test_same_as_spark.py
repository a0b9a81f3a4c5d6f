"""Where Spark can say the query itself, both give the same: values, types, and errors."""

import datetime as dt
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest
from pyspark.errors import ArithmeticException
from pyspark.sql import Window as SparkWindow
from pyspark.sql import functions as F

import sash
from sash import SashError, Window
from sash import functions as sf
from sash.spark import ranged
from spark import cases

pytestmark = pytest.mark.filterwarnings("ignore::sash.errors.SashWarning")
START, END = Window.unboundedPreceding, Window.unboundedFollowing
ROWS = 120
NAN, INF = float("nan"), float("inf")
random = np.random.default_rng(17)


def drawn(values, nulls=0.1):
    some = [values[place] for place in random.integers(0, len(values), ROWS)]
    return [None if random.random() < nulls else value for value in some]


DATA = cases.numbered(
    pa.table(
        {
            "k": drawn(["a", "b", "c"]),
            "k2": drawn([1.0, NAN, -0.0, 0.0]),
            "t": pa.array(drawn(range(30)), pa.int32()),
            "q": drawn(range(-50, 50)),
            "x": drawn([NAN, INF, -0.0, 0.0, 0.5, 1.0, 2.5]),
            "v": drawn([0.25 * n for n in range(-20, 20)]),
            "m": pa.array(drawn([Decimal(n).scaleb(-2) for n in range(-999, 999, 7)]), pa.decimal128(10, 2)),
            "s": drawn(["", "a", "b", "ä", "zz"]),
            "o": drawn([True, False]),
            "d": drawn([dt.date(2024, 1, 1) + dt.timedelta(days=n) for n in range(70)]),
        }
    )
)

# Functions of the same name, called alike; Spark's collect_set and mode leave open what Sash says.
AGGREGATES = {
    "count": [(), ("q",), ("s",)], "sum": [("q",), ("x",), ("v",), ("m",)], "avg": [("q",), ("x",), ("m",)],
    "mean": [("t",)], "min": [("q",), ("x",), ("s",), ("d",), ("o",), ("m",)], "max": [("q",), ("x",), ("s",), ("d",)],
    "stddev": [("q",), ("v",), ("m",)], "stddev_pop": [("v",)], "stddev_samp": [("x",)], "std": [("q",)],
    "var_pop": [("v",)], "var_samp": [("q",)], "variance": [("q",)], "skewness": [("v",)], "kurtosis": [("v",)],
    "covar_pop": [("q", "v")], "covar_samp": [("q", "v")], "corr": [("q", "v")], "regr_count": [("q", "v")],
    "regr_slope": [("q", "v")], "regr_intercept": [("q", "v")], "regr_r2": [("q", "v")], "regr_avgx": [("q", "v")],
    "regr_avgy": [("q", "v")], "regr_sxx": [("q", "v")], "regr_syy": [("q", "v")], "regr_sxy": [("q", "v")],
    "bit_and": [("q",)], "bit_or": [("q",)], "bit_xor": [("t",)], "bool_and": [("o",)], "bool_or": [("o",)],
    "every": [("o",)], "some": [("o",)],
    "first": [("s",), ("s", True)], "last": [("q",), ("q", True)], "first_value": [("s",), ("x", True)],
    "last_value": [("s",), ("d", True)], "any_value": [("q",)], "nth_value": [("s", 2), ("q", 3, True)],
    "max_by": [("s", "id")], "min_by": [("x", "id")], "collect_list": [("s",), ("q",)], "array_agg": [("s",)],
    "listagg": [("s", ",")], "product": [("v",)],
}  # fmt: skip
RANKS = {
    "rank": [()], "dense_rank": [()], "row_number": [()], "percent_rank": [()], "cume_dist": [()], "ntile": [(3,)],
    "lead": [("s",), ("q", 2), ("q", 1, -1), ("s", 0)], "lag": [("x",), ("d", 3), ("s", 1, "none"), ("q", -1)],
}  # fmt: skip
WHOLE = {
    "median": [("q",), ("v",)], "percentile": [("q", 0.3), ("v", [0.1, 0.9])], "count_if": [],
}  # fmt: skip

FRAMES = {
    "rows": lambda w: w.rowsBetween(-4, 2),
    "rows ahead": lambda w: w.rowsBetween(1, 3),
    "so far": lambda w: w.rowsBetween(START, 0),
    "from here": lambda w: w.rowsBetween(-1, END),
    "default": lambda w: w,
}
KEYS = {"keyed": ("k",), "by doubles": ("k2",), "overall": ()}
MOST_KEYS = pytest.mark.parametrize(  # keys that are doubles are among those of ranges and of NULLs, too
    "keys", ["keyed", pytest.param("by doubles", marks=pytest.mark.long), "overall"]
)


def called(module, table):
    """Calls of a vocabulary, by what they say."""
    return {f"{name}{args}": getattr(module, name)(*args) for name, some in table.items() for args in some}


def spark_calls(table):
    spelled = {name: some for name, some in table.items() if name != "count"}
    found = called(F, spelled)
    return found | {f"count{args}": F.count(*(args or ("*",))) for args in table.get("count", ())}


def windows(maker, partition, *order):
    return maker.partitionBy(*partition).orderBy(*order)


def compare(spark, ours, theirs, rows=DATA):
    """Both, in one table each; the answers of one name must be alike."""
    frame = cases.in_tasks(spark, rows, 3, shuffled=True)
    got = cases.collected(sash.withColumns(frame, ours))
    want = cases.collected(frame.select("*", *(column.alias(name) for name, column in theirs.items())))
    wrong = []
    for name in ours:
        kinds = [cases.nullable(each.schema.field(name).type) for each in (got, want)]
        if kinds[0] != kinds[1]:
            wrong.append(f"{name} is of type {kinds[0]}, with Spark {kinds[1]}")
        if not all(map(cases.same, got[name].to_pylist(), want[name].to_pylist())):
            wrong.append(f"{name}:\n got {got[name].to_pylist()}\nwant {want[name].to_pylist()}")
    assert not wrong, "\n".join(wrong)


def check_aggregates(spark, keys, frame, table):
    ours = FRAMES[frame](windows(Window, KEYS[keys], "t", "id"))
    theirs = FRAMES[frame](windows(SparkWindow, KEYS[keys], "t", "id"))
    compare(
        spark,
        {name: call.over(ours) for name, call in called(sf, table).items()},
        {name: call.over(theirs) for name, call in spark_calls(table).items()},
    )


ALWAYS = [("keyed", "rows"), ("keyed", "default"), ("overall", "rows")]
PAIRS = [*((keys, frame) for keys in ("keyed", "overall") for frame in FRAMES), ("by doubles", "rows")]


@pytest.mark.parametrize(
    ("keys", "frame"), [pytest.param(*pair, marks=() if pair in ALWAYS else pytest.mark.long) for pair in PAIRS]
)
def test_aggregates(spark, keys, frame, monkeypatch):
    monkeypatch.setattr(ranged, "ROWS_A_PIECE", 30)
    check_aggregates(spark, keys, frame, AGGREGATES)


@pytest.mark.long  # test_ranged.py has them beside the engine
@pytest.mark.parametrize("frame", ["so far", "from here"])
def test_aggregates_that_are_carried_from_piece_to_piece(spark, frame, monkeypatch):
    """Some of them: each is compiled anew for it."""
    monkeypatch.setattr(ranged, "ROWS_A_PIECE", 30)
    some = ("count", "sum", "avg", "min", "max_by", "first", "last_value", "bool_or", "regr_slope")
    check_aggregates(spark, "overall", frame, {name: AGGREGATES[name] for name in some})


@MOST_KEYS
def test_ranks_and_shifts(spark, keys, monkeypatch):
    monkeypatch.setattr(ranged, "ROWS_A_PIECE", 30)
    orders = {"ties": ["x"], "unique": ["t", "id"], "backwards": ["s", "id"]}
    ours, theirs = {}, {}
    for said, names in orders.items():
        tied = {"rank", "dense_rank", "percent_rank", "cume_dist"}
        table = {name: args for name, args in RANKS.items() if said != "ties" or name in tied}
        way = "desc" if said == "backwards" else "asc"
        mine = windows(Window, KEYS[keys], *(f"{name} {way}" for name in names))
        spark_order = [getattr(F, way)(name) for name in names]
        ours |= {f"{name} {said}": call.over(mine) for name, call in called(sf, table).items()}
        over = windows(SparkWindow, KEYS[keys], *spark_order)
        theirs |= {f"{name} {said}": call.over(over) for name, call in called(F, table).items()}
    compare(spark, ours, theirs)


@MOST_KEYS
def test_functions_of_the_whole_partition(spark, keys):
    table = WHOLE | {name: AGGREGATES[name] for name in ("sum", "min", "max", "count", "avg", "stddev", "corr")}
    ours, theirs = Window.partitionBy(*KEYS[keys]), SparkWindow.partitionBy(*KEYS[keys])
    compare(
        spark,
        {name: call.over(ours) for name, call in called(sf, table).items()},
        {name: call.over(theirs) for name, call in spark_calls(table).items()},
    )


def test_ranges_of_numbers(spark, monkeypatch):
    monkeypatch.setattr(ranged, "ROWS_A_PIECE", 30)
    ours, theirs = {}, {}
    ranges = [("t", -3, 2), ("t", 1, 4), ("q", -10, 0), ("v", -1, 1), ("x", -1, 1)]
    for keys, name, start, end, way in [
        *((("k",), *each, "asc") for each in ranges),
        *((("k2",), *each, "desc") for each in ranges),
        ((), *ranges[0], "asc"),
        ((), *ranges[-1], "desc"),
    ]:
        said = f"{keys} {name} {way} {start} {end}"
        mine = windows(Window, keys, f"{name} {way}").rangeBetween(start, end)
        spark_window = windows(SparkWindow, keys, getattr(F, way)(name)).rangeBetween(start, end)
        ours |= {f"sum {said}": sf.sum("id").over(mine), f"max {said}": sf.max("s").over(mine)}
        theirs |= {f"sum {said}": F.sum("id").over(spark_window), f"max {said}": F.max("s").over(spark_window)}
    compare(spark, ours, theirs)


def test_where_nulls_go(spark):
    ours, theirs = {}, {}
    for way in ("asc_nulls_first", "asc_nulls_last", "desc_nulls_first", "desc_nulls_last"):
        for keys in KEYS.values():
            name = f"{way} {keys}"
            ours[name] = sf.rank().over(Window.partitionBy(*keys).orderBy(getattr(sf, way)("x")))
            theirs[name] = F.rank().over(SparkWindow.partitionBy(*keys).orderBy(getattr(F, way)("x")))
    compare(spark, ours, theirs)


def test_filters(spark):
    """Spark takes no FILTER over windows; of a NULL nothing counts, which says the same."""
    ours, theirs = Window.partitionBy("k").orderBy("id"), SparkWindow.partitionBy("k").orderBy("id")
    compare(
        spark,
        {
            "sum": sf.sum("q").filter(F.col("v") > 0).over(ours),
            "count": sf.count().filter("v > 0").over(ours),
            "kept": sf.count_if(sash.col("v") > 0).over(ours),
        },
        {
            "sum": F.sum(F.when(F.col("v") > 0, F.col("q"))).over(theirs),
            "count": F.count_if(F.col("v") > 0).over(theirs),
            "kept": F.count_if(F.col("v") > 0).over(theirs),
        },
    )


def test_what_spark_says_in_other_words(spark):
    """DISTINCT, and percentiles over a frame, as Spark can write them."""
    ours, theirs = (windows(maker, ("k",), "t", "id").rowsBetween(-20, 3) for maker in (Window, SparkWindow))
    compare(
        spark,
        {
            "kinds": sf.count_distinct("s").over(ours),
            "median": sf.median("q").over(ours),
            "sum": sf.sum_distinct("q").over(ours),
            "third": sf.percentile("v", 0.3).over(ours),
        },
        {
            "kinds": F.size(F.collect_set("s").over(theirs)).cast("long"),
            "median": F.percentile("q", 0.5).over(theirs),
            "sum": F.aggregate(F.collect_set("q").over(theirs), F.lit(None).cast("long"),
                               lambda total, each: F.coalesce(total, F.lit(0)) + each),
            "third": F.percentile("v", 0.3).over(theirs),
        },
    )  # fmt: skip


@pytest.mark.parametrize("keys", [("k",), ()])
def test_a_sum_that_does_not_fit_raises_in_both(spark, keys, monkeypatch):
    monkeypatch.setattr(ranged, "ROWS_A_PIECE", 1)
    rows = pa.table({"k": [1, 1, 1], "t": [1, 2, 3], "q": [2**62, 2**62, 1]})
    frame = spark.createDataFrame(rows)
    with pytest.raises(ArithmeticException, match="overflow"):
        frame.select(F.sum("q").over(SparkWindow.partitionBy(*keys).orderBy("t"))).collect()
    out = sash.withColumns(frame, {"total": sf.sum("q").over(Window.partitionBy(*keys).orderBy("t"))})
    with pytest.raises(SashError, match="does not fit 64 bits"):
        out.collect()


def test_an_expression_that_spark_cannot_evaluate_raises_its_error_in_both(spark):
    frame = spark.createDataFrame(pa.table({"t": [1, 2], "q": [0, 1]}))
    with pytest.raises(ArithmeticException, match="DIVIDE_BY_ZERO"):
        frame.select(F.sum(F.col("t") / F.col("q")).over(SparkWindow.partitionBy("t"))).collect()
    out = sash.withColumns(frame, {"a": sf.sum(F.col("t") / F.col("q")).over(Window.partitionBy("t"))})
    with pytest.raises(ArithmeticException, match="DIVIDE_BY_ZERO"):
        out.collect()
    out = sash.withColumns(frame, {"a": sf.sum(sash.col("t") / sash.col("q")).over(Window.partitionBy("t"))})
    with pytest.raises(ArithmeticException, match="DIVIDE_BY_ZERO"):
        out.collect()
