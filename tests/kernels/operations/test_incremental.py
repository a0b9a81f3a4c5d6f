from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernels.structures.test_block_sort import both_as_expected, queries
from sash.kernels.operations import incremental


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


class Counting(list):
    """Ranks that count how often they are read."""

    reads = 0

    def __getitem__(self, place):
        self.reads += 1
        return super().__getitem__(place)


@pytest.mark.parametrize("rows", [256, 1024])
def test_a_median_of_growing_frames_reads_each_row_of_a_frame_a_few_times(rows):
    ranks, held = Counting(np.random.default_rng(0).permutation(rows).tolist()), []
    for row in range(rows):
        held.append(row)
        incremental.quickselect(row // 2, 0, row + 1, ranks, held)
    assert ranks.reads < 1.5 * rows**2  # 2.6 and 8.1 with all pivots at the target


@pytest.mark.long
@given(queries(np.int64), coded(np.int64))
def test_takes_wide_positions(query, columns):
    both_as_expected(incremental.select, *query)
    codes, bounds, values = columns
    assert incremental.count_distinct(codes, bounds, values).tolist() == [len(set(f)) for f in frames(codes, bounds)]
