from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from sash.kernels.sorting import groups, rank_within, ranking

SIZES = st.lists(st.integers(0, 9), max_size=8)
WORDS = st.one_of(st.integers(0, 3), st.integers(0, 2**64 - 1))


@st.composite
def partitions(draw):
    """Up to three keys of the rows of some partitions, and where these start."""
    segments = np.cumsum([0, *draw(SIZES)])
    rows = int(segments[-1])
    column = st.lists(WORDS, min_size=rows, max_size=rows).map(lambda words: np.array(words, np.uint64))
    return draw(st.lists(column, min_size=1, max_size=3)), segments


def in_partitions(keys, segments):
    """Positions sorted by partition, keys, position."""
    tuples = list(zip(*(key.tolist() for key in keys), strict=True))
    edges = segments.tolist()
    order = [
        position for start, stop in pairwise(edges) for position in sorted(range(start, stop), key=tuples.__getitem__)
    ]
    return order, tuples


def check(keys, segments):
    ranked = rank_within(keys, segments)
    order, tuples = in_partitions(keys, segments)
    assert ranked.order.tolist() == order
    assert ranked.rank[ranked.order].tolist() == list(range(len(order)))
    partition = np.repeat(np.arange(len(segments) - 1), np.diff(segments)).tolist()
    same = {}
    for rank, position in enumerate(order):
        same.setdefault((partition[position], tuples[position]), []).append(rank)
    start, stop = groups(keys, ranked)
    mine = [same[partition[position], tuples[position]] for position in range(len(order))]
    assert start.tolist() == [ranks[0] for ranks in mine]
    assert stop.tolist() == [ranks[-1] + 1 for ranks in mine]
    assert start.dtype == stop.dtype == ranked.order.dtype == ranked.rank.dtype


def test_no_rows_at_all():
    check([np.zeros(0, np.uint64)], np.array([0]))
    check([np.zeros(0, np.uint64)], np.array([0, 0, 0]))


@given(partitions())
def test_rows_are_ranked_within_their_partition(case):
    check(*case)


def test_large_partitions_among_small_ones(monkeypatch):
    monkeypatch.setenv("SASH_THREADS", "3")
    monkeypatch.setattr(ranking, "LARGE", 1_000)
    random = np.random.default_rng(1)
    sizes = np.concatenate([random.integers(0, 20, 2_000), [99_000], random.integers(0, 200, 300), [999, 1_001]])
    segments = np.append(0, np.cumsum(sizes))
    rows = int(segments[-1])
    wide = random.integers(0, 2**64, rows, np.uint64)
    check([random.choice(wide[:50], rows) ^ (wide & np.uint64(0xFFF))], segments)
    check([random.integers(0, 50, rows, np.uint64)], segments)


def test_sorted_partitions_rank_as_they_are():
    ranked = rank_within([np.array([1, 2, 2, 0, 1], np.uint64)], np.array([0, 3, 5]))
    assert ranked.order.tolist() == ranked.rank.tolist() == [0, 1, 2, 3, 4]


def test_positions_of_64_bits(monkeypatch):
    monkeypatch.setattr(ranking, "positions", lambda rows: np.int64)
    check([np.array([3, 1, 2, 2, 0, 1], np.uint64)], np.array([0, 4, 6]))
