import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from kernels.structures.test_block_sort import both_as_expected, queries, rankings
from sash.kernels.structures import small_frames
from sash.windows.bounds import Bounds


@st.composite
def torn_frames(draw, ranked, holes=True):
    """Frames anywhere in the partitions, with holes and without, and with a row of the hole put back."""
    spans = [(int(a), int(b)) for a, b in zip(ranked.segments[:-1], ranked.segments[1:], strict=True)]
    edges = st.one_of([st.lists(st.integers(*span), min_size=4, max_size=4).map(sorted) for span in spans])
    frames = draw(st.lists(edges, max_size=30)) if spans else []
    lo, a, b, hi = np.array(frames, ranked.rank.dtype).reshape(-1, 4).T.copy()
    if not holes:
        return Bounds(lo, hi, len(ranked))
    own = [draw(st.integers(-1, y - 1).map(lambda p, x=x: p if p >= x else -1)) for x, y in zip(a, b, strict=True)]
    puts_back = draw(st.booleans())
    return Bounds(lo, hi, len(ranked), a=a, b=b, own=np.array(own if puts_back else [], ranked.rank.dtype))


def rows_of(ranked, bounds):
    lo, a, b, hi, own = (column.tolist() for column in bounds.arrays)
    own = own or [-1] * len(lo)
    for i in range(len(lo)):
        yield sorted(ranked.rank[[*range(lo[i], a[i]), *range(b[i], hi[i]), *([own[i]] if own[i] >= 0 else [])]])


@st.composite
def torn_queries(draw, kind=np.int32):
    ranked = draw(rankings(kind))
    bounds = draw(torn_frames(ranked, draw(st.booleans())))
    numbers = st.integers(-1, max(len(ranked), 1))
    return ranked, bounds, np.array([draw(numbers) for _ in range(len(bounds))], kind)


@given(queries())
def test_finds_the_kth_row_of_frames_that_move_right(query):
    both_as_expected(small_frames.select, *query)


@given(torn_queries())
def test_finds_the_kth_row_of_any_pieces(query):
    ranked, bounds, k = query
    first, after = small_frames.select(ranked, bounds, k, True)
    for frame, n, one, two in zip(rows_of(ranked, bounds), k, first, after, strict=True):
        assert one == (frame[n] if 0 <= n < len(frame) else -1)
        assert two == (frame[n + 1] if 0 <= n < len(frame) - 1 else -1)


@given(torn_queries())
def test_counts_the_rows_below_a_threshold(query):
    ranked, bounds, threshold = query
    counts = small_frames.count_below(ranked, bounds, threshold)
    assert counts.tolist() == [
        sum(rank < limit for rank in frame) for frame, limit in zip(rows_of(ranked, bounds), threshold, strict=True)
    ]


@given(torn_queries(np.int64))
def test_takes_wide_positions(query):
    ranked, bounds, k = query
    first, _ = small_frames.select(ranked, bounds, k, False)
    frames = list(rows_of(ranked, bounds))
    assert first.tolist() == [f[n] if 0 <= n < len(f) else -1 for f, n in zip(frames, k, strict=True)]
    below = [int(np.searchsorted(frame, limit)) for frame, limit in zip(frames, k, strict=True)]
    assert small_frames.count_below(ranked, bounds, k).tolist() == below


def test_frames_of_many_lanes_and_threads():
    rows = 200_000
    rank = np.random.default_rng(0).permutation(rows).astype(np.int32)
    ranked = small_frames.Ranked(np.argsort(rank).astype(np.int32), rank, np.array([0, rows], np.int32))
    lo = np.maximum(np.arange(rows) - 6, 0).astype(np.int32)
    bounds = Bounds(lo, np.arange(1, rows + 1, dtype=np.int32), rows, "constant", 6, 0)
    first, _ = small_frames.select(ranked, bounds, (bounds.sizes() // 2), False)
    frames = np.lib.stride_tricks.sliding_window_view(rank, 7)
    assert (first[6:] == np.sort(frames)[:, 3]).all()
