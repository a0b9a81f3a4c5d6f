"""The worked examples and figures of spanning-event-slicing-2021, with the corrections of papers/README.md."""

import numpy as np
import pytest

from kernels.spans.levels import interval, path, reads
from sash.algebra.catalogue import builtin
from sash.kernels.compiling import specialise
from sash.kernels.inputs import Inputs
from sash.kernels.spans import multilevel_slicing, slicing

COUNT, MAX = Inputs(builtin("count"), ()), Inputs(builtin("max"), (np.int64,))


def one(number):
    return np.array([number], np.int64)


def flags(numbers):
    return np.ones(len(numbers), np.uint8)


def test_a_call_of_18_minutes_is_counted_once_in_a_window_of_15():
    """3.2.2: slices of 5 minutes; the call [16, 34) overlaps cells 3 to 6, the window [0, 15) is the first three."""
    ends, on = np.array([8, 19, 15, 18, 14, 12, 16]), np.array([25, 18, 12, 14, 11, 19, 16])
    states, held, marks = np.zeros(1, np.int64), np.zeros(1, np.uint8), one(6)
    work = (states, held, ends, flags(ends), on, flags(on), marks)
    specialise(slicing.slicing, COUNT.aggregate, ()).run((), one(3), one(6), one(0), one(3), 4, 1, *work)
    assert ends.tolist() == [8, 19, 15, 18, 14, 12, 17]
    assert on.tolist() == [25, 18, 12, 15, 12, 20, 16]
    assert states.tolist() == [54]
    assert held.tolist() == [1]


def test_the_longest_call_needs_one_partial_a_slice():
    """3.2.1: the same call, of which the largest duration is asked for."""
    ends, none = np.array([20, 63, 19, 33, 12, 47, 14]), np.zeros(0, np.int64)
    states, held, marks = np.zeros(1, np.int64), np.zeros(1, np.uint8), one(6)
    work = (states, held, ends, flags(ends), none, flags(none), marks)
    run = specialise(slicing.slicing, MAX.aggregate, MAX.dtypes).run
    run((one(18),), one(3), one(6), one(0), one(3), 4, 0, *work)
    assert ends.tolist() == [20, 63, 19, 33, 18, 47, 18]
    assert states.tolist() == [63]


def test_a_call_is_counted_once_by_levels():
    """4.3.1: six slices of three levels from 50 on; the call [61, 79) and the window [50, 65)."""
    ends = [[5, 5, 4], [3, 7, 5], [6, 4, 5], [5, 3, 4], [5, 5, 4], [5, 4, 5]]
    on = [[6, 2, 3], [5, 4, 6], [9, 5, 7], [7, 4, 3], [4, 4, 7], [5, 3, 6]]
    ends, on = (np.array(table).reshape(-1) for table in (ends, on))
    before = ends.copy(), on.copy()
    states, held, marks = np.zeros(1, np.int64), np.zeros(1, np.uint8), one(5)
    work = (states, held, ends, flags(ends), on, flags(on), marks)
    run = specialise(multilevel_slicing.multilevel_slicing, COUNT.aggregate, ()).run
    run((), one(2), one(5), one(0), one(3), 4, 3, 1, *work)
    assert path(2, 5, height=3) == [(5, 3), (2, 1)]
    assert np.flatnonzero(ends - before[0]).tolist() == [5 * 3 + 2]
    assert np.flatnonzero(on - before[1]).tolist() == [2 * 3]
    assert (ends[17], on[6]) == (6, 10)
    assert states.tolist() == [91]


def test_intervals_of_levels():
    """Figure 7: the levels of slice 7."""
    assert [interval(7, level) for level in (1, 2, 3, 4)] == [(7, 7), (6, 7), (5, 7), (4, 7)]
    assert [interval(1, level) for level in (1, 2, 3, 4)] == [(1, 1), (0, 1), (0, 1), (0, 1)]


def test_the_path_of_an_event():
    """Figure 8: an event over slices 2 to 8, with a height of 4."""
    assert path(2, 8, height=4) == [(8, 4), (4, 3)]
    assert path(8, 8, height=4) == [(8, 1)]
    assert path(2, 8, height=1) == [(cell, 1) for cell in range(8, 1, -1)]


@pytest.mark.parametrize("height", range(1, 21))
@pytest.mark.parametrize("size", range(1, 42))
def test_a_path_covers_each_cell_of_an_event_once(height, size):
    taken = [interval(*step) for step in path(50, 49 + size, height)]
    assert sorted(cell for low, high in taken for cell in range(low, high + 1)) == list(range(50, 50 + size))
    assert len(taken) == -(-size // height)


def test_what_a_release_reads():
    """Figure 9: a window of the slices 1 to 3, with a height of 4."""
    levels = {cell: [level for other, level in reads(1, 4, height=4) if other == cell] for cell in range(1, 8)}
    assert [len(levels[cell]) for cell in range(1, 8)] == [4, 4, 4, 3, 2, 1, 0]
    assert (levels[4], levels[5], levels[6]) == ([2, 3, 4], [3, 4], [4])
    assert {cell for cell, _ in reads(1, 4, height=4, clock=5)} == {1, 2, 3, 4, 5}


@pytest.mark.parametrize("height", range(1, 21))
def test_a_release_reads_just_the_levels_that_reach_into_the_window(height):
    all_levels = [(cell, level) for cell in range(80) for level in range(1, height + 1)]
    reach = [step for step in all_levels if interval(*step)[0] < 34 and interval(*step)[1] >= 30]
    assert reads(30, 34, height) == reach
    assert len(reach) == height * 4 + height * (height - 1) // 2
