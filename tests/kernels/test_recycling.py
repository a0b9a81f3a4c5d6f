"""Large arrays come from Arrow's pool, where it keeps pages, and are as good as NumPy's own."""

import numpy as np
import pyarrow as pa
import pytest

from sash.kernels.recycling import LARGE, POOL, empty, empty_like

NUMBERS = LARGE // 8


@pytest.mark.skipif(pa.default_memory_pool().backend_name != POOL, reason="this pool gives pages back")
def test_memory_of_a_large_array_goes_back_to_arrow():
    before = pa.total_allocated_bytes()
    array = empty(NUMBERS, np.float64)
    assert pa.total_allocated_bytes() - before == array.nbytes
    view = array[1:]
    del array
    assert pa.total_allocated_bytes() > before, "a view keeps it"
    del view
    assert pa.total_allocated_bytes() == before


@pytest.mark.parametrize("length", [0, 3, NUMBERS, NUMBERS + 1])
@pytest.mark.parametrize("dtype", [np.bool_, np.float64, np.dtype([("n", np.int64), ("mean", np.float64)]), object])
def test_arrays_can_be_written_and_do_not_overlap(length, dtype):
    one = empty(length, dtype)
    other = empty_like(one)
    assert (one.shape, other.dtype) == ((length,), np.dtype(dtype))
    assert one.flags.carray
    assert not np.shares_memory(one, other)
