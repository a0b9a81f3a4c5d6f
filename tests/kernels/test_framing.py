from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sash.kernels import framing

SIZES = st.lists(st.integers(0, 9), max_size=6) | st.lists(st.integers(70, 90), min_size=1, max_size=1)


def pieces(segments, cuts):
    """The rows cut anywhere, each piece with the partition that it starts in."""
    rows = int(segments[-1])
    edges = [0, *sorted(cut % (rows + 1) for cut in cuts), rows]
    for r0, r1 in pairwise(edges):
        yield int(np.searchsorted(segments, r0, "right")) - 1, r0, r1


def run(routine, segments, cuts, *arguments, dtype=np.int32):
    out = np.full(segments[-1], -1, dtype)
    for p, r0, r1 in pieces(segments, cuts):
        routine(segments, p, r0, r1, *arguments, out)
    return out.tolist()


def spans(segments):
    return [(int(begin), int(end)) for begin, end in pairwise(segments) for _ in range(begin, end)]


def segments_of(sizes):
    return np.cumsum([0, *sizes])


@given(SIZES, st.lists(st.integers(0, 99), max_size=3), st.integers(-12, 12))
def test_rows_are_counted_within_the_partition_wherever_the_work_is_cut(sizes, cuts, shift):
    segments = segments_of(sizes)
    want = [min(max(i + shift, begin), end) for i, (begin, end) in enumerate(spans(segments))]
    assert run(framing.rows_edge, segments, cuts, shift) == want
    offsets = np.full(segments[-1], shift - 1)
    assert run(framing.rows_edge_each, segments, cuts, offsets, 1) == want


@given(st.integers(0, 2**32), SIZES, st.lists(st.integers(0, 99), max_size=3), st.integers(-9, 9), st.integers(0, 1))
def test_merging_and_seeking_find_what_binary_search_finds(seed, sizes, cuts, shift, stops):
    segments, random = segments_of(sizes), np.random.default_rng(seed)
    keys, targets = random.integers(0, 30, segments[-1]), random.integers(-3, 33, segments[-1])
    for begin, end in pairwise(segments):
        keys[begin:end].sort()
    side = "right" if stops else "left"

    def searched(targets):
        return [
            begin + int(np.searchsorted(keys[begin:end], targets[i], side))
            for i, (begin, end) in enumerate(spans(segments))
        ]

    known = segments[:-1], segments[1:]
    more = np.array([shift])
    assert run(framing.merge_edge, segments, cuts, *known, keys, keys, more, stops) == searched(keys + shift)
    assert run(framing.seek_edge, segments, cuts, *known, keys, targets, stops) == searched(targets)


@pytest.mark.parametrize("nulls_first", [0, 1])
def test_rows_without_a_key_are_a_group_of_their_own(nulls_first):
    segments = np.array([0, 4, 5, 5, 8])
    valid = np.array([1, 1, 0, 0, 0, 1, 1, 1], bool)
    valid = np.concatenate([np.sort(part) if nulls_first else part for part in np.split(valid, [4, 5])])
    firsts, lasts = np.empty(4, np.int64), np.empty(4, np.int64)
    framing.known_rows(segments, valid, nulls_first, firsts, lasts)
    known = (firsts.tolist(), lasts.tolist())
    assert known == (([2, 5, 5, 5], [4, 5, 5, 8]) if nulls_first else ([0, 4, 5, 5], [2, 4, 5, 8]))
    keys = np.zeros(8, np.int64)
    starts = run(framing.seek_edge, segments, [3], firsts, lasts, keys, keys, 0)
    stops = run(framing.seek_edge, segments, [3], firsts, lasts, keys, keys, 1)
    assert starts == [0, 0, 2, 2, 4, 5, 5, 5]
    assert stops == [2, 2, 4, 4, 5, 8, 8, 8]


def test_steps_of_a_seek_that_stays_near_are_few():
    """A step on the keys of many rows whose edges move right costs no search from the start."""

    class Counted(np.ndarray):
        looks = 0

        def __getitem__(self, i):
            Counted.looks += 1
            return super().__getitem__(i)

    rows = 2000
    keys = np.arange(rows).view(Counted)
    out = np.empty(rows, np.int64)
    segments = np.array([0, rows])
    framing.seek_edge.plain(segments, 0, 0, rows, segments[:-1], segments[1:], keys, np.arange(rows) - 50, 0, out)
    assert Counted.looks < 4 * rows
    assert out.tolist() == [max(i - 50, 0) for i in range(rows)]


def test_positions_of_64_bits_do_as_well():
    segments, peers = np.array([0, 3, 6]), np.array([0, 0, 2, 3, 4, 4])
    keys = np.array([1, 1, 2, 0, 5, 5])
    known = segments[:-1], segments[1:]
    stops, numbers, starts = np.empty(6, np.int64), np.empty(6, np.int64), np.empty(7, np.int64)
    framing.peer_stops(peers, 0, 6, 6, stops)
    assert stops.tolist() == [2, 2, 3, 4, 6, 6]
    assert framing.number_groups(peers, numbers, starts) == 4
    assert starts[:5].tolist() == [0, 2, 3, 4, 6]
    nothing = np.zeros(0, np.int64)
    assert run(framing.groups_edge, segments, [2], numbers, starts, nothing, -1, dtype=np.int64) == [0, 0, 0, 3, 3, 3]
    assert run(framing.rows_edge, segments, [], 1, dtype=np.int64) == [1, 2, 3, 4, 5, 6]
    merged = run(framing.merge_edge, segments, [], *known, keys, keys, np.array([-1]), 1, dtype=np.int64)
    assert merged == [0, 0, 2, 3, 4, 4]


def test_a_survey_finds_edges_that_fall_and_frames_that_cross():
    lo, hi = np.array([0, 1, 1], np.int32), np.array([2, 2, 3], np.int32)
    assert framing.survey(lo, hi, 0, 3) == 0
    assert framing.survey(lo[::-1].copy(), hi, 0, 3) == framing.FALLS
    assert framing.survey(lo, hi[::-1].copy(), 0, 3) == framing.FALLS
    assert framing.survey(lo, np.array([2, 2, 0], np.int32), 0, 3) == framing.FALLS + framing.CROSSES
    assert framing.survey(lo, np.array([0, 0, 3], np.int32), 0, 3) == framing.CROSSES
    assert framing.survey(lo, np.array([2, 2, 0], np.int32), 0, 2) == 0
