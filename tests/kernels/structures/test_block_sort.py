import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sash.kernels import threads
from sash.kernels.structures import block_sort
from sash.kernels.structures.ranked import Ranked
from sash.windows.bounds import CONSTANT, MONOTONIC, Bounds

SIZES = [1, 2, 3, 7, 40]


@st.composite
def rankings(draw, kind=np.int32):
    sizes, order = draw(st.lists(st.integers(0, 25), max_size=4)), []
    for size in sizes:
        here = list(range(len(order), len(order) + size))
        order += draw(st.sampled_from([here, here[::-1]]) | st.permutations(here))
    rank = np.empty(len(order), kind)
    rank[order] = np.arange(len(order))
    return Ranked(np.array(order, kind), rank, np.cumsum([0, *sizes]).astype(kind))


def constant_frames(ranked, before, after):
    """From ``before`` rows before to ``after`` rows after each row, either of which may be negative."""
    kind, rows = ranked.rank.dtype, np.arange(len(ranked))
    partition = np.searchsorted(ranked.segments, rows, "right") - 1
    starts, ends = ranked.segments[partition], ranked.segments[partition + 1]
    lo = np.clip(rows - before, starts, ends)
    hi = np.clip(rows + after + 1, lo, ends)
    return Bounds(lo.astype(kind), hi.astype(kind), len(rows), CONSTANT, before, after)


def forward_frames(ranked, draw, size=100):
    """Any number of frames whose bounds only move right, within the partitions."""
    frames = []
    for start, end in zip(ranked.segments[:-1].tolist(), ranked.segments[1:].tolist(), strict=True):
        edge = st.integers(start, end)
        los, his = (sorted(draw(st.lists(edge, min_size=8, max_size=8))) for _ in range(2))
        frames += [(lo, min(max(lo, hi), lo + size)) for lo, hi in zip(los, his, strict=True)]
    lo, hi = np.array(frames, ranked.rank.dtype).reshape(-1, 2).T.copy()
    return Bounds(lo, hi, len(ranked), MONOTONIC)


@st.composite
def queries(draw, kind=np.int32, size=100):
    """A ranking, frames that move right, and which row of each is wanted."""
    ranked = draw(rankings(kind))
    if draw(st.booleans()):
        width = draw(st.sampled_from([width for width in SIZES if width <= size]))
        before = draw(st.sampled_from([0, width - 1, width // 2]) | st.integers(-12, 50))
        bounds = constant_frames(ranked, before, width - 1 - before)
    else:
        bounds = forward_frames(ranked, draw, size)
    sizes = bounds.sizes()
    k = draw(
        st.sampled_from([sizes // 2, 0 * sizes, sizes - 1, sizes])
        | st.lists(st.integers(-1, 8), min_size=len(sizes), max_size=len(sizes))
    )
    return ranked, bounds, np.array(k, kind)


def expected(ranked, bounds, k):
    """The k-th rank of each frame, or -1."""
    frames = [sorted(ranked.rank[lo:hi].tolist()) for lo, hi in zip(bounds.lo, bounds.hi, strict=True)]
    return [frame[n] if 0 <= n < len(frame) else -1 for frame, n in zip(frames, k.tolist(), strict=True)]


def both_as_expected(select, ranked, bounds, k):
    first, after = select(ranked, bounds, k, True)
    assert first.dtype == after.dtype == ranked.rank.dtype
    assert first.tolist() == expected(ranked, bounds, k)
    assert after.tolist() == expected(ranked, bounds, np.where(k < 0, -1, k + 1))
    alone, nothing = select(ranked, bounds, k, False)
    assert alone.tolist() == first.tolist()
    assert len(nothing) == 0


@given(queries())
def test_finds_the_kth_row_in_one_block(query):
    both_as_expected(block_sort.select, *query)


@given(queries(), st.integers(1, 4))
def test_finds_the_kth_row_in_many_blocks(query, shortest):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(block_sort, "SHORTEST", shortest)
        patch.setattr(block_sort, "STEP", 1)
        patch.setattr(block_sort, "WHOLE", 0)
        both_as_expected(block_sort.select, *query)


@given(queries(np.int64), st.integers(0, 1))
def test_takes_wide_positions(query, whole):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(block_sort, "SHORTEST", 2)
        patch.setattr(block_sort, "WHOLE", whole * 100)
        both_as_expected(block_sort.select, *query)


@pytest.mark.parametrize("width", [100, 5_000, 30_000, 400_000])
@pytest.mark.parametrize("whole", [0, 100])
def test_finds_rows_far_from_the_last_one(width, whole, monkeypatch):
    """Blocks with counts of groups, and of regions; k jumps from end to end; three threads."""
    monkeypatch.setattr(block_sort, "WHOLE", whole)
    monkeypatch.setattr(threads, "threads", lambda: 3)
    rows, ask = 600_000, 200_000
    order = np.random.default_rng(width).permutation(rows).astype(np.int32)
    rank = np.empty_like(order)
    rank[order] = np.arange(rows)
    ranked = Ranked(order, rank, np.array([0, rows], np.int32))
    lo = np.linspace(0, rows - width, ask).astype(np.int32)
    bounds = Bounds(lo, lo + np.int32(width), rows, MONOTONIC)
    k = np.where(np.arange(ask) % 2, width // 10, width - 2).astype(np.int32)
    first, after = block_sort.select(ranked, bounds, k, True)
    for row in np.linspace(0, ask - 1, 40).astype(int):
        frame = np.sort(rank[bounds.lo[row] : bounds.hi[row]])
        assert (first[row], after[row]) == (frame[k[row]], frame[k[row] + 1])


def test_no_rows_no_answers():
    none = np.zeros(0, np.int32)
    first, after = block_sort.select(Ranked(none, none, np.zeros(1, np.int32)), Bounds(none, none, 0), none, True)
    assert (len(first), len(after)) == (0, 0)


@given(queries(), st.sampled_from([0, 32]))
def test_gives_the_same_rows_by_their_indices(query, whole):
    ranked, bounds, k = query
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(block_sort, "SHORTEST", 2)
        patch.setattr(block_sort, "WHOLE", whole)
        ranks, indices = (block_sort.select(ranked, bounds, k, True, by_index) for by_index in (False, True))
    for by_rank, by_index in zip(ranks, indices, strict=True):
        assert by_index.dtype == ranked.rank.dtype
        assert by_index.tolist() == [ranked.order[rank] if rank >= 0 else -1 for rank in by_rank.tolist()]
