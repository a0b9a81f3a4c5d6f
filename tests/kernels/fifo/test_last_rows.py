"""Frames that are the last so many rows at each row: windows of one size, whether bounds say so or not."""

import numpy as np
import pytest

import sash
from sash.kernels.fifo.forward_folding import last_rows
from sash.kernels.fold_by_name import fold
from sash.windows.bounds import MONOTONIC, Bounds

ROWS = sash.Aggregate("rows", lift=lambda x: (x,), combine=lambda a, b: a + b, lower=lambda s: s, compiled=False)


@pytest.mark.parametrize(
    ("first", "end", "last"), [(0, 1, 40), (3, 4, 30), (5, 12, 40), (0, 8, 9), (0, 30, 40), (7, 10, 11)]
)
def test_pba_answers_them_as_it_would_one_by_one(first, end, last):
    hi = np.arange(end, last + 1)
    lo = np.maximum(hi - 8, first)
    bounds, rows = Bounds(lo, hi, 41, MONOTONIC), tuple(range(41))
    answered = fold(ROWS, (np.array(rows),), 41, bounds, "pba")
    assert answered.values.tolist() == [rows[start:stop] for start, stop in zip(lo, hi, strict=True)]


@pytest.mark.parametrize(
    ("lo", "hi"),
    [([0, 1, 2], [3, 4, 6]), ([0, 0, 1], [2, 3, 3]), ([0, 2, 3], [3, 4, 5]), ([0], [9]), ([2, 3], [2, 4]), ([], [])],
)
def test_others_are_not(lo, hi):
    assert last_rows(Bounds(np.array(lo, np.int64), np.array(hi, np.int64), 9, MONOTONIC)) is None
