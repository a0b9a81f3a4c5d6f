"""An algorithm refuses, by name, what it cannot compute; bad arguments are named."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import sash
from sash import Window
from sash import functions as sf
from sash.algebra.catalogue import builtin
from sash.errors import Refused
from sash.kernels.fifo import ALGORITHMS, FlatFat, Sliding, slide


def test_subtract_on_evict_refuses_what_has_no_inverse():
    with pytest.raises(Refused, match=r"^subtract_on_evict needs an invertible aggregate; max has no inverse$"):
        Sliding(builtin("max"), np.float64, size=3, using="subtract_on_evict")


def test_slick_deque_refuses_what_is_not_selective():
    with pytest.raises(Refused, match=r"^slick_deque needs a selective aggregate; sum keeps"):
        Sliding(builtin("sum"), np.float64, size=3, using="slick_deque")


def test_subtracting_floats_is_done_only_when_asked_for_by_name():
    ours = {"sum": sf.sum("x").over(Window.rowsBetween(-1, 0)), "long": sf.sum("x").over(Window.rowsBetween(-999, 0))}
    for name, algorithm in sash.explain(pa.table({"x": np.arange(2000.0)}), ours).chosen.items():
        assert algorithm not in ("subtract_on_evict", "prefix"), name
    by_name = slide(builtin("sum"), np.array([1.0, 2.0, 3.0]), size=2, using="subtract_on_evict")
    assert by_name.values.tolist() == [1.0, 3.0, 5.0]


def test_starts_that_go_back_are_refused_by_algorithms_of_one_range():
    window = Sliding(builtin("max"), np.float64, using="two_stacks")
    with pytest.raises(Refused, match="two_stacks needs starts that only move right"):
        window.push(np.arange(5.0), lo=[2, 1], hi=[3, 4])


@pytest.mark.parametrize(
    ("making", "message"),
    [
        ({"size": 0}, "size must be a whole number of rows, at least 1, got 0"),
        ({"size": 2.5}, "size must be a whole number of rows, at least 1, got 2.5"),
        ({"using": "magic"}, "using must be one of .*recalc.*, got 'magic'"),
    ],
)
def test_bad_arguments_are_named(making, message):
    with pytest.raises(sash.SashError, match=message):
        Sliding(builtin("max"), np.float64, **making)


def test_bad_frames_change_nothing():
    window = Sliding(builtin("max"), np.float64, using="daba")
    window.push(np.arange(4.0), lo=[2], hi=[4])
    before = window.state()
    for lo, hi, message in (
        ([2], [9], "nor pass the 5 rows there are, got 9 to 9"),
        ([2, 2], [4, 3], "hi must not fall"),
        ([0], [4], "rows before 2 have left"),
        ([2], [3, 4], "lo and hi must be of one length"),
    ):
        with pytest.raises(sash.SashError, match=message):
            window.push(np.arange(1.0), lo=lo, hi=hi)
    after = window.state()
    assert all(np.array_equal(before[name], after[name]) for name in before)


def test_the_wrong_number_of_columns_is_named():
    window = Sliding(builtin("corr"), np.float64, np.float64, size=2)
    with pytest.raises(sash.SashError, match="push takes 2 columns, got 1"):
        window.push(np.arange(3.0))
    with pytest.raises(sash.SashError, match="corr takes 2 columns, got the types of 1"):
        Sliding(builtin("corr"), np.float64, size=2)


@pytest.mark.parametrize(
    ("saved", "other"),
    [
        (("max", np.int8, 3, "daba"), ("max", np.float64, 3, "daba")),
        (("max", np.int64, 3, "daba"), ("max", np.int64, 4, "daba")),
        (("max", np.int64, 3, "daba"), ("max", np.int64, 3, "pba")),
        (("max", np.int64, 16, "sba"), ("max", np.int64, None, "sba")),
        (("max", np.int64, None, "flatfat"), ("max", np.int64, None, "b_int")),
        (("max", np.int64, None, "daba"), ("min", np.int64, None, "daba")),
    ],
    ids=str,
)
def test_a_state_of_another_making_is_refused(saved, other):
    one, two = (Sliding(builtin(name), kind, size=size, using=using) for name, kind, size, using in (saved, other))
    with pytest.raises(sash.SashError, match="state must be"):
        two.restore(one.state())


@pytest.mark.parametrize("using", list(ALGORITHMS))
def test_a_damaged_state_is_refused(using):
    aggregate = builtin("sum") if using == "subtract_on_evict" else builtin("max")
    window = Sliding(aggregate, np.int64, size=3, using=using)
    window.push(np.arange(5))
    state = window.state()
    for damage in (
        {"marks": state["marks"] + 1_000_000},
        {"marks": state["marks"].reshape(1, -1)},
        {"window": state["window"][:1]},
        {"seal": np.zeros(32, np.uint8)},
    ):
        with pytest.raises(sash.SashError, match="unchanged"):
            window.restore({**state, **damage})
    for nonsense in (None, {}, {"window": state["window"]}):
        with pytest.raises(sash.SashError, match="state must be what state"):
            window.restore(nonsense)
    window.restore(state)


def test_columns_of_another_type_are_not_cut_to_fit():
    window = Sliding(builtin("max"), np.int64, size=3)
    with pytest.raises(sash.SashError, match="push takes a column of int64, got float64 in 1 dimensions"):
        window.push(np.array([1.5]))
    with pytest.raises(sash.SashError, match="push takes a column of float64, got <U1"):
        Sliding(builtin("avg"), np.float64, size=2).push(np.array(["x"]))
    for column, kind in (([2**40], np.int32), (np.array([2**63], np.uint64), np.int64), ([1.5], np.float32)):
        with pytest.raises(sash.SashError, match="push takes a column of"):
            Sliding(builtin("max"), kind, size=2).push(column)
    with pytest.raises(sash.SashError, match="push takes a column of int64, got uint64"):
        slide(builtin("sum"), np.array([2**63], np.uint64), size=2)


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"rows": -1}, "rows must be a whole number, at least 0, got -1"),
        ({"rows": 1.5}, "rows must be a whole number, at least 0, got 1.5"),
        ({"rows": 2, "lo": [0.5], "hi": [1.5]}, "lo must be whole numbers, one a row, got float64"),
        ({"rows": 2, "lo": [[0]], "hi": [[1]]}, "lo must be whole numbers, one a row, got int64 in 2 dimensions"),
        ({"rows": 2, "lo": ["a"], "hi": [1]}, "lo must be whole numbers"),
        ({"rows": 2, "lo": [0], "hi": [1], "keep": 2.5}, "keep must be the position of a row, got 2.5"),
    ],
)
def test_bounds_and_counts_are_whole_numbers(asked, message):
    with pytest.raises(sash.SashError, match=message):
        Sliding(builtin("count"), using="recalc").push(**asked)


def test_columns_with_nulls_are_refused():
    for column in (np.ma.array([1.0, 2.0], mask=[0, 1]), pa.array([1.0, None]), pd.array([1, None], "Int64")):
        with pytest.raises(sash.SashError, match="without NULLs"):
            Sliding(builtin("max"), np.float64, size=2).push(column)


def test_ends_never_go_back_from_one_push_to_the_next():
    window = Sliding(builtin("max"), np.float64, using="recalc")
    window.push(np.arange(8.0), lo=[3], hi=[8])
    with pytest.raises(sash.SashError, match="hi must not fall, from the 8 it had reached on"):
        window.push(np.arange(1.0), lo=[4], hi=[7])


@pytest.mark.parametrize("using", list(ALGORITHMS))
def test_frames_may_end_before_rows_already_pushed(using):
    """Three rows that end two before the current one, in two batches."""
    aggregate = sash.Aggregate("total", lift=lambda x: x, combine=lambda a, b: a + b, inverse=lambda s, old: s - old)
    if using == "slick_deque":
        aggregate = builtin("max")
    column, ends = np.arange(10) ** 2, np.maximum(np.arange(10) - 1, 0)
    whole = slide(aggregate, column, lo=np.maximum(ends - 3, 0), hi=ends, using=using)
    window = Sliding(aggregate, np.int64, using=using)
    parts = [window.push(column[a:b], lo=np.maximum(ends - 3, 0)[a:b], hi=ends[a:b]) for a, b in ((0, 5), (5, 10))]
    assert np.concatenate([part.values for part in parts]).tolist() == whole.values.tolist()
    fold = max if using == "slick_deque" else sum
    assert whole.values.tolist()[3:] == [fold((column[max(0, e - 3) : e]).tolist()) for e in ends[3:]]


def test_counts_of_empty_frames_are_zero():
    got = slide(builtin("count"), rows=3, lo=[0, 1], hi=[0, 3], using="two_stacks")
    assert got.values.tolist() == [0, 2]
    assert got.valid.all()


def test_every_push_gives_finished_answers():
    window = Sliding(builtin("sum"), np.int32, size=2)
    assert window.push(np.array([1, 2, 3], np.int32)).values.tolist() == [1, 3, 5]
    with pytest.raises(sash.SashError, match="does not fit 64 bits"):
        Sliding(builtin("sum"), np.int64, size=2).push(np.array([2**62] * 3))
    tree = FlatFat(builtin("sum"), np.int64)
    tree.insert(np.array([1, 2, 3]))
    assert tree.query() == (6, True)


def test_answers_can_be_written_over_earlier_ones():
    window = Sliding(builtin("max"), np.int64, using="daba")
    first = window.push(np.array([3, 1]), lo=[0, 2], hi=[1, 2])
    assert first.valid.tolist() == [True, False]
    again = window.push(np.array([2, 5]), lo=[2, 2], hi=[3, 4], out=first)
    assert again is first
    assert first.values.tolist() == [2, 5]
    assert first.valid.tolist() == [True, True]
    with pytest.raises(
        sash.SashError, match="out must hold 1 answers of int64 in arrays that can be written, got 2 of int64"
    ):
        window.push(np.array([2]), lo=[4], hi=[5], out=first)


def test_a_window_whose_aggregate_raised_says_so_until_it_is_restored():
    def half(x):
        if x > 9:
            raise ValueError("too large")
        return x

    for compiled in (True, False):
        aggregate = sash.Aggregate("half", lift=half, combine=lambda a, b: a + b, compiled=compiled)
        window = Sliding(aggregate, np.int64, size=2, using="daba")
        window.push(np.array([1, 2]))
        saved = window.state()
        with pytest.raises((sash.SashError, ValueError)):
            window.push(np.array([3, 10, 4]))
        with pytest.raises(sash.SashError, match="restore the window from a state"):
            window.push(np.array([3]))
        with pytest.raises(sash.SashError, match="there is no state to keep"):
            window.state()
        window.restore(saved)
        assert window.push(np.array([3])).values.tolist() == [5]
