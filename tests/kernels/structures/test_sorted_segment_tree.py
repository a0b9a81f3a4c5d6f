"""The sorted segment tree counts ranges of any integers."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from sash.kernels.structures.sorted_segment_tree import SortedSegmentTree
from sash.windows.bounds import Bounds


@given(st.lists(st.integers(-5, 5), max_size=60), st.integers(0, 2**32 - 1))
def test_every_level_is_sorted_and_ranges_are_counted(values, seed):
    rows = len(values)
    column = np.array(values, np.int32)
    lo, hi = np.sort(np.random.default_rng(seed).integers(0, rows + 1, (2, 20)), axis=0).astype(np.int32)
    threshold = np.resize(np.arange(-6, 7, dtype=np.int32), 20)
    tree = SortedSegmentTree(column)
    for level in range(len(tree.levels) // max(rows, 1)):
        for start in range(0, rows, 1 << level):
            node = tree.levels[level * rows + start : level * rows + min(start + (1 << level), rows)]
            assert node.tolist() == sorted(values[start : start + (1 << level)])
    counted = tree.count_below(Bounds(lo, hi, rows), threshold)
    assert counted.tolist() == [(column[a:b] < t).sum() for a, b, t in zip(lo, hi, threshold, strict=True)]
