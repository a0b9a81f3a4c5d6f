import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from coded_frames import coded
from sash.kernels.operations.mode import mode, mode_by_blocks
from sash.kernels.operations.range_mode import range_mode
from sash.kernels.structures import counters
from sash.windows.bounds import Bounds


def most_frequent(frame):
    kinds, counts = np.unique(frame, return_counts=True)
    return (kinds[counts.argmax()], counts.max()) if len(frame) else (-1, 0)


def able(bounds):
    """Those that can answer frames, each with how many rows the mode has."""
    return [mode_by_blocks] + [mode] * bounds.moves_forward + [range_mode] * (not bounds.holes)


def check(given, finest=4, least=10**6):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(counters, "FINEST", finest)
        patch.setattr(counters, "LONG", finest)
        patch.setattr(counters, "LEAST", least)
        found = [each(given.codes, given.bounds, given.distinct) for each in able(given.bounds)]
    expected = [most_frequent(frame) for frame in given.frames()]
    assert [list(zip(*each, strict=True)) for each in found] == [expected] * len(found)


@given(coded(), st.sampled_from((1, 4)), st.sampled_from((5, 10**6)))
def test_the_mode_is_the_smallest_of_the_most_frequent(given, finest, least):
    check(given, finest, least)


@given(coded(most=700))
def test_modes_among_many_codes(given):
    check(given)


@pytest.mark.long
@given(coded(dtype=np.int64))
def test_modes_of_wide_positions(given):
    check(given)


def test_no_rows_have_no_mode():
    none, nothing = np.zeros(0, np.int32), np.zeros(3, np.int32)
    for shape in ("monotonic", "arbitrary"):
        bounds = Bounds(nothing, nothing, 0, shape)
        for each in able(bounds):
            best, most = each(none, bounds, 0)
            assert best.tolist() == [-1] * 3
            assert most.tolist() == [0] * 3
