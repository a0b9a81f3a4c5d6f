"""Types and NULLs on Spark: those of Spark's own functions; times in the session's zone; nothing else is touched."""

import datetime as dt
from decimal import Decimal

import pyarrow as pa
import pytest
from pyspark.errors import AnalysisException
from pyspark.sql import Window as SparkWindow
from pyspark.sql import functions as F
from pyspark.sql import types as T

import sash
from sash import SashError, Window
from sash import functions as sf
from sash.engine.evaluating import evaluate
from sash.spark import ranged
from spark import cases

pytestmark = pytest.mark.filterwarnings("ignore::sash.errors.SashWarning")
D, NAN = Decimal, float("nan")
DAY, NOON = dt.date(2024, 2, 29), dt.datetime(2024, 3, 10, 12)
ZONED = pa.timestamp("us", "UTC")
VALUES = {
    "byte": pa.array([1, None, -3, 1, 100, None], pa.int8()),
    "short": pa.array([1, None, -3, 1, 1000, None], pa.int16()),
    "int": pa.array([1, None, -3, 1, 70_000, None], pa.int32()),
    "long": pa.array([1, None, -3, 1, 2**40, None], pa.int64()),
    "float": pa.array([1.5, None, NAN, -0.0, 0.1, None], pa.float32()),
    "double": pa.array([1.5, None, NAN, -0.0, 0.1, None], pa.float64()),
    "decimal": pa.array([D("1.50"), None, D("-3.25"), D("1.50"), D("99999999.99"), None], pa.decimal128(10, 2)),
    "large": pa.array([D("1.5"), None, D("-3.25"), D("1.5"), D("1e20"), None], pa.decimal128(38, 10)),
    "string": pa.array(["b", None, "a", "b", "ä", None]),
    "binary": pa.array([b"\1", None, b"", b"\1", b"\xff", None]),
    "boolean": pa.array([True, None, False, True, True, None]),
    "date": pa.array([DAY, None, dt.date(1969, 12, 31), DAY, dt.date(2024, 3, 1), None]),
    "timestamp": pa.array([NOON, None, NOON - dt.timedelta(days=1), NOON, NOON + dt.timedelta(1), None], ZONED),
    "ntz": pa.array([NOON, None, NOON - dt.timedelta(days=1), NOON, NOON + dt.timedelta(1), None], pa.timestamp("us")),
    "interval": pa.array([dt.timedelta(hours=n) if n else None for n in (1, 0, -2, 1, 30, 0)], pa.duration("us")),
    "array": pa.array([[1, 2], None, [], [1, 2], [None], None], pa.list_(pa.int32())),
    "struct": pa.array([{"a": 1, "b": "x"}, None, {"a": None, "b": "y"}, {"a": 1, "b": "x"}, {"a": 0, "b": None},
                        None], pa.struct([("a", pa.int32()), ("b", pa.string())])),
}  # fmt: skip
DATA = cases.numbered(pa.table(VALUES | {"k": [1, 1, 1, 1, 1, 2]}))

# Functions of one column over a frame, and over the whole partition, which Spark asks for there.
FRAMED = {
    "sum": (), "avg": (), "min": (), "max": (), "count": (), "stddev": (), "var_pop": (), "first": (), "last": (),
    "first_value": (True,), "any_value": (), "nth_value": (2,), "lag": (), "lead": (2,), "collect_list": (),
    "bool_and": (), "bool_or": (), "bit_or": (), "bit_and": (), "bit_xor": (), "listagg": (), "skewness": (),
    "max_by": ("id",), "min_by": ("id",), "product": (),
}  # fmt: skip
WHOLE = {"median": (), "percentile": (0.3,), "mode": (True,), "collect_set": ()}
# What Spark takes and Sash refuses: Spark reads strings and times as numbers, which Sash leaves to a cast; nested
# values have no order in Sash.
OTHERWISE = {("median", "string")}  # Spark takes texts for numbers; Sash gives the text in the middle
REFUSED = {
    "string": {"sum", "avg", "stddev", "var_pop", "skewness", "product", "bool_and", "bool_or", "percentile"},
    "timestamp": {"sum", "avg"},
    "interval": {"listagg"},
    "array": {"min", "max", "mode"},
    "struct": {"min", "max", "mode"},
}


