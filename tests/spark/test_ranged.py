"""Windows without PARTITION BY, cut into pieces: whatever the pieces, the answers are those of one task."""

import datetime as dt
import warnings
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest
from pyspark.sql import functions as F

import sash
from sash import SashError, Window
from sash import functions as sf
from sash.engine.ranges import KeyOrder, Sample, cut, reach, sample
from sash.errors import SashWarning
from sash.spark import piecewise, ranged
from spark import cases

START, END = Window.unboundedPreceding, Window.unboundedFollowing
ROWS = 80
random = np.random.default_rng(7)


def drawn(values, nulls=True):
    """Random values, some of them NULL."""
    some = [values[place] for place in random.integers(0, len(values), ROWS)]
    return [None if nulls and random.random() < 0.1 else value for value in some]


NAN, INF = float("nan"), float("inf")
DATA = cases.numbered(
    pa.table(
        {
            "t": pa.array(drawn(range(25)), pa.int32()),
            "x": drawn([NAN, INF, -INF, -0.0, 0.0, 0.5, 1.0, 2.5, 3.0, 8.0]),
            "q": drawn(range(-5, 20)),
            "v": drawn([NAN, -1.5, 0.0, -0.0, 1.0, 2.0, 7.25]),
            "s": drawn(["", "a", "b", "ä", "zz"]),
            "n": drawn(range(4), nulls=False),
        }
    )
)


