import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from coded_frames import Coded, able, coded
from sash.kernels.algorithm import DISTINCT
from sash.windows.bounds import ARBITRARY, MONOTONIC, Bounds


def distinct(case):
    """The counts of every algorithm that can, which are the same."""
    first, *others = (each.run(case.occurrences, case.bounds) for each in able(DISTINCT, case.bounds))
    for other in others:
        assert other.tolist() == first.tolist()
    return first


def different(case):
    return [len(set(codes.tolist())) for codes in case.frames()]


@given(coded())
def test_each_frame_has_as_many_values_as_a_set_of_its_rows(case):
    assert distinct(case).tolist() == different(case)


@st.composite
def around_peers(draw):
    """Frames by rows, values or groups, which need not hold the current row; peers or ties are cut out."""
    rows, size = draw(st.integers(1, 60)), draw(st.sampled_from((1, 2, 5, 20, 60)))
    random = np.random.default_rng(draw(st.integers(0, 2**32)))
    partition = np.sort(random.integers(0, draw(st.sampled_from((1, 1, 3))), rows))
    key = partition * 1000 + np.sort(random.integers(0, max(rows // size, 1), rows))
    codes = np.unique(
        partition * 100 + random.integers(0, draw(st.sampled_from((2, 6, 50))), rows), return_inverse=True
    )[1]
    start, end = np.searchsorted(partition, partition), np.searchsorted(partition, partition, "right")
    row, group = np.arange(rows), np.unique(key, return_inverse=True)[1]
    back, ahead = sorted(random.integers(-12, 13, 2))
    unit = draw(st.sampled_from(("rows", "range", "groups", "any")))
    if unit == "any":
        lo, hi = np.sort(random.integers(start, end + 1, (2, rows)), 0)
    else:
        by = {"rows": row, "range": key, "groups": group}[unit]
        lo, hi = np.searchsorted(by, by + back), np.searchsorted(by, by + ahead, "right")
    lo, hi = np.clip(lo, start, end), np.clip(np.maximum(lo, hi), start, end)
    a, b = (np.clip(np.searchsorted(key, key, side), lo, hi) for side in ("left", "right"))
    own = np.where((lo <= row) & (row < hi), row, -1) if draw(st.booleans()) else np.zeros(0)
    asking = np.sort(random.choice(rows, random.integers(1, rows + 1), replace=False)) if draw(st.booleans()) else row
    arrays = [side[asking].astype(np.int32) if len(side) else side.astype(np.int32) for side in (lo, hi, a, b, own)]
    forward = all((np.diff(side) >= 0).all() for side in arrays[:4])
    shape = MONOTONIC if forward and draw(st.booleans()) else ARBITRARY
    bounds = Bounds(arrays[0], arrays[1], rows, shape, a=arrays[2], b=arrays[3], own=arrays[4])
    return Coded(codes.astype(np.int32), bounds)


@given(around_peers())
def test_holes_take_the_values_that_occur_in_them_only(case):
    assert distinct(case).tolist() == different(case)


def test_a_value_may_come_back_after_the_hole():
    row = np.array([0], np.int32)
    bounds = Bounds(row, row + 4, 4, a=row, b=row + 1)  # abac without row 0
    assert distinct(Coded(np.array([0, 1, 0, 2], np.int32), bounds)).tolist() == [3]


@pytest.mark.parametrize(
    ("shape", "dtype"),
    [(MONOTONIC, np.int32), (ARBITRARY, np.int32), (MONOTONIC, np.int64),
     pytest.param(ARBITRARY, np.int64, marks=pytest.mark.long)],
)  # fmt: skip
def test_threads_share_frames_of_many_rows(dtype, shape, monkeypatch):
    monkeypatch.setenv("SASH_THREADS", "3")
    rows, random = 400_000, np.random.default_rng(3)
    codes, row = random.integers(0, 500, rows).astype(dtype), np.arange(rows)
    spread = random.integers(0, 900, (2, rows)) if shape == ARBITRARY else np.full((2, rows), 700)
    lo, hi = np.maximum(row - spread[0], 0), np.minimum(row + spread[1], rows)
    a, b = (np.clip(side, lo, hi) for side in (row // 300 * 300, row // 300 * 300 + 300))
    arrays = [side.astype(dtype) for side in (lo, hi, a, b, row)]
    case = Coded(codes, Bounds(arrays[0], arrays[1], rows, shape, a=arrays[2], b=arrays[3], own=arrays[4]))
    counts = distinct(case)
    for i in range(0, rows, 4999):
        held = np.concatenate([codes[lo[i] : a[i]], codes[i : i + 1], codes[b[i] : hi[i]]])
        assert counts[i] == len(np.unique(held))