@pytest.fixture(scope="module")
def frame(spark):
    return cases.frame_of(spark, DATA)


def spoken(frame, table, window, columns):
    """The calls that Spark can analyse, each with the type that it says."""
    found = {}
    for name, more in table.items():
        for column in columns:
            call = getattr(F, name)(column, *more).over(window).alias("answer")
            try:
                found[name, column] = call, frame.select(call).schema["answer"].dataType
            except AnalysisException:
                continue
    return found


ALIKE = ["short"]  # each function is compiled for each type; this one is between two others
MOST = [name for name in VALUES if name not in ALIKE]


@pytest.mark.parametrize(
    ("table", "columns"),
    [
        pytest.param(FRAMED, MOST, id="framed"),
        pytest.param(FRAMED, ALIKE, id="framed, alike", marks=pytest.mark.long),
        pytest.param(WHOLE, VALUES, id="whole"),
    ],
)
def test_types_and_values_are_those_of_spark(spark, frame, table, columns):
    whole = table is WHOLE
    ours, theirs = Window.partitionBy("k"), SparkWindow.partitionBy("k")
    if not whole:
        ours = ours.orderBy("id").rowsBetween(-1, Window.currentRow)
        theirs = theirs.orderBy("id").rowsBetween(-1, Window.currentRow)
    asked, told, kinds = {}, {}, {}
    for (name, column), (call, kind) in spoken(frame, table, theirs, columns).items():
        over = getattr(sf, name)(column, *more_of(name, table)).over(ours)
        if name in REFUSED.get(column, ()):
            with pytest.raises(SashError, match=r"takes|cannot be ordered"):
                evaluate(DATA.slice(0, 0), {"answer": over})
            continue
        if (name, column) in OTHERWISE:
            continue
        said = f"{name} of {column}"
        asked[said], told[said], kinds[said] = over, call, kind.simpleString()
    out = sash.withColumns(frame, asked)
    assert {said: out.schema[said].dataType.simpleString() for said in asked} == kinds
    got = cases.collected(out)
    want = cases.collected(frame.select("*", *(call.alias(name) for name, call in told.items())))
    wrong = [
        f"{name}: got {got[name].to_pylist()}, Spark {want[name].to_pylist()}"
        for name in asked
        if not all(map(cases.same, *(settled(name, each[name].to_pylist()) for each in (got, want))))
    ]
    assert not wrong, "\n".join(wrong)


def more_of(name, table):
    return table[name] if name != "mode" else ()


def settled(name, answers):
    return [sorted(each, key=repr) for each in answers] if name.startswith("collect_set") else answers


def test_counts_of_different_values_are_those_of_the_aggregate(spark, frame):
    theirs = frame.groupBy("k").agg(*(F.count_distinct(column).alias(column) for column in VALUES)).orderBy("k")
    ours = sash.withColumns(
        frame, {f"n {name}": sf.count_distinct(name).over(Window.partitionBy("k")) for name in VALUES}
    )
    assert {ours.schema[f"n {name}"].dataType for name in VALUES} == {T.LongType()}
    found = ours.select("k", *(f"n {name}" for name in VALUES)).distinct().orderBy("k").collect()
    assert list(map(tuple, found)) == list(map(tuple, theirs.collect()))


ORDERED = [name for name in VALUES if name not in ("array", "struct")]
RANKS = {"rank": T.IntegerType(), "dense_rank": T.IntegerType(), "row_number": T.IntegerType(),
         "ntile": T.IntegerType(), "percent_rank": T.DoubleType(), "cume_dist": T.DoubleType()}  # fmt: skip


