import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from coded_frames import coded, rows_of
from sash.kernels.structures import swept_bitset as sweep
from sash.kernels.structures.bitset_visits import visits
from sash.kernels.structures.ranked import Ranked
from sash.windows.bounds import Bounds


def ranked(codes, segments):
    order = np.argsort(codes, kind="stable").astype(codes.dtype)
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    return Ranked(order, rank, np.array(segments))


@given(coded(), st.integers(0, 2**32))
def test_count_below_counts_the_rows_of_lower_rank(case, seed):
    ranks = ranked(case.codes, [0, len(case.codes)])
    threshold = np.random.default_rng(seed).integers(0, len(ranks) + 1, len(ranks)).astype(np.int32)
    expected = [(ranks.rank[rows] < limit).sum() for rows, limit in zip(rows_of(case.bounds), threshold, strict=True)]
    assert sweep.count_below(ranks, case.bounds, threshold).tolist() == expected


@pytest.mark.parametrize("dtype", [np.int32, np.int64])
def test_threads_sweep_only_their_partitions(dtype, monkeypatch):
    monkeypatch.setenv("SASH_THREADS", "3")
    rows, random = 600_000, np.random.default_rng(3)
    segments = np.unique([0, *random.integers(0, rows, 50), rows])
    partition = np.repeat(np.arange(len(segments) - 1), np.diff(segments))
    ranks = ranked((partition * 10**6 + random.integers(0, 9999, rows)).astype(dtype), segments)
    start, end = segments[partition], segments[partition + 1]
    lo, hi = np.sort(random.integers(start, end + 1, (2, rows)), 0).astype(dtype)
    counts = sweep.count_below(ranks, Bounds(lo, hi, rows), ranks.rank)
    for i in range(0, rows, 4999):
        assert counts[i] == (ranks.rank[lo[i] : hi[i]] < ranks.rank[i]).sum()


@given(st.lists(st.integers(0, 9)))
def test_frames_are_visited_by_rising_key(keys):
    keys = np.array(keys, np.int32)
    visit = visits(keys, 0, len(keys))
    rising = sorted(keys.tolist()) == keys.tolist()
    assert visit.tolist() == ([] if rising else np.argsort(keys, kind="stable").tolist())
