import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sash.kernels.sorting import distinct_codes, occurrences

HERE = sys.modules["sash.kernels.sorting.occurrences"]
WORDS = st.one_of(st.integers(0, 5), st.integers(0, 8).map(lambda number: number << 32), st.integers(0, 2**64 - 1))


@st.composite
def partitions(draw):
    segments = np.cumsum([0, *draw(st.lists(st.integers(0, 15), max_size=6))])
    rows = int(segments[-1])
    return np.array(draw(st.lists(WORDS, min_size=rows, max_size=rows)), np.uint64), segments


def check(key, segments):
    rows, values = len(key), key.tolist()
    partition = np.repeat(np.arange(len(segments) - 1), np.diff(segments)).tolist()
    previous, following, codes, last, numbers = [-1] * rows, [rows] * rows, [], {}, {}
    for row in range(rows):
        same = partition[row], values[row]
        if same in last:
            previous[row], following[last[same]] = last[same], row
        last[same] = row
        codes.append(numbers.setdefault(same, len(numbers)))
    found = occurrences(key, segments)
    assert [array.tolist() for array in found] == [previous, following]
    given_codes, count = distinct_codes(key, segments)
    assert given_codes.tolist() == codes
    assert count == len(numbers)
    assert found[0].dtype == found[1].dtype == given_codes.dtype


@given(partitions())
def test_occurrences_are_those_of_a_loop_over_the_rows(case):
    check(*case)


@given(partitions())
def test_sorting_finds_the_same(case):
    key, _ = case
    whole = np.array([0, len(key)])
    previous, following = np.empty(len(key), np.int32), np.empty(len(key), np.int32)
    HERE.by_sort(key, previous, following)
    expected = occurrences(key, whole)
    assert [previous.tolist(), following.tolist()] == [array.tolist() for array in expected]


KEYS = {
    "equal": lambda random, rows: np.full(rows, 2**40, np.uint64),
    "distinct": lambda random, rows: random.permutation(rows).astype(np.uint64) << np.uint64(32),
    "skewed": lambda random, rows: (
        random.integers(0, 2**64, rows, np.uint64) >> random.integers(0, 64, rows, np.uint64)
    ),
    "dense": lambda random, rows: random.integers(0, 1_000, rows, np.uint64) * np.uint64(16),
}


def test_no_rows_at_all():
    check(np.zeros(0, np.uint64), np.array([0]))
    check(np.zeros(0, np.uint64), np.array([0, 0]))


@pytest.mark.parametrize("kind", KEYS)
@pytest.mark.parametrize("size", [7, 150_000])
def test_many_rows(kind, size, monkeypatch):
    monkeypatch.setenv("SASH_THREADS", "3")
    check(KEYS[kind](np.random.default_rng(4), 150_000), np.append(np.arange(0, 150_000, size), 150_000))


def test_keys_made_to_collide_are_sorted(monkeypatch):
    monkeypatch.setattr(HERE, "_match", lambda *arguments: 1)
    check(KEYS["skewed"](np.random.default_rng(5), 2_000), np.array([0, 500, 2_000]))


def test_a_table_of_colliding_mixes_is_given_up():
    rows = 4_000
    mixes = np.arange(rows, dtype=np.uint64)  # the high bits, which choose the slot, are all zero
    places, table = np.arange(rows, dtype=np.int32), np.full(1 << 13, -1, np.int32)
    out = np.empty(rows, np.int32), np.empty(rows, np.int32)
    assert HERE._match(np.array([0, rows]), 0, 1, 0, mixes, places, table, *out) == 1


def test_positions_of_64_bits(monkeypatch):
    monkeypatch.setattr(HERE, "positions", lambda rows: np.int64)
    check(np.array([9, 2**50, 9, 2**50, 9], np.uint64), np.array([0, 3, 5]))
