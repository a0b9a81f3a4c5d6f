import subprocess
import sys
from datetime import timedelta
from decimal import Decimal

import numpy as np
import pytest

from sash.errors import SashError
from sash.expressions import col
from sash.expressions.orders import desc
from sash.windows import Interval, Window, WindowSpec, as_window

EDGE, FAR = Window.unboundedPreceding, Window.unboundedFollowing


class Spark:
    """Stands for a class of PySpark's."""

    __module__ = "pyspark.sql.classic.window"


@pytest.mark.parametrize(
    ("window", "words"),
    [
        (
            Window.partitionBy("symbol").orderBy("ts").rangeBetween("-5 minutes", 0).exclude("ties"),
            "partition by symbol order by ts range between 5 minutes preceding and current row exclude ties",
        ),
        (
            Window.partitionBy(["a", "b"]).orderBy([desc("c"), "d desc nulls first"]),
            "partition by a, b order by c desc, d desc nulls first",
        ),
        (
            Window.orderBy("ts").rangeBetween("-1 hour", 0).exclude("ties").closed("left"),
            "order by ts range between 1 hour preceding and current row closed left exclude ties",
        ),
        (
            Window.closed("neither").orderBy("ts"),
            "order by ts range between unbounded preceding and current row closed neither",
        ),
        (Window.rowsBetween(EDGE, FAR), "rows between unbounded preceding and unbounded following"),
        (Window.rowsBetween(-sys.maxsize, sys.maxsize), "rows between unbounded preceding and unbounded following"),
        (Window.rowsBetween(np.int64(-2), np.int32(-1)), "rows between 2 preceding and 1 preceding"),
        (Window.rowsBetween(-col("back"), col("ahead")), "rows between -back following and ahead following"),
        (Window.orderBy("x").groupsBetween(0, 3), "order by x groups between current row and 3 following"),
        (Window.rangeBetween(Decimal("-0.5"), 2.5), "range between 0.5 preceding and 2.5 following"),
        (Window.rangeBetween(timedelta(days=-1), timedelta(0)), "range between 1 day preceding and current row"),
        (
            Window.rangeBetween("-1 month 3 days", FAR),
            "range between -1 month 3 days following and unbounded following",
        ),
        (
            Window.exclude("Current  ROW"),
            "range between unbounded preceding and unbounded following exclude current row",
        ),
        (WindowSpec(), "all rows"),
    ],
)
def test_a_window_reads_like_sql(window, words):
    assert repr(window) == words


def test_the_frame_depends_on_the_order_where_none_is_given():
    assert repr(Window.partitionBy("a").frame) == "range between unbounded preceding and unbounded following"
    assert repr(Window.orderBy("a").frame) == "range between unbounded preceding and current row"


def test_calling_again_replaces():
    window = Window.partitionBy("a").orderBy("b").rowsBetween(-1, 0).exclude("ties")
    again = window.partitionBy("c").orderBy("d").groupsBetween(-2, 2).exclude("no others")
    assert repr(again) == "partition by c order by d groups between 2 preceding and 2 following"
    assert repr(window) == "partition by a order by b rows between 1 preceding and current row exclude ties"


def test_windows_that_say_the_same_are_the_same():
    def make(size=-5):
        return Window.partitionBy("a").orderBy("b desc").rangeBetween(size, col("x") + 1).exclude("group")

    assert make() == make()
    assert hash(make()) == hash(make())
    assert make() != make(-6)
    assert make().partition_key == Window.partitionBy("a").partition_key
    assert make().order_key != Window.orderBy("b").order_key
    assert len({make().key, make().key, make().orderBy("b").key}) == 2
    assert Window.rangeBetween("60 seconds", FAR) == Window.rangeBetween(timedelta(minutes=1), FAR)
    assert Window.rangeBetween(1, FAR) != Window.rangeBetween("1 day", FAR)


