import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernels.structures.test_block_sort import both_as_expected, queries
from sash.kernels.structures import order_statistic_tree
from sash.kernels.structures.ranked import Ranked
from sash.windows.bounds import MONOTONIC, Bounds


@given(queries())
def test_finds_the_kth_row(query):
    both_as_expected(order_statistic_tree.select, *query)


@given(queries(), st.integers(-1, 60))
def test_counts_the_rows_below_a_threshold(query, threshold):
    ranked, bounds, _ = query
    counts = order_statistic_tree.count_below(ranked, bounds, np.full(len(bounds), threshold, np.int32))
    frames = (ranked.rank[lo:hi] for lo, hi in zip(bounds.lo, bounds.hi, strict=True))
    assert counts.tolist() == [int((frame < threshold).sum()) for frame in frames]


@pytest.mark.long
@given(queries(np.int64))
def test_takes_wide_positions(query):
    both_as_expected(order_statistic_tree.select, *query)


@pytest.mark.parametrize("rows_are", ["random", "ascending", "descending", "alternating"])
def test_splits_and_merges_nodes(rows_are):
    """Frames that grow to thousands of rows and shrink again, and again."""
    rows = 6_000
    key = {
        "random": np.random.default_rng(0).permutation(rows),
        "ascending": np.arange(rows),
        "descending": -np.arange(rows),
        "alternating": np.arange(rows) * np.where(np.arange(rows) % 2, 1, -1),
    }[rows_are]
    order = np.argsort(key).astype(np.int32)
    rank = np.empty_like(order)
    rank[order] = np.arange(rows)
    ranked = Ranked(order, rank, np.array([0, rows], np.int32))
    turn = np.arange(1_600)
    grows = (turn // 200) % 2 == 0  # by turns the frame takes in rows at its end and gives them up at its start
    hi = np.minimum(np.cumsum(np.where(grows, 8, 1)), rows).astype(np.int32)
    lo = np.minimum(np.cumsum(np.where(grows, 0, 8)), hi).astype(np.int32)
    bounds = Bounds(lo, hi, rows, MONOTONIC)
    k = (bounds.sizes() // 3).astype(np.int32)
    both_as_expected(order_statistic_tree.select, ranked, bounds, k)
    counts = order_statistic_tree.count_below(ranked, bounds, k)
    assert counts.tolist() == [int((rank[a:b] < limit).sum()) for a, b, limit in zip(lo, hi, k, strict=True)]
