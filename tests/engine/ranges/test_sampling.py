import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import frames_oracle as oracle
from sash import SashError
from sash.engine.ranges import KeyOrder, Sample, sample

NAN = float("nan")
VALUES = [None, NAN, -0.0, 0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]
TEXTS = [None, "", "a", "longer than a word", "longer than a wore"]
tasks = st.lists(st.lists(st.tuples(st.sampled_from(TEXTS), st.sampled_from(VALUES)), max_size=25), max_size=4)
layouts = st.builds(
    lambda down, first: KeyOrder(1, (False, down), (True, first)),
    st.booleans(),
    st.booleans(),
)


def by(order):
    return lambda row: tuple(map(oracle.sort_key, row, order.descending, order.nulls_first))


def table_of(rows):
    return pa.table(
        {"k": pa.array([k for k, _ in rows], pa.string()), "x": pa.array([x for _, x in rows], pa.float64())}
    )


def sampled(parts, order, size):
    return Sample(pa.concat_tables([sample(table_of(rows), order, size, n) for n, rows in enumerate(parts)]), order)


@given(parts=tasks.filter(len), order=layouts, size=st.integers(1, 30))
def test_a_sample_is_evenly_spaced_in_sorted_rows(parts, order, size):
    for rows in parts:
        got = sample(table_of(rows), order, size, 7)
        ordered = sorted(rows, key=by(order))
        step = max(1, -(-len(rows) // size))
        assert got.num_rows <= size
        assert got["at"].to_pylist() == list(range(0, len(rows), step))
        assert set(got["rows"].to_pylist()) <= {len(rows)}
        key = by(order)
        taken = zip(got["k"].to_pylist(), got["x"].to_pylist(), strict=True)
        assert [key(row) for row in taken] == [key(row) for row in ordered[::step]]


def at_least(got, i, j):
    """How many rows have a key from that numbered i up to j, even without any that are above key j - 1."""
    start, stop = got.starts[i], got.starts[j]
    return int(np.where(got.following[start:stop] < stop, got.gap[start:stop], 1).sum())


@given(parts=tasks.filter(len), order=layouts, size=st.integers(1, 8))
def test_there_are_never_fewer_rows_than_a_sample_says(parts, order, size):
    got, key = sampled(parts, order, size), by(order)
    everything = sorted(key(row) for rows in parts for row in rows)
    bounds = [key(tuple(row.values())) for row in got.keys.to_pylist()]
    assert bounds == sorted(set(bounds))
    assert got.total == len(everything)
    for j in range(len(bounds) + 1):
        for i in range(j):
            between = [row for row in everything if bounds[i] <= row and (j == len(bounds) or row < bounds[j])]
            surely = at_least(got, i, j)
            assert j - i <= surely <= len([row for row in between if row <= bounds[j - 1]])
            if size >= max(map(len, parts)):  # all rows are in the sample
                assert surely == got.estimate(i, j) == len(between)


@given(parts=tasks.filter(len), order=layouts, size=st.integers(1, 30), rows=st.integers(1, 30))
def test_the_nearest_key_that_is_far_enough_is_found(parts, order, size, rows):
    got = sampled(parts, order, size)
    names = [row["k"] for row in got.keys.to_pylist()]
    for place, name in enumerate(names):
        before = [i for i in range(place) if names[i] == name and at_least(got, i, place) >= rows]
        assert got.enough_before(place, rows) == max(before, default=-1)
        after = [j for j in range(place, len(names)) if names[j] == name and at_least(got, place, j + 1) >= rows]
        assert got.enough_after(place, rows) == min(after, default=-1)


def test_far_keys_are_found_in_large_samples():
    order = KeyOrder(0, (False,), (True,))
    numbers = np.random.default_rng(0).permutation(60_000).reshape(3, -1)
    got = Sample(
        pa.concat_tables([sample(pa.table({"t": part}), order, 5000, n) for n, part in enumerate(numbers)]), order
    )
    middle = len(got) // 2
    for rows in (1, 40, 1000, 20_000):
        start, stop = got.enough_before(middle, rows), got.enough_after(middle, rows)
        assert at_least(got, start, middle) >= rows > at_least(got, start + 1, middle)
        assert at_least(got, middle, stop + 1) >= rows > at_least(got, middle, stop)
    assert got.enough_before(middle, 50_000) == got.enough_after(middle, 50_000) == -1


def test_what_cannot_be_sampled_is_refused():
    order = KeyOrder(0, (False,), (True,))
    with pytest.raises(SashError, match="size must be at least 1"):
        sample(pa.table({"t": [1]}), order, 0)
    with pytest.raises(SashError, match="a table of 1 columns, got 2"):
        sample(pa.table({"t": [1], "u": [2]}), order, 1)
    with pytest.raises(SashError, match="without partition keys and order keys"):
        sample(pa.table({}), KeyOrder(0, (), ()), 1)