def test_bounds_say_what_they_are():
    frame = Window.rangeBetween("-2 days", col("x")).frame
    assert frame.start.constant == Interval(0, -2, 0)
    assert frame.start.column is None
    assert frame.end.column.key == col("x").key
    assert frame.end.constant is None
    assert frame.has_offset
    assert frame.has_columns
    assert Window.rowsBetween(EDGE, 0).frame.start.is_unbounded
    assert Window.rowsBetween(EDGE, 0).frame.end.is_current_row
    assert not Window.rowsBetween(EDGE, 0).frame.has_offset


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Window.rowsBetween(-1.5, 0), "rowsBetween: start must be a whole number or a column, got -1.5"),
        (lambda: Window.rowsBetween("-5 minutes", 0), "rowsBetween: start must be a whole number.*got '-5 minutes'"),
        (lambda: Window.groupsBetween(0, True), "groupsBetween: end must be a whole number or a column, got True"),
        (lambda: Window.rangeBetween(0, None), "rangeBetween: end must be a number.*got None of type NoneType"),
        (lambda: Window.rangeBetween(Decimal("nan"), 0), "rangeBetween: start must be a number.*got Decimal"),
        (lambda: Window.rangeBetween("5 parsecs", 0), "rangeBetween: start takes whole numbers of.*got '5 parsecs'"),
        (lambda: Window.rowsBetween(2, 1), "start must not be after end, got 2 and 1"),
        (lambda: Window.rangeBetween(0.5, 0), "start must not be after end, got 0.5 and 0"),
        (lambda: Window.rangeBetween("1 day", 0), "start must not be after end, got 1 day and 0"),
        (lambda: Window.rangeBetween("2 hours", "1 hour"), "start must not be after end, got 2 hours and 1 hour"),
        (lambda: Window.rowsBetween(FAR, FAR), "rowsBetween: start must not be unbounded following"),
        (lambda: Window.rowsBetween(EDGE, EDGE), "rowsBetween: end must not be unbounded preceding"),
        (
            lambda: Window.exclude("peers"),
            "exclude takes one of 'current row', 'group', 'ties', 'no others', got 'peers'",
        ),
        (lambda: Window.closed("start"), "closed takes one of 'both', 'left', 'right', 'neither', got 'start'"),
        (lambda: Window.closed(None), "closed takes one of .*, got None"),
        (lambda: Window.rowsBetween(-3, 0).closed("left"), "closed is for rangeBetween: rows are counted"),
        (lambda: Window.closed("left").groupsBetween(-3, 0), "closed is for rangeBetween: groups are counted"),
        (lambda: Window.closed("left").checked(), "closed needs an orderBy to tell which rows lie at a bound"),
        (lambda: Window.exclude(None), "exclude takes one of .*, got None"),
        (lambda: Window.orderBy("a", "b").rangeBetween(-1, 0), "needs exactly one order key, got 2"),
        (lambda: Window.rangeBetween(-1, 0).orderBy("a", "b"), "needs exactly one order key, got 2"),
        (
            lambda: Window.rangeBetween(-1, 0).checked(),
            "rangeBetween with an offset needs an orderBy of exactly one key",
        ),
        (lambda: Window.groupsBetween(-1, 0).checked(), "groupsBetween needs an orderBy"),
        (lambda: Window.partitionBy(3), "partitionBy takes column names and columns, got 3 of type int"),
        (lambda: Window.partitionBy(Spark()), "partitionBy takes column names and columns"),
        (lambda: Window.orderBy(Spark()), "an order is a column's name"),
        (lambda: as_window(Spark()), "over takes a window made with `from sash import Window`, got a PySpark Spark; "),
        (lambda: as_window("w"), "over takes a window made with `from sash import Window`, got 'w' of type str"),
    ],
)
def test_what_is_wrong_is_said_when_the_window_is_built(make, words):
    with pytest.raises(SashError, match=words):
        make()


def test_what_is_right_is_let_through():
    for window in (Window.orderBy("a", "b").rangeBetween(EDGE, 0), Window.rowsBetween(-1, 0), WindowSpec()):
        assert window.checked() is window
        assert as_window(window) is window
        assert window.is_sash_window
    assert as_window(Window) == WindowSpec()
    mixed = Window.orderBy("d").rangeBetween("1 month", "30 days")  # whether it is after end depends on the month
    assert mixed.checked() is mixed


def test_windows_import_no_heavy_library():
    code = "import sash.windows, sys; print([name for name in ('pyarrow', 'pyspark', 'numba') if name in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"
