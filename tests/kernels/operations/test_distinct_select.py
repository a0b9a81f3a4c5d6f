"""The k-th different value of frames that move forward."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from sash.kernels.algorithm import Occurrences
from sash.kernels.operations.distinct_select import select_distinct
from sash.kernels.sorting import occurrences
from sash.kernels.structures.ranked import Ranked
from sash.windows.bounds import MONOTONIC, Bounds
from strategies import monotonic_frames


@given(data=st.data(), values=st.lists(st.integers(0, 6), max_size=40))
def test_the_kth_different_value(data, values):
    frames = data.draw(monotonic_frames(len(values)))
    wanted = data.draw(st.lists(st.integers(-1, 7), min_size=len(frames), max_size=len(frames)))
    order = np.argsort(values, kind="stable").astype(np.int32)
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    segments = np.array([0, len(values)])
    values_of = Occurrences(*occurrences(np.array(values, np.uint64), segments), None)
    lo, hi = (np.array([frame[side] for frame in frames], np.int32) for side in (0, 1))
    lo = np.minimum(lo, hi) if np.all(np.diff(np.minimum(lo, hi)) >= 0) else lo
    bounds = Bounds(lo, np.maximum(lo, hi), len(values), MONOTONIC)
    found = select_distinct(Ranked(order, rank, segments), values_of, bounds, np.array(wanted, np.int32))
    for start, stop, k, first, second in zip(bounds.lo, bounds.hi, wanted, *found, strict=True):
        different = sorted(set(values[start:stop]))
        for got, place in ((first, k), (second, k + 1 if k >= 0 else -1)):
            expected = different[place] if 0 <= place < len(different) else None
            assert (None if got < 0 else values[order[got]]) == expected
