"""The wavelet matrix, the merge sort tree and the sorted segment tree answer the same questions alike."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sash.kernels.structures import merge_sort_tree, sorted_segment_tree, wavelet_matrix
from sash.kernels.structures.ranked import Ranked
from sash.windows.bounds import Bounds

TREES = pytest.mark.parametrize(
    "tree", [wavelet_matrix, merge_sort_tree, sorted_segment_tree], ids=lambda tree: tree.__name__.rsplit(".")[-1]
)
ROWS = st.sampled_from([0, 1, 2, 3, 4, 5, 16, 17, 31, 32, 33, 63, 64, 65, 128, 200]) | st.integers(0, 60)


@st.composite
def questions(draw, kind=np.int32):
    """Ranked rows in partitions, some of them empty, and frames over them; all from one seed."""
    rows, holes, seed = draw(ROWS), kind is np.int64 or draw(st.booleans()), draw(st.integers(0, 2**32 - 1))
    partitions = draw(st.integers(1, 6))
    random = np.random.default_rng(seed)
    segments = np.sort(np.append(random.integers(0, rows + 1, partitions - 1), [0, rows])).astype(kind)
    spans = list(pairwise(segments))
    rank = np.concatenate([start + random.permutation(stop - start) for start, stop in spans]).astype(kind)
    frames = []
    for start, stop in (spans[i] for i in random.integers(0, partitions, 40)):
        lo, a, b, hi = np.sort(random.integers(start, stop + 1, 4))
        own = random.integers(a, b) if a < b and random.random() < 0.5 else -1
        frames.append((lo, a, b, hi, own) if holes else (lo, hi, hi, hi, -1))
    lo, a, b, hi, own = np.array(frames, kind).T.copy()
    bounds = Bounds(lo, hi, rows, a=a, b=b, own=own) if holes else Bounds(lo, hi, rows)
    return Ranked(np.argsort(rank).astype(kind), rank, segments), bounds, random


def held(ranked, bounds):
    """The ranks of each frame's rows, sorted."""
    own = bounds.own if len(bounds.own) else np.full(len(bounds), -1)
    pieces = zip(bounds.lo, bounds.a, bounds.b, bounds.hi, own, strict=True)
    return [sorted(ranked.rank[[*range(lo, a), *range(b, hi), *([i] if i >= 0 else [])]]) for lo, a, b, hi, i in pieces]


def check(tree, ranked, bounds, random):
    frames, kind = held(ranked, bounds), ranked.rank.dtype
    k = np.array([random.integers(-1, len(ranks) + 2) for ranks in frames], kind)
    first, second = tree.select(ranked, bounds, k, True)
    assert first.dtype == kind
    assert first.tolist() == [nth(ranks, i) for ranks, i in zip(frames, k, strict=True)]
    assert second.tolist() == [nth(ranks, i + 1 if i >= 0 else -1) for ranks, i in zip(frames, k, strict=True)]
    alone, nothing = tree.select(ranked, bounds, k, False)
    assert (alone.tolist(), len(nothing)) == (first.tolist(), 0)
    for threshold in (random.integers(0, len(ranked) + 1, len(k)), np.zeros(len(k)), np.full(len(k), len(ranked))):
        below = tree.count_below(ranked, bounds, threshold.astype(kind))
        expected = [sum(rank < t for rank in ranks) for ranks, t in zip(frames, threshold, strict=True)]
        assert below.tolist() == expected


def nth(ranks, k):
    return ranks[k] if 0 <= k < len(ranks) else -1


@TREES
@given(asked=questions())
def test_any_frame_is_selected_from_and_counted(tree, asked):
    check(tree, *asked)


@pytest.mark.parametrize("tree", [wavelet_matrix, pytest.param(sorted_segment_tree, marks=pytest.mark.long)])
@given(asked=questions(np.int64))
def test_positions_may_take_64_bits(tree, asked):
    check(tree, *asked)


@TREES
def test_threads_change_no_answer(tree, monkeypatch):
    rows = 200_000
    random = np.random.default_rng(7)
    rank = random.permutation(rows).astype(np.int32)
    ranked = Ranked(np.argsort(rank).astype(np.int32), rank, np.array([0, rows], np.int32))
    lo, hi = np.sort(random.integers(0, rows + 1, (2, 20_000)).astype(np.int32), axis=0)
    bounds, k = Bounds(lo, hi, rows), (hi - lo) // 2
    answers = []
    for threads in "13":
        monkeypatch.setenv("SASH_THREADS", threads)
        answers.append([*tree.select(ranked, bounds, k, True), tree.count_below(ranked, bounds, lo)])
    assert all(np.array_equal(one, three) for one, three in zip(*answers, strict=True))
    picked = range(0, len(lo), 4000)
    assert [answers[0][0][i] for i in picked] == [np.sort(rank[lo[i] : hi[i]])[k[i]] for i in picked]
    assert [answers[0][2][i] for i in picked] == [(rank[lo[i] : hi[i]] < lo[i]).sum() for i in picked]


def test_tiny_partitions_need_few_levels():
    rows = 4096
    segments = np.arange(0, rows + 1, 4, dtype=np.int32)
    rank = np.arange(rows, dtype=np.int32)
    tiny = wavelet_matrix.WaveletMatrix(Ranked(rank, rank, segments))
    assert tiny.levels == 1
    whole = wavelet_matrix.WaveletMatrix(Ranked(rank, rank, segments[[0, -1]]))
    assert (whole.levels, whole.nbytes // tiny.nbytes) == (6, 6)
