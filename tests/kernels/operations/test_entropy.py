import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from coded_frames import able, coded
from sash.kernels.algorithm import ENTROPY
from sash.kernels.operations.entropy import entropy
from sash.kernels.structures import counters
from sash.windows.bounds import Bounds


def shannon(frame):
    shares = np.unique(frame, return_counts=True)[1] / max(len(frame), 1)
    return -(shares * np.log2(shares)).sum()


@given(coded(), st.sampled_from((1, 4)), st.sampled_from((5, 10**6)))
def test_entropy_is_shannons_of_the_frequencies(given, finest, least):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(counters, "FINEST", finest)
        patch.setattr(counters, "LONG", finest)
        patch.setattr(counters, "LEAST", least)
        found = [each.run(given.codes, given.bounds, given.distinct) for each in able(ENTROPY, given.bounds)]
    for each in found:
        np.testing.assert_allclose(each, [shannon(frame) for frame in given.frames()], rtol=1e-13, atol=1e-15)
    assert len(found) == 1 + given.bounds.moves_forward


def test_equal_rows_have_none_and_it_does_not_drift():
    codes = np.zeros(10**5, np.int64)
    codes[::1000] = np.arange(100)
    hi = np.arange(1, len(codes) + 1)
    lo = np.maximum(hi - 300, 0)
    found = entropy(codes, Bounds(lo, hi, len(codes), "constant", before=299), 100)
    alone = np.lib.stride_tricks.sliding_window_view(codes != 0, 300).any(1)
    assert (found[299:][~alone] == 0).all()
    assert (found[299:][alone] > 0).all()


def test_no_frames_and_no_rows():
    none = np.zeros(0, np.int32)
    for shape in ("monotonic", "arbitrary"):
        nothing = np.zeros(3, np.int32)
        for each in able(ENTROPY, Bounds(nothing, nothing, 0, shape)):
            assert len(each.run(none, Bounds(none, none, 0, shape), 0)) == 0
            assert each.run(none, Bounds(nothing, nothing, 0, shape), 0).tolist() == [0, 0, 0]
