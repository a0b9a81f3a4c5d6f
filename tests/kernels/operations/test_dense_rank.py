import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from coded_frames import able, coded
from sash.kernels.algorithm import DENSE, Occurrences
from sash.kernels.operations import range_tree
from sash.kernels.structures import counters
from sash.windows.bounds import Bounds


def check(given, asked, short=128, near=1024, least=10**6):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(counters, "LEAST", least)
        patch.setattr(range_tree, "SHORT", short)
        patch.setattr(range_tree, "NEAR", near)
        found = [each.run(given.codes, given.occurrences, given.bounds, asked) for each in able(DENSE, given.bounds)]
    expected = [1 + len(np.unique(frame[frame < code])) for frame, code in zip(given.frames(), asked, strict=True)]
    assert [each.tolist() for each in found] == [expected] * len(found)
    assert len(found) == 1 + given.bounds.moves_forward


@given(coded(), st.sampled_from((0, 3, 128)), st.sampled_from((0, 9, 1024)), st.sampled_from((5, 10**6)))
def test_dense_rank_counts_the_distinct_codes_below(given, short, near, least):
    check(given, given.codes, short, near, least)


@given(coded(), st.integers(0, 2**32), st.sampled_from((0, 128)))
def test_any_code_can_be_asked_for(given, seed, short):
    asked = np.random.default_rng(seed).integers(0, given.distinct + 1, len(given.codes))
    check(given, asked.astype(np.int32), short, near=0)


@given(coded(("arbitrary",), ("ties",)), st.sampled_from((0, 128)))
def test_a_row_left_in_its_hole_counts_where_its_code_is_nowhere_else(given, short):
    check(given, np.full(len(given.codes), given.distinct, np.int32), short)


@given(coded(most=1500), st.sampled_from((0, 128)))
def test_dense_rank_among_many_codes(given, short):
    check(given, given.codes, short, near=64)


@given(coded(dtype=np.int64))
def test_dense_rank_of_wide_positions(given):
    check(given, given.codes, short=2)


def test_no_rows_rank_first():
    none, nothing = np.zeros(0, np.int32), np.zeros(3, np.int32)
    for shape in ("monotonic", "arbitrary"):
        bounds = Bounds(nothing, nothing, 0, shape)
        for each in able(DENSE, bounds):
            assert each.run(none, Occurrences(none, none, None), bounds, nothing).tolist() == [1, 1, 1]