def test_ranks_by_keys_of_every_type(spark, frame):
    ours, theirs = {}, {}
    for column in ORDERED:
        for name, kind in RANKS.items():
            args, said = ((2,) if name == "ntile" else ()), f"{name} by {column}"
            ours[said] = getattr(sf, name)(*args).over(Window.partitionBy("k").orderBy(column, "id"))
            theirs[said] = getattr(F, name)(*args).over(SparkWindow.partitionBy("k").orderBy(column, "id"))
            assert frame.select(theirs[said].alias("a")).schema["a"].dataType == kind
    out = sash.withColumns(frame, ours)
    assert all(out.schema[said].dataType == RANKS[said.split()[0]] for said in ours)
    got, want = cases.collected(out), cases.collected(frame.select("id", *(c.alias(n) for n, c in theirs.items())))
    wrong = [name for name in ours if got[name].to_pylist() != want[name].to_pylist()]
    assert not wrong


def test_partitions_by_keys_of_every_type(spark, frame):
    names = ["long", "double", "float", "large", "string", "binary", "boolean", "date", "timestamp", "array", "struct"]
    ours = {f"rows by {name}": sf.count().over(Window.partitionBy(name)) for name in names}
    theirs = [F.count("*").over(SparkWindow.partitionBy(name)).alias(f"rows by {name}") for name in names]
    got, want = cases.collected(sash.withColumns(frame, ours)), cases.collected(frame.select("id", *theirs))
    assert [name for name in ours if got[name].to_pylist() != want[name].to_pylist()] == []


# Times


HOURS = [
    dt.datetime(2024, 3, 9, 0, 30) + dt.timedelta(hours=n) for n in range(0, 60, 3)
]  # clocks go forward on 10 March
HOURS += [dt.datetime(2024, 11, 2, 12) + dt.timedelta(minutes=40 * n) for n in range(30)]  # and back on 3 November


@pytest.mark.parametrize("rows_a_piece", [10, pytest.param(1 << 16, marks=pytest.mark.long)])
@pytest.mark.parametrize(
    "zone",
    [
        "America/New_York",
        pytest.param("UTC", marks=pytest.mark.long),
        pytest.param("Pacific/Apia", marks=pytest.mark.long),
    ],
)
def test_calendar_ranges_are_in_the_zone_of_the_session(spark, zone, rows_a_piece, monkeypatch):
    monkeypatch.setattr(ranged, "ROWS_A_PIECE", rows_a_piece)
    rows = cases.numbered(pa.table({"ts": pa.array(HOURS, ZONED), "ntz": pa.array(HOURS, pa.timestamp("us"))}))
    with cases.settings(spark, session__timeZone=zone):
        frame = cases.in_tasks(spark, rows, 2)
        offsets = {"1 day": "1 DAY", "5 hours": "5 HOUR", "1 month": "1 MONTH", "90 minutes": "90 MINUTE"}
        ours, theirs = {}, []
        for column in ("ts", "ntz"):
            for offset, literal in offsets.items():
                name = f"{column} {offset}"
                ours[name] = sf.sum("id").over(Window.orderBy(column).rangeBetween(f"-{offset}", 0))
                theirs.append(
                    f"sum(id) over (order by {column} range between interval {literal} preceding and current row) "
                    f"as `{name}`"
                )
        got = cases.collected(sash.withColumns(frame, ours))
        want = cases.collected(frame.selectExpr("*", *theirs))
        for name in ours:
            assert got[name].to_pylist() == want[name].to_pylist(), name


def test_timestamps_keep_their_instant_and_the_zone_of_the_session(spark):
    rows = cases.numbered(pa.table({"ts": pa.array(HOURS, ZONED)}))
    with cases.settings(spark, session__timeZone="America/New_York"):
        frame = cases.frame_of(spark, rows)
        window = Window.orderBy("id").rowsBetween(-1, 0)
        columns = {"first": sf.first("ts").over(window), "list": sf.collect_list("ts").over(window)}
        columns["disc"] = sf.percentile_disc("ts", 1).over(window)
        out = sash.withColumns(frame, columns)
        assert out.schema["first"].dataType == T.TimestampType()
        before = SparkWindow.orderBy("id").rowsBetween(-1, 0)
        same = out.select(
            F.col("first") == F.first("ts").over(before),
            F.col("list") == F.collect_list("ts").over(before),
            F.col("disc") == F.max("ts").over(before),
        )
        assert set(map(tuple, same.collect())) == {(True, True, True)}


