"""Tables are cut by the bytes of their rows, whatever the types and however these differ."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sash.engine.sizes import cut, row_bytes, together, total_bytes

texts = st.lists(st.one_of(st.none(), st.text(max_size=40), st.just("x" * 5000)), max_size=40)


def of(values):
    lists = [None if value is None else [value, value] for value in values]
    structs = [{"a": 1, "b": value} for value in values]
    maps = [None if value is None else [(value, 1)] for value in values]
    return pa.table(
        {
            "n": pa.array(range(len(values)), pa.int64()),
            "text": pa.array(values, pa.string()),
            "large": pa.array(values, pa.large_string()),
            "view": pa.array(values, pa.string_view()),
            "list": pa.array(lists, pa.list_(pa.string())),
            "pair": pa.array(structs, pa.struct([("a", pa.int32()), ("b", pa.string())])),
            "map": pa.array(maps, pa.map_(pa.string(), pa.int32())),
            "coded": pa.array(values, pa.string()).dictionary_encode(),
        }
    )


@given(texts, st.integers(1, 20_000), st.one_of(st.none(), st.integers(1, 9)), st.integers(0, 5))
def test_cut_loses_nothing_and_keeps_its_bounds(values, size, rows, start):
    table = of(values).slice(start)
    parts = list(cut(table, size, rows))
    assert sum(part.num_rows for part in parts) == table.num_rows
    if parts:
        assert pa.concat_tables(parts).to_pylist() == table.to_pylist()
    for part in parts:
        assert part.num_rows == 1 or total_bytes(part) <= size
        assert rows is None or part.num_rows <= rows


@given(texts, st.integers(0, 5))
def test_the_bytes_of_rows_are_those_of_their_values(values, start):
    table = of(values).slice(start)
    left = values[start:]
    lengths = np.array([len((value or "").encode()) for value in left], np.int64)
    plain = table.select(["n", "text", "large"])
    if len(left):
        assert np.asarray(row_bytes(plain)).tolist() == (8 + lengths + 4 + lengths + 8).tolist()
    doubled = np.array([0 if value is None else 2 * (len(value.encode()) + 4) for value in left], np.int64)
    if len(left):
        assert np.asarray(row_bytes(table.select(["list"]))).tolist() == (doubled + 4 + 1).tolist()


@given(texts, st.integers(1, 9000), st.integers(1, 7))
def test_together_gives_the_rows_again(values, size, width):
    table = of(values)
    pieces = [table.slice(at, width) for at in range(0, table.num_rows, width)]
    joined = list(together(pieces, size))
    assert [row for part in joined for row in part.to_pylist()] == table.to_pylist()
    assert all(part.num_rows == 1 or total_bytes(part) <= size for part in joined)


@pytest.mark.parametrize("kind", [pa.null(), pa.bool_(), pa.int8(), pa.decimal128(9, 2), pa.timestamp("us")])
def test_rows_of_one_size_have_a_number(kind):
    assert isinstance(row_bytes(pa.table({"v": pa.nulls(3, kind)})), int)
