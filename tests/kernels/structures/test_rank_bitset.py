import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from coded_frames import coded, rows_of
from sash.kernels.structures import rank_bitset
from sash.kernels.structures.bitset_counts import nth_bit
from sash.kernels.structures.ranked import Ranked
from sash.windows.bounds import MONOTONIC, Bounds


def ranked(codes):
    order = np.argsort(codes, kind="stable").astype(codes.dtype)
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    return Ranked(order, rank, np.array([0, len(codes)]))


def ranks_of(frames, ranks):
    return [np.sort(ranks.rank[rows]) for rows in rows_of(frames)]


def item(ranks, k):
    return ranks[k] if 0 <= k < len(ranks) else -1


@given(coded(shapes=("monotonic",)), st.booleans(), st.integers(0, 2**32))
def test_select_gives_the_rank_of_the_kth_row_and_of_the_next(case, second, seed):
    ranks = ranked(case.codes)
    k = np.random.default_rng(seed).integers(-2, case.bounds.sizes() + 2).astype(np.int32)
    found, after = rank_bitset.select(ranks, case.bounds, k, second)
    held = ranks_of(case.bounds, ranks)
    assert found.tolist() == [item(*pair) for pair in zip(held, k, strict=True)]
    later = [item(ranks, at + 1) if at >= 0 else -1 for ranks, at in zip(held, k, strict=True)]
    assert after.tolist() == (later if second else [])


@given(coded(shapes=("monotonic",)), st.integers(0, 2**32))
def test_count_below_counts_the_rows_of_lower_rank(case, seed):
    ranks = ranked(case.codes)
    threshold = np.random.default_rng(seed).integers(0, len(ranks) + 1, len(ranks)).astype(np.int32)
    counts = rank_bitset.count_below(ranks, case.bounds, threshold)
    expected = [(held < limit).sum() for held, limit in zip(ranks_of(case.bounds, ranks), threshold, strict=True)]
    assert counts.tolist() == expected


@pytest.mark.parametrize(("dtype", "rows"), [(np.int32, 2_500_000), (np.int64, 200_000)])
def test_frames_of_many_rows_that_jump(dtype, rows, monkeypatch):
    monkeypatch.setenv("SASH_THREADS", "3")
    random = np.random.default_rng(5)  # three tops of 2**20 ranks in the larger case
    ranks = ranked(random.permutation(rows).astype(dtype))
    ends = np.sort(random.integers(0, rows + 1, (2, 200_000)))
    ends[0] = ends[0] // 5  # the last frames hold most rows
    frames = Bounds(*np.sort(ends, 0).astype(dtype), rows, MONOTONIC)
    k = (frames.sizes() * 0.7).astype(dtype)
    found, after = rank_bitset.select(ranks, frames, k, True)
    threshold = random.integers(0, rows + 1, len(frames)).astype(dtype)
    counts = rank_bitset.count_below(ranks, frames, threshold)
    for i in range(7, len(frames), 19_997):
        held = np.sort(ranks.rank[frames.lo[i] : frames.hi[i]])
        assert (found[i], after[i], counts[i]) == (item(held, k[i]), item(held, k[i] + 1), (held < threshold[i]).sum())


@given(st.integers(1, 2**64 - 1))
def test_the_bits_of_a_word_in_order(word):
    places = [place for place in range(64) if word >> place & 1]
    assert [int(nth_bit(np.uint64(word), k)) for k in range(len(places))] == places
