import pytest

import sash
from sash import Window
from sash import functions as sf
from sash.engine.ranges import Reach, Side, reach, together
from sash.windows.intervals import Interval

ALL, NONE = Side(everything=True), Side()
ORDERED = Window.orderBy("t")
LEAST, MOST = Window.unboundedPreceding, Window.unboundedFollowing


@pytest.mark.parametrize(
    ("window", "before", "after"),
    [
        (Window.partitionBy("k"), ALL, ALL),
        (ORDERED, ALL, NONE),
        (ORDERED.rowsBetween(-2, 5), Side(rows=2), Side(rows=5)),
        (ORDERED.rowsBetween(5, 10), NONE, Side(rows=10)),
        (ORDERED.rowsBetween(-10, -5), Side(rows=10), NONE),
        (ORDERED.rowsBetween(0, MOST), NONE, ALL),
        (ORDERED.rowsBetween(LEAST, -5), Side(everything=True, rows=5), NONE),
        (ORDERED.groupsBetween(3, MOST), NONE, Side(everything=True, groups=3)),
        (ORDERED.groupsBetween(-3, 0), Side(groups=3), NONE),
        (ORDERED.rangeBetween(0, 0), NONE, NONE),
        (ORDERED.rangeBetween(-2.5, 1), Side(ranges=(-2.5,)), Side(ranges=(1,))),
        (ORDERED.rangeBetween(LEAST, -1), Side(everything=True, ranges=(-1,)), NONE),
        (ORDERED.rangeBetween("-5 minutes", 0), Side(ranges=(Interval(microseconds=-300_000_000),)), NONE),
        (ORDERED.rangeBetween("-1 month 3 days", "1 month -40 days"),
         Side(ranges=(Interval(-1, 3),)), Side(ranges=(Interval(1, -40),))),
        (ORDERED.rangeBetween(float("-inf"), 1), Side(unknown=True), Side(ranges=(1,))),
        (ORDERED.rangeBetween(-1, float("nan")), Side(ranges=(-1,)), Side(unknown=True)),
        (ORDERED.rangeBetween(1, 1e300), NONE, Side(unknown=True)),
        (ORDERED.rowsBetween(sash.col("n"), 3), Side(unknown=True), Side(rows=3)),
        (ORDERED.rowsBetween(LEAST, sash.col("n")), Side(everything=True, unknown=True), Side(unknown=True)),
    ],
)  # fmt: skip
def test_frames(window, before, after):
    for call in (sf.sum("x"), sf.median("x"), sf.first_value("x"), sf.rank().order_by("x"), sf.lag("x").order_by("x")):
        assert reach(call.over(window.exclude("group"))) == Reach(before, after)


@pytest.mark.parametrize(
    ("call", "before", "after"),
    [
        (sf.lag("x"), Side(rows=1), NONE),
        (sf.lead("x", 3), NONE, Side(rows=3)),
        (sf.lead("x", -3), Side(rows=3), NONE),
        (sf.lead("x", 0).ignore_nulls(), NONE, NONE),
        (sf.lag("x", 2).ignore_nulls(), ALL, NONE),
        (sf.lead("x", 2).filter("x > 0"), NONE, ALL),
        (sf.lag("x", 10**30), Side(rows=2**62), NONE),
        (sf.row_number(), ALL, NONE),
        (sf.dense_rank(), ALL, NONE),
        (sf.ntile(3), ALL, ALL),
        (sf.percent_rank(), ALL, ALL),
        (sf.cume_dist(), ALL, ALL),
    ],
)
def test_functions_that_pass_over_the_frame(call, before, after):
    assert reach(call.over(ORDERED.rowsBetween(-7, 7))) == Reach(before, after)


def test_the_farthest_of_each_kind_is_kept():
    frames = [ORDERED.rowsBetween(-2, 5), ORDERED.rowsBetween(-3, 1), ORDERED.rangeBetween(-1, 2)]
    frames += [ORDERED.rangeBetween(-1, 0), ORDERED.groupsBetween(0, 1), ORDERED.rangeBetween(0, MOST)]
    together_ = together(reach(sf.sum("x").over(frame)) for frame in frames)
    assert together_ == Reach(Side(rows=3, ranges=(-1,)), Side(everything=True, rows=5, groups=1, ranges=(2,)))
    assert together([]) == Reach()
    assert not Reach().before
