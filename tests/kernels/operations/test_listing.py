"""First occurrences listed without a look at the repetitions between them."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sash.algebra.catalogue import builtin
from sash.kernels.operations.listing import first_occurrences, lowered
from sash.kernels.sorting import occurrences


def listed(values, frames):
    previous, _ = occurrences(np.array(values, np.uint64), np.array([0, len(values)]))
    lo, hi = (np.array([frame[side] for frame in frames], np.int32) for side in (0, 1))
    counts = np.zeros(len(frames), np.int64)
    first_occurrences(previous, lo, hi, counts, counting=True)
    offsets = np.concatenate([[0], np.cumsum(counts)])
    found = first_occurrences(previous, lo, hi, offsets)
    return [found[a:b].tolist() for a, b in pairwise(offsets)]


def expected(values, lo, hi):
    return [j for j in range(lo, hi) if values[j] not in values[lo:j]]


@given(st.lists(st.integers(0, 5), max_size=60), st.data())
def test_first_occurrences(values, data):
    some = st.tuples(st.integers(0, len(values)), st.integers(0, len(values))).map(sorted)
    frames = data.draw(st.lists(some, max_size=10))
    assert listed(values, frames) == [expected(values, lo, hi) for lo, hi in frames]


@pytest.mark.parametrize("different", [1, 2, 7, 4096])
def test_first_occurrences_far_apart(different):
    values = (np.arange(5000) // 300 % different).tolist() if different < 10 else list(range(5000))
    frames = [(0, 5000), (17, 4999), (255, 257), (256, 4096), (4095, 5000), (16, 16)]
    assert listed(values, frames) == [expected(values, lo, hi) for lo, hi in frames]


def test_what_a_function_takes_of_a_frame():
    ranges, valid = lowered(builtin("last_n", 2), np.array([0, 1, 5]))
    assert valid.tolist() == [False, True, True]
    assert ranges[1:].tolist() == [(0, 1), (3, 5)]
