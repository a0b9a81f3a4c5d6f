from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernels.index.test_block_sort import both_as_expected, queries
from sash.kernels.index import incremental


@st.composite
def coded(draw, kind=np.int32):
    ranked, bounds, _ = draw(queries(kind))
    values = draw(st.integers(1, 12))
    codes = draw(st.lists(st.integers(0, values - 1), min_size=len(ranked), max_size=len(ranked)))
    return np.array(codes, kind), bounds, values


def frames(codes, bounds):
    return [codes[lo:hi].tolist() for lo, hi in zip(bounds.lo, bounds.hi, strict=True)]


@given(queries())
def test_finds_the_kth_row(query):
    both_as_expected(incremental.select, *query)


@given(coded())
def test_counts_distinct_codes(query):
    codes, bounds, values = query
    counts = incremental.count_distinct(codes, bounds, values)
    assert counts.tolist() == [len(set(frame)) for frame in frames(codes, bounds)]


@given(coded())
def test_finds_the_smallest_of_the_most_frequent_codes(query):
    codes, bounds, values = query
    modes = incremental.mode(codes, bounds, values)
    counters = [Counter(frame) for frame in frames(codes, bounds)]
    assert modes.tolist() == [min(c, key=lambda code: (-c[code], code), default=-1) for c in counters]


@pytest.mark.long
@given(queries(np.int64), coded(np.int64))
def test_takes_wide_positions(query, columns):
    both_as_expected(incremental.select, *query)
    codes, bounds, values = columns
    assert incremental.count_distinct(codes, bounds, values).tolist() == [len(set(f)) for f in frames(codes, bounds)]