@pytest.fixture
def pieces(spark, monkeypatch):
    """Sets into how many pieces the rows are cut."""
    with cases.settings(spark, shuffle__partitions=4):

        def into(number):
            spark.conf.set("spark.sql.shuffle.partitions", str(number))
            monkeypatch.setattr(ranged, "ROWS_A_PIECE", ROWS // number)

        yield into


BY_T = Window.orderBy("t")
FRAMES = {
    "rows": [BY_T.rowsBetween(-3, 2), BY_T.rowsBetween(0, 0), BY_T.rowsBetween(-4, -2)],
    "rows after": [BY_T.rowsBetween(1, 4).exclude("current row")],
    "range": [
        BY_T.rangeBetween(-2, 1),
        BY_T.rangeBetween(0, 0).exclude("ties"),
        BY_T.rangeBetween(2, 3),
        BY_T.rangeBetween(-2, 0).closed("left"),
        BY_T.rangeBetween(-1, 2).closed("neither"),
    ],
    "range of doubles": [Window.orderBy("x desc nulls last").rangeBetween(-1, 0.5).exclude("group")],
    "groups": [Window.orderBy("t", "s desc").groupsBetween(-2, 1).exclude("ties")],
    "longer than a piece": [Window.orderBy("t desc nulls first").rowsBetween(-50, -30)],
}
ENDLESS = {
    "so far": [BY_T, BY_T.rowsBetween(START, 0), BY_T.rowsBetween(START, -3), BY_T.rangeBetween(START, 2),
               BY_T.closed("left"), BY_T.rangeBetween(START, -2).closed("neither")],
    "from here": [BY_T.rowsBetween(-2, END), BY_T.groupsBetween(1, END).exclude("current row")],
    "all": [Window.orderBy("x desc nulls first").rangeBetween(START, END).exclude("group"),
            Window.orderBy("x desc nulls first").rowsBetween(START, END)],
    "descending doubles": [Window.orderBy("x desc").rangeBetween(-1, END), Window.orderBy("x desc").exclude("ties")],
}  # fmt: skip
BOUNDED = [
    sf.sum("q"), sf.sum("v"), sf.max("s"), sf.count_distinct("s"), sf.median("q"), sf.collect_list("s").filter("q > 0"),
    sf.first_value("v"), sf.nth_value("s", 2).ignore_nulls(), sf.rank().order_by("q desc"), sf.mode("s"),
    sf.lead("s"), sf.lag("q", 2), sf.lead("s").order_by("q"), sf.count().filter("q > 3"), sf.percentile_cont("q", 0.3),
]  # fmt: skip
CARRIED = [
    sf.sum("q"), sf.avg("v").filter("q > 0"), sf.max("s"), sf.min("v"), sf.count(), sf.stddev("q"), sf.bit_xor("q"),
    sf.max_by("s", "q"), sf.first_value("s").ignore_nulls(), sf.last_value("q"), sf.nth_value("s", 3), sf.top_k("q", 3),
    sf.first_value("s").order_by("q desc").filter("q > 3"), sf.lead("s", 3), sf.lag("q"),
    sf.rank(), sf.dense_rank(), sf.row_number(), sf.percent_rank(), sf.cume_dist(), sf.ntile(7),
    sf.rank().filter("q > 0"), sf.corr("q", "v"),
]  # fmt: skip


def expressions(asks, windows):
    return {f"{ask} {place}": ask.over(window) for place, window in enumerate(windows) for ask in asks}


MARKS = {2: pytest.mark.long, 7: (), 40: pytest.mark.long}  # of numbers of pieces


def checked(spark, columns, twins=None):
    """Compare, and see that nothing goes to one task."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", SashWarning)
        cases.check(cases.in_tasks(spark, DATA, 3, shuffled=True), DATA, columns, twins)


@pytest.mark.parametrize(
    ("kind", "number"),
    [
        pytest.param("rows", 1, marks=pytest.mark.long),
        *(pytest.param(kind, number, marks=MARKS[number]) for kind in FRAMES for number in MARKS),
    ],
)
def test_bounded_frames(spark, pieces, kind, number):
    pieces(number)
    checked(spark, expressions(BOUNDED, FRAMES[kind]))


@pytest.mark.parametrize("number", [pytest.param(number, marks=MARKS[number]) for number in MARKS])
@pytest.mark.parametrize(  # frames from here on are among those of doubles, too, and those of all rows in process
    "kind", [pytest.param(kind, marks=pytest.mark.long if kind in ("from here", "all") else ()) for kind in ENDLESS]
)
def test_frames_without_end(spark, pieces, kind, number):
    pieces(number)
    checked(spark, expressions(CARRIED, ENDLESS[kind]))


def test_rows_without_any_order(spark, pieces):
    pieces(7)
    asks = [ask for ask in CARRIED if ask.aggregate.name in ("sum", "avg", "max", "min", "count", "bit_xor", "max_by")]
    so_far, here = Window.rangeBetween(START, 0), Window.rangeBetween(0, 0)  # all rows are peers
    checked(spark, expressions(asks, [Window, Window.exclude("current row"), so_far, here.exclude("current row")]))


def test_a_piece_is_found_by_what_an_expression_says(spark, pieces):
    pieces(7)
    order, twin = F.col("t") - F.col("q"), sash.col("t") - sash.col("q")
    asks = [sf.collect_list("id"), sf.lag("id")]
    ours = expressions(asks, [Window.orderBy(sf.desc(order), "id").rowsBetween(-3, 1)])
    twins = expressions(asks, [Window.orderBy(sf.desc(twin), "id").rowsBetween(-3, 1)])
    ours["range"] = sf.sum("id").over(Window.orderBy(sf.desc(order)).rangeBetween(-3, 2))
    twins["range"] = sf.sum("id").over(Window.orderBy(sf.desc(twin)).rangeBetween(-3, 2))
    checked(spark, ours, twins)


DAY, NOON = dt.date(2020, 1, 31), dt.datetime(2020, 3, 8, 12)
HOUR = dt.timedelta(hours=1)
KEYS = {
    "byte": pa.array(drawn(range(-128, 128, 9)), pa.int8()),
    "short": pa.array(drawn(range(-3000, 3000, 99)), pa.int16()),
    "int": pa.array(drawn([-(2**31), 0, 5, 2**31 - 1]), pa.int32()),
    "long": pa.array(drawn([-(2**63), -1, 0, 2**53, 2**53 + 1, 2**63 - 1]), pa.int64()),
    "double": pa.array(drawn([NAN, INF, -INF, -0.0, 0.0, 0.1, 0.1 + 2**-56, 5e-324, 1e308])),
    "float": pa.array(drawn([NAN, INF, -INF, -0.0, 0.0, 0.1, 1e-45, 3e38]), pa.float32()),
    "decimal": pa.array(drawn([Decimal(n).scaleb(-2) for n in range(-500, 500, 77)]), pa.decimal128(10, 2)),
    "large decimal": pa.array(drawn([Decimal(n) * 10**25 + Decimal("0.1") for n in range(-9, 9)]),
                              pa.decimal128(38, 10)),
    "string": pa.array(drawn(["", "a", "a\0", "a'b", "ä", "zz", "z" * 40, "\U0001f600", "\uffff", "\\"])),
    "binary": pa.array(drawn([b"", b"\0", b"\0\0", b"\x7f", b"\x80", b"\xff", b"a'"])),
    "date": pa.array(drawn([dt.date(1, 1, 1), dt.date(1582, 10, 4), DAY, dt.date(9999, 12, 31)]), pa.date32()),
    "timestamp": pa.array(drawn([NOON + n * HOUR / 7 for n in range(-30, 30, 3)]), pa.timestamp("us", "UTC")),
    "timestamp_ntz": pa.array(drawn([dt.datetime(1, 1, 1), dt.datetime(1582, 10, 10), NOON, NOON + HOUR,
                                     dt.datetime(9999, 12, 31, 23)]), pa.timestamp("us")),
    "boolean": pa.array(drawn([True, False])),
    "interval": pa.array(drawn([HOUR * n / 9 for n in range(-9, 9)]), pa.duration("us")),
}  # fmt: skip
TYPED = cases.numbered(pa.table(KEYS))


RANGELESS = ["string", "binary", "boolean"]  # the others are keys of ranges, too, in the next test
HALVES = [RANGELESS, [name for name in KEYS if name not in RANGELESS]]
WAYS = ["asc nulls first", "desc nulls first", "desc nulls last", "asc nulls last"]


@pytest.mark.parametrize("turn", [0, pytest.param(1, marks=pytest.mark.long)])
@pytest.mark.parametrize("half", [0, pytest.param(1, marks=pytest.mark.long)])
def test_keys_of_every_type(spark, pieces, half, turn):
    pieces(4)
    columns = {}
    for place, name in enumerate(HALVES[half]):
        window = Window.orderBy(f"{name} {WAYS[(place + 2 * turn) % 4]}")
        columns[f"rows by {name}"] = sf.collect_list("id").over(window.rowsBetween(-2, 1))
        columns[f"groups by {name}"] = sf.sum("id").over(window.groupsBetween(-1, 0))
        if turn == 0:
            columns[f"sum by {name}"] = sf.sum("id").over(window)
            columns[f"rank by {name}"] = sf.dense_rank().over(window)
    with warnings.catch_warnings():
        warnings.simplefilter("error", SashWarning)
        cases.check(cases.in_tasks(spark, TYPED, 2, shuffled=True), TYPED, columns)


def test_ranges_of_every_type(spark, pieces):
    pieces(6)
    offsets = {
        "byte": (-20, 9), "short": (-200, 100), "int": (-3, 5), "long": (-1, 2**53), "double": (-0.1, 1.5),
        "float": (-0.1, 1e38), "decimal": (Decimal("-1.55"), 2), "large decimal": (-(10**25), 0),
        "date": ("-1 month", "1 day"), "timestamp": ("-1 hour", "30 minutes"), "timestamp_ntz": ("-1 day", 0),
        "interval": ("-10 minutes", "1 hour"),
    }  # fmt: skip
    columns = {}
    for place, (name, (start, end)) in enumerate(offsets.items()):
        window = Window.orderBy(f"{name} {'desc' if place % 2 else 'asc'}")
        columns[f"range by {name}"] = sf.sum("id").over(window.rangeBetween(start, end))
    cases.check(cases.in_tasks(spark, TYPED, 2, shuffled=True), TYPED, columns)


def test_one_value_and_all_values_different(spark, pieces):
    pieces(7)
    rows = cases.numbered(pa.table({"same": [3] * ROWS, "nothing": pa.array([None] * ROWS, pa.int64())}))
    columns = {}
    for name in ("same", "nothing", "id"):
        window = Window.orderBy(name)
        columns[f"rows by {name}"] = sf.sum("id").over(window.rowsBetween(-3, 1))
        columns[f"range by {name}"] = sf.sum("id").over(window.rangeBetween(-3, 1))
        columns[f"running by {name}"] = sf.sum("id").over(window)
    cases.check(cases.in_tasks(spark, rows, 3), rows, columns)


def test_what_cannot_be_cut_says_so_and_is_right(spark, pieces):
    pieces(7)
    columns = {
        "the middle": sf.median("q").over(BY_T),
        "each its own": sf.sum("q").over(BY_T.rowsBetween(-sash.col("n"), 1)),
        "different": sf.count_distinct("s").over(BY_T.rowsBetween(0, END)),
        "known": sf.lag("s").ignore_nulls().over(BY_T),
        "rank of all": sf.rank().over(Window),
        "not its peers": sf.sum("q").over(Window.exclude("group")),
    }
    with pytest.warns(SashWarning) as told:
        cases.check(cases.in_tasks(spark, DATA, 3), DATA, columns)
    said = [str(each.message) for each in told if issubclass(each.category, SashWarning)]
    assert sorted(each.split(":")[0] for each in said) == sorted(columns)
    assert all("all rows go to one task" in each for each in said)
    assert all(each.filename == cases.__file__ for each in told if issubclass(each.category, SashWarning))


def test_pieces_are_in_the_plan(spark, pieces):
    pieces(7)
    frame = spark.createDataFrame(DATA)
    cut_up = cases.plan(sash.withColumns(frame, {"a": sf.sum("q").over(BY_T.rowsBetween(-2, 0))}))
    assert "__sash_own" in cut_up
    pieces(1)
    whole = cases.plan(sash.withColumns(frame, {"a": sf.sum("q").over(BY_T.rowsBetween(-2, 0))}))
    assert "__sash_own" not in whole
    assert "SinglePartition" in whole


def test_data_that_changed_between_two_reads_are_refused():
    over = sf.sum("q").over(BY_T.rowsBetween(-3, 0))
    keys, order = pa.table({"t": list(range(100))}), KeyOrder.of(over.window)
    cuts = cut(Sample(sample(keys, order, 100), order), 5, reach(over))
    before, _ = cuts.promised(2)
    assert before >= 3
    piece, own = np.full(before + 20, 2), np.array([1] * before + [2] * 20)
    piecewise._check(piece, own, cuts, None)
    piecewise._check(piece, own, cuts, np.array([5, 5, 20]))
    with pytest.raises(SashError, match="the data changed between two reads of it: cache the DataFrame"):
        piecewise._check(piece[1:], own[1:], cuts, None)
    for counts in ([5, 5, 19], [5, 5]):
        with pytest.raises(SashError, match="the data changed between two reads of it"):
            piecewise._check(piece, own, None, np.array(counts))


def test_a_task_that_lacks_rows_of_its_pieces_gives_no_answer():
    """The work of a task in this process: the rows that were there when they were sampled, and then one fewer."""
    columns = {"sum": sf.sum("q").over(BY_T.rowsBetween(-3, 0))}
    [over] = columns.values()
    order = KeyOrder.of(over.window)
    cuts = cut(Sample(sample(pa.table({"t": list(range(100))}), order, 100), order), 5, reach(over))
    before, _ = cuts.promised(2)
    rows = pa.table({"t": range(40, 40 + before + 20), "q": [1] * (before + 20)})
    rows = rows.append_column("piece", pa.array([2] * len(rows), pa.int32()))
    rows = rows.append_column("own", pa.array([1] * before + [2] * 20, pa.int32()))
    names = ["t", "q", piecewise.PIECE, piecewise.OWN]
    answers = pa.schema([("a0", pa.int64()), (piecewise.MINE, pa.bool_())])
    work = piecewise.piecewise(columns, (over,), names, answers, cuts, 1 << 30)

    def answered(table):
        return pa.concat_arrays(list(work(iter([tuple(table.to_batches()[0].columns)])))).to_pylist()

    assert [row["a0"] for row in answered(rows) if row[piecewise.MINE]] == [4] * 20
    with pytest.raises(SashError, match="the data changed between two reads of it: cache the DataFrame"):
        answered(rows.slice(1).combine_chunks())