# What is only carried along, and what may be NULL


@pytest.mark.parametrize("window", [Window.orderBy("id").rowsBetween(-1, 0), Window.partitionBy("id")], ids=repr)
def test_nested_columns_are_untouched(spark, window, monkeypatch):
    monkeypatch.setattr(ranged, "ROWS_A_PIECE", 1)
    frame = spark.sql(
        """select id, if(id = 1, null, map('x', array(1, 2), 'y', cast(null as array<int>))) as map,
        named_struct('a', array(named_struct('b', cast(1.5 as decimal(20, 3))))) as deep,
        interval '1-2' year to month as months, interval '1 02:03:04.5' day to second as days,
        cast('ab' as char(3)) as char, null as nothing, parse_json('{"a": [1, null]}') as variant,
        make_interval(0, 1, 0, 2) as calendar, 'b' collate unicode_ci as collated
        from range(4)"""
    )
    out = sash.withColumns(frame, {"sum": sf.sum("id").over(window)})
    assert out.schema.fields[:-1] == frame.schema.fields
    assert out.schema["sum"] == T.StructField("sum", T.LongType(), True)
    texts = [f"to_json({name})" if name == "variant" else f"{name}::string" for name in frame.columns]
    assert sorted(map(repr, out.selectExpr(*texts).collect())) == sorted(map(repr, frame.selectExpr(*texts).collect()))


def test_types_that_no_function_takes_are_refused_in_words(spark):
    frame = spark.sql("select id, make_interval(0, 1) as calendar, 'b' collate unicode_ci as collated from range(2)")
    for column, words in (("calendar", "interval, which no window function"), ("collated", "collation UNICODE_CI")):
        with pytest.raises(SashError, match=words):
            sash.withColumns(frame, {"a": sf.last(column).over(Window.orderBy("id"))})


def test_nested_values_come_back_as_they_are(spark):
    frame = spark.sql(
        """select id, named_struct('a', id, 'b', array(named_struct('c', 1))) as struct, map('x', array(id)) as map,
        parse_json('{"a": [1, null]}') as variant from range(4)"""
    )
    ours, theirs = Window.orderBy("id").rowsBetween(-1, 0), SparkWindow.orderBy("id")
    for column in ("struct", "map", "variant"):
        asked = {"last": (column,), "lag": (column, 2), "collect_list": (column,), "nth_value": (column, 2)}
        out = sash.withColumns(frame, {name: getattr(sf, name)(*args).over(ours) for name, args in asked.items()})
        calls = {name: getattr(F, name)(*args) for name, args in asked.items()}
        frames = {name: theirs if name == "lag" else theirs.rowsBetween(-1, 0) for name in asked}
        want = frame.withColumns({name: calls[name].over(frames[name]) for name in asked})
        texts = [f"{name}::string" for name in asked]
        assert out.orderBy("id").selectExpr(*texts).collect() == want.orderBy("id").selectExpr(*texts).collect()
        assert [out.schema[name].dataType.simpleString() for name in asked] == [
            want.schema[name].dataType.simpleString() for name in asked
        ]


def test_every_answer_may_be_null_as_far_as_spark_knows(spark):
    frame = spark.range(3)
    window = Window.orderBy("id")
    asked = {"count": sf.count(), "rank": sf.rank(), "list": sf.collect_list("id"), "max": sf.max("id")}
    out = sash.withColumns(frame, {name: ask.over(window) for name, ask in asked.items()})
    assert [field.nullable for field in out.schema] == [False, True, True, True, True]
    assert out.schema["list"].dataType == T.ArrayType(T.LongType(), containsNull=True)


def test_of_no_rows_the_types_are_the_same(spark, frame):
    window = Window.partitionBy("k").orderBy("id")
    columns = {f"{n} {c}": getattr(sf, n)(c).over(window) for n in ("last", "lag", "collect_list") for c in VALUES}
    none = sash.withColumns(frame.where("id < 0"), columns)
    assert none.schema == sash.withColumns(frame, columns).schema
    assert none.collect() == []
