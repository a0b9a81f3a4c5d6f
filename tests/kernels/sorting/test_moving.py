"""Values moved by an order are those that NumPy moves, whatever their type and on however many threads."""

import numpy as np
import pytest

from sash.kernels.sorting.integers import MANY, integer_keys
from sash.kernels.sorting.moving import FEW, gathered, scattered


@pytest.mark.parametrize("rows", [0, 5, FEW + 3])
@pytest.mark.parametrize("dtype", [np.bool_, np.int16, np.float32, np.float64, "datetime64[us]", np.complex128])
@pytest.mark.parametrize("number", [np.int32, np.int64])
def test_values_go_where_an_order_has_them_and_back(rows, dtype, number):
    random = np.random.default_rng(rows)
    values, order = random.integers(0, 100, rows).astype(dtype), random.permutation(rows).astype(number)
    moved = gathered(values, order)
    assert moved.dtype == values.dtype
    np.testing.assert_array_equal(moved, values[order])
    np.testing.assert_array_equal(scattered(moved, order), values)


def test_nan_and_minus_zero_are_moved_as_they_are():
    values = np.tile(np.array([0.0, -0.0, np.nan, 1.0]), FEW)
    moved = gathered(values, np.arange(len(values))[::-1].copy())
    assert np.array_equal(moved.view(np.uint64), values[::-1].view(np.uint64))


@pytest.mark.parametrize("dtype", [np.int8, np.int16, np.int32, np.int64])
def test_keys_of_whole_numbers_are_in_their_order(dtype):
    ends = np.iinfo(dtype)
    values = np.random.default_rng(0).integers(ends.min, ends.max, MANY, dtype, endpoint=True)
    values[:3] = ends.min, 0, ends.max
    keys = integer_keys(values)
    assert np.array_equal(keys, np.concatenate([integer_keys(values[: MANY // 2]), integer_keys(values[MANY // 2 :])]))
    assert np.array_equal(np.argsort(keys, kind="stable"), np.argsort(values, kind="stable"))
