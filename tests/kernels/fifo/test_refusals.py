"""An algorithm refuses, by name, what it cannot compute; bad arguments are named."""

import numpy as np
import pytest

import sash
from sash.algebra.catalogue import builtin
from sash.errors import Refused
from sash.kernels.fifo import ALGORITHMS, Sliding, slide
from sash.kernels.fifo.sliding import eligible


def test_subtract_on_evict_refuses_what_has_no_inverse():
    with pytest.raises(Refused, match=r"^subtract_on_evict needs an invertible aggregate; max has no inverse$"):
        Sliding(builtin("max"), np.float64, size=3, using="subtract_on_evict")


def test_slick_deque_refuses_what_is_not_selective():
    with pytest.raises(Refused, match=r"^slick_deque needs a selective aggregate; sum keeps"):
        Sliding(builtin("sum"), np.float64, size=3, using="slick_deque")


def test_subtracting_floats_is_done_only_when_asked_for_by_name():
    kernel = ALGORITHMS["subtract_on_evict"]
    assert not eligible(kernel, builtin("sum"), np.float64)
    assert eligible(kernel, builtin("sum"), np.int64)
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
        ({"using": "magic"}, "using must be one of recalc, .*, got 'magic'"),
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
        ([2], [9], "hi must not fall, nor pass the 5 rows"),
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


def test_a_state_of_another_making_is_refused():
    saved = Sliding(builtin("max"), np.int8, size=3, using="daba").state()
    for other, message in (
        (Sliding(builtin("max"), np.float64, size=3, using="daba"), "state must hold 3 entries of float64 as ring"),
        (Sliding(builtin("max"), np.int8, size=4, using="daba"), "state must be of a window of 4 rows, got one of 3"),
        (Sliding(builtin("max"), np.int8, size=3, using="sba"), "state must be of a window of sba"),
    ):
        with pytest.raises(sash.SashError, match=message):
            other.restore(saved)


def test_columns_of_another_type_are_not_cut_to_fit():
    window = Sliding(builtin("max"), np.int64, size=3)
    with pytest.raises(sash.SashError, match="push takes a column of int64, got float64 in 1 dimensions"):
        window.push(np.array([1.5]))
    with pytest.raises(sash.SashError, match="push takes a column of float64, got <U1"):
        Sliding(builtin("avg"), np.float64, size=2).push(np.array(["x"]))
    with pytest.raises(sash.SashError, match="push needs one number of rows"):
        Sliding(builtin("count"), size=2).push(rows=-1)


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
