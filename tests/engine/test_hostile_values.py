"""Values at the ends of their types: the oracle's answers, or an error that says what does not fit."""

import math
from datetime import timedelta
from decimal import Decimal, localcontext
from functools import reduce

import pyarrow as pa
import pytest

import frames_oracle as oracle
import hostile
import sash
from sash import Window
from sash import functions as sf
from sash.errors import Overflow

pytestmark = pytest.mark.long
BY_ID, IDS = Window.orderBy("id"), (("id", False, True),)
FRAMES = {
    "rows": (BY_ID.rowsBetween(-2, 1), oracle.Window((), IDS, "rows", -2, 1)),
    "so far": (BY_ID, oracle.Window((), IDS)),
    "by key": (Window.partitionBy("k").orderBy("id").rowsBetween(-1, 9), oracle.Window(("k",), IDS, "rows", -1, 9)),
}


def calls(name):
    """Functions that only compare and carry, as Sash and as the oracle have them."""
    own = ((name, True, False), ("id", False, True))
    return {
        "min": (sf.min(name), oracle.Call("min", (name,))),
        "max": (sf.max(name), oracle.Call("max", (name,))),
        "kinds": (sf.count_distinct(name), oracle.Call("count_distinct", (name,))),
        "mode": (sf.mode(name), oracle.Call("mode", (name,))),
        "lag": (sf.lag(name), oracle.Call("lag", (name,), (1, None))),
        "first": (sf.first_value(name), oracle.Call("first_value", (name,))),
        "list": (sf.collect_list(name), oracle.Call("collect_list", (name,))),
        "rank": (sf.rank().order_by(f"{name} desc"), oracle.Call("rank", order=((name, True, False),))),
        "dense": (sf.dense_rank().order_by(name), oracle.Call("dense_rank", order=((name, False, True),))),
        "second": (
            sf.nth_value(name, 2).order_by(f"{name} desc", "id"),
            oracle.Call("nth_value", (name,), (2, False), order=own),
        ),
    }


@pytest.mark.parametrize("frame", FRAMES)
@pytest.mark.parametrize("name", hostile.VALUES)
def test_what_compares_and_carries(name, frame):
    """Survived infinities, NaN, years 1 and 9999, 38 digits, texts with NUL and of a megabyte, in ten functions."""
    window, plain = FRAMES[frame]
    out = sash.withColumns(hostile.TABLE, {what: ask.over(window) for what, (ask, _) in calls(name).items()})
    for what, (_, call) in calls(name).items():
        expected = oracle.answers(hostile.rows(), plain, call)
        assert all(map(hostile.same, out[what].to_pylist(), expected)), what


STEPS = {"double": 1.0, "long": 1, "int": 1, "date": "1 day", "time": "1 second", "decimal": Decimal(1)}
UNITS = {"time": 1_000_000, "decimal": Decimal(1), "double": 1.0}


@pytest.mark.parametrize("descending", [False, True])
@pytest.mark.parametrize("name", STEPS)
def test_ranges_that_reach_beyond_the_ends_of_a_type(name, descending):
    """Survived RANGE frames around the first and the last value that a type has: no bound wraps round."""
    way = f"{name} desc" if descending else name
    step = STEPS[name]
    back = f"-{step}" if isinstance(step, str) else -step
    window = Window.orderBy(way).rangeBetween(back, step)
    unit = UNITS.get(name, 1)
    order = ((f"{name} counted", descending, not descending),)
    with localcontext(prec=100):
        plain = oracle.Window((), order, "range", -unit, unit)
        expected = oracle.answers(hostile.rows(), plain, oracle.Call("count_distinct", ("id",)))
    got = sash.withColumns(hostile.TABLE, {"n": sf.count().over(window)})["n"].to_pylist()
    assert got == expected


def test_times_at_both_ends_of_64_bits():
    """Survived timestamps of the least and the largest number of microseconds, which no calendar has."""
    counts = [-hostile.LONG - 1, hostile.LONG, 0, None, hostile.LONG - 1, -hostile.LONG]
    table = pa.table({"at": pa.array(counts, pa.timestamp("us")), "i": range(6)})
    rows = [{"at": count, "i": place} for place, count in enumerate(counts)]
    for span, unit in (("1 second", 10**6), (timedelta(microseconds=1), 1)):
        back = f"-{span}" if isinstance(span, str) else -span
        window = Window.orderBy("at").rangeBetween(back, span)
        plain = oracle.Window((), (("at", False, True),), "range", -unit, unit)
        asked = {"max": sf.max("at"), "min": sf.min("at"), "count_distinct": sf.count_distinct("at")}
        out = sash.withColumns(table, {name: call.over(window) for name, call in asked.items()})
        for name in asked:
            expected = oracle.answers(rows, plain, oracle.Call(name, ("at",)))
            assert out[name].cast(pa.int64()).to_pylist() == expected


def added(values):
    """Floats added one after the other, as a frame has them."""
    return reduce(lambda a, b: a + b, values) if values else None


@pytest.mark.parametrize("back", range(6))
def test_sums_of_floats_that_are_not_finite_leave_no_trace(back):
    """Survived infinities, NaN and overflows in sliding sums and means: none is felt once it has left the frame."""
    values = [1.0, hostile.INF, 2.0, 3.0, hostile.NAN, 4.0, 5.0, 6.0, hostile.LARGEST, hostile.LARGEST, 1.0, 2.0, 3.0]
    values += [-hostile.INF, 1.5, hostile.INF, 2.5, 3.5, 4.5, 0.25, -0.0, 5e-324, 1.0, 2.0]
    window = Window.orderBy("i").rowsBetween(-back, 0)
    table = pa.table({"i": range(len(values)), "x": values})
    out = sash.withColumns(table, {"sum": sf.sum("x").over(window), "avg": sf.avg("x").over(window)})
    sums = [added(values[max(place - back, 0) : place + 1]) for place in range(len(values))]
    means = [each / (min(place, back) + 1) for place, each in enumerate(sums)]
    for got, expected in ((out["sum"], sums), (out["avg"], means)):
        close = [a == b or (math.isnan(a) and math.isnan(b)) or math.isclose(a, b, rel_tol=1e-9)
                 for a, b in zip(got.to_pylist(), expected, strict=True)]  # fmt: skip
        assert all(close), (got.to_pylist(), expected)


@pytest.mark.parametrize("back", range(5))
@pytest.mark.parametrize(("name", "least", "most"), [
    ("long", -hostile.LONG - 1, hostile.LONG),
    ("int", -hostile.LONG - 1, hostile.LONG),
    ("decimal", hostile.LEAST, hostile.NINES),
    ("small", Decimal(f"{hostile.LEAST}e-38"), Decimal(f"{hostile.NINES}e-38")),
])  # fmt: skip
def test_sums_are_exact_or_an_error(name, least, most, back):
    """Survived sums at the ends of 64 bits and of 38 digits: each is exact, and one that does not fit is an error."""
    table = hostile.TABLE.sort_by("id").select(["id", name])
    values = table[name].to_pylist()
    asked = {"sum": sf.sum(name).over(BY_ID.rowsBetween(-back, 0))}
    with localcontext(prec=100):
        frames = [values[max(place - back, 0) : place + 1] for place in range(hostile.ROWS)]
        known = [[each for each in frame if each is not None] for frame in frames]
        exact = [sum(frame) if frame else None for frame in known]
        if all(each is None or least <= each <= most for each in exact):
            assert sash.withColumns(table, asked)["sum"].to_pylist() == exact
        else:
            with pytest.raises(Overflow, match="does not fit"):
                sash.withColumns(table, asked)
