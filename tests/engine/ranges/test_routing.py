"""Rows to pieces, against comparing each row with each edge as the definition says."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import frames_oracle as oracle
from sash import SashError
from sash.engine.ranges import KeyOrder, Reach, Sample, Side, cut, route, sample

NAN = float("nan")
POOLS = [
    ([None, "", "a", "b", "longer than a word", "longer than a wore"], pa.string()),
    ([None, NAN, float("-inf"), -0.0, 0.0, 1.5, 2.0], pa.float64()),
    ([None, -(2**63), -1, 0, 1, 2**63 - 1], pa.int64()),
    ([None, 0, 1, 2**64 - 1], pa.uint64()),
]
sides = st.builds(Side, rows=st.integers(0, 5), groups=st.integers(0, 4))


@st.composite
def keyed(draw):
    """Rows, and how they are sorted."""
    columns = draw(st.lists(st.sampled_from(POOLS), min_size=1, max_size=3))
    count = draw(st.integers(0, 30))
    lists = [draw(st.lists(st.sampled_from(values), min_size=count, max_size=count)) for values, _ in columns]
    partition = draw(st.integers(0, len(columns)))
    down, first = (draw(st.lists(st.booleans(), min_size=len(columns), max_size=len(columns))) for _ in range(2))
    down, first = [False] * partition + down[partition:], [True] * partition + first[partition:]
    arrays = [pa.array(values, kind) for values, (_, kind) in zip(lists, columns, strict=True)]
    table = pa.Table.from_arrays(arrays, [f"c{place}" for place in range(len(arrays))])
    return table, KeyOrder(partition, tuple(down), tuple(first))


def row_keys(table, order):
    columns = [column.to_pylist() for column in table.columns]
    return [tuple(map(oracle.sort_key, row, order.descending, order.nulls_first)) for row in zip(*columns, strict=True)]


def compared(row, edge, count):
    return (row[:count] > edge[:count]) - (row[:count] < edge[:count])


@given(chosen=keyed(), pieces=st.integers(1, 6), size=st.integers(1, 30), before=sides, after=sides)
def test_every_row_goes_where_the_definition_says(chosen, pieces, size, before, after):
    table, order = chosen
    known = Sample(sample(table, order, size), order)
    cuts = cut(known, pieces, Reach(before, after))
    edges = {
        name: list(zip(row_keys(found.keys, order), found.counts, strict=True))
        for name, found in (("low", cuts.low), ("begin", cuts.begin), ("stop", cuts.stop))
    }
    assert cuts.low.counts.tolist() == [0] + [len(order)] * (cuts.pieces - 1)
    expected = []
    for row in row_keys(table, order):
        own = sum(compared(row, *edge) >= 0 for edge in edges["low"][1:])
        last = sum(compared(row, *edge) >= 0 for edge in edges["begin"][1:])
        first = sum(compared(row, *edge) >= (1 if cuts.inclusive else 0) for edge in edges["stop"][:-1])
        expected.append((own, first, last))
        assert first <= own <= last
        assert bool(after.has_halo) or first == own
        assert bool(before.has_halo) or last == own
    own, first, last = route(table, cuts)
    assert own.dtype == first.dtype == last.dtype == np.int32
    assert list(zip(own.tolist(), first.tolist(), last.tolist(), strict=True)) == expected
    assert len(set(own.tolist())) == cuts.pieces or not table.num_rows


def test_keys_may_be_coded_and_in_chunks():
    order = KeyOrder(0, (False,), (True,))
    words = [f"a word with the number {n:03}" for n in range(50)]
    plain = pa.table({"s": words})
    coded = pa.table({"s": pa.chunked_array([pa.array(words[:20]), pa.array(words[20:])]).dictionary_encode()})
    known = Sample(sample(coded, order, 10), order)
    cuts = cut(known, 4, Reach(Side(rows=3)))
    assert cuts.pieces == 4
    for one, other in zip(route(plain, cuts), route(coded, cuts), strict=True):
        assert one.tolist() == other.tolist()
    large = pa.table({"another name": pa.array(words, pa.large_string())})
    assert route(large, cuts)[0].tolist() == route(plain, cuts)[0].tolist()


def test_no_rows_and_equal_rows_are_one_piece():
    order = KeyOrder(0, (False,), (True,))
    for rows in ([], [None], [3, 3, 3]):
        table = pa.table({"t": pa.array(rows, pa.int64())})
        cuts = cut(Sample(sample(table, order, 5), order), 4, Reach(Side(rows=3)))
        assert cuts.pieces == 1
        assert cuts.promised(0) == (0, 0)
        assert [found.tolist() for found in route(table, cuts)] == [[0] * len(rows)] * 3


def test_what_the_engine_refuses_is_refused_when_cutting():
    order = KeyOrder(0, (False,), (True,))
    known = Sample(sample(pa.table({"s": ["a", "b", "c"]}), order, 5), order)
    with pytest.raises(SashError, match="takes an order key of numbers"):
        cut(known, 2, Reach(Side(ranges=(-1,))))
    with pytest.raises(SashError, match="pieces must be at least 1"):
        cut(known, 0, Reach())
