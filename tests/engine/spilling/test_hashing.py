"""Equal keys have equal hashes, in whatever batch they come; others have others."""

import datetime
import decimal
import math

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sash.engine.spilling.row_hashes import hashes
from strategies import usually

INTEGERS = st.integers(-3, 3) | st.integers(-(2**63), 2**63 - 1)
FLOATS = st.sampled_from([0.0, -0.0, math.nan, math.inf, 1.5]) | st.floats()
TEXTS = st.text("ab", max_size=20) | st.builds(str.__mul__, st.sampled_from("xyz"), st.integers(0, 600))
DATES = st.dates(datetime.date(1969, 1, 1), datetime.date(1971, 1, 1))
DECIMALS = st.decimals(-(10**18), 10**18, places=2)
KINDS = {
    "int64": (INTEGERS, pa.int64()),
    "int8": (st.integers(-128, 127), pa.int8()),
    "double": (FLOATS, pa.float64()),
    "boolean": (st.booleans(), pa.bool_()),
    "string": (TEXTS, pa.string()),
    "view": (TEXTS, pa.string_view()),
    "binary": (st.binary(max_size=20), pa.binary()),
    "fixed": (st.binary(min_size=3, max_size=3), pa.binary(3)),
    "date": (DATES, pa.date32()),
    "decimal": (DECIMALS, pa.decimal128(30, 2)),
    "short decimal": (st.decimals(-99, 99, places=2), pa.decimal32(4, 2)),
    "dictionary": (TEXTS, pa.dictionary(pa.int8(), pa.string())),
    "null": (st.none(), pa.null()),
    "list": (st.lists(st.none() | FLOATS, max_size=3), pa.list_(pa.float64())),
    "struct": (st.fixed_dictionaries({"a": st.none() | INTEGERS, "b": st.none() | TEXTS}),
               pa.struct({"a": pa.int64(), "b": pa.string()})),
}  # fmt: skip


def same(value):
    """A value that equals those that are one key."""
    if isinstance(value, float):
        return "NaN" if math.isnan(value) else value + 0.0
    if isinstance(value, decimal.Decimal):
        return value + 0
    if isinstance(value, list):
        return tuple(map(same, value))
    return tuple(same(value[name]) for name in sorted(value)) if isinstance(value, dict) else value


@pytest.mark.parametrize("kind", KINDS)
@usually(30)
@given(data=st.data())
def test_hashes_are_equal_where_keys_are(kind, data):
    values, type_ = KINDS[kind]
    batches = data.draw(st.lists(st.lists(st.none() | values, max_size=6), min_size=1, max_size=4))
    found = {}
    for batch in batches:
        array = pa.array([None, *batch], type_)[1:]  # a slice
        whole = pa.chunked_array([array]) if len(batch) % 2 else array
        for value, number in zip(batch, hashes([whole], len(batch)).tolist(), strict=True):
            assert found.setdefault(same(value), number) == number
    assert len(set(found.values())) == len(found)


@given(st.lists(st.tuples(st.none() | INTEGERS, st.none() | st.integers(-3, 3)), max_size=20))
def test_all_keys_of_a_row_count(rows):
    first, second = (pa.array([row[place] for row in rows], pa.int64()) for place in (0, 1))
    found = hashes([first, second], len(rows)).tolist()
    assert len(set(found)) == len(set(zip(found, rows, strict=True))) == len(set(rows))


def test_parts_are_of_about_equal_size():
    found = hashes([pa.array(np.arange(64_000))], 64_000)
    counts = np.bincount((found % np.uint64(64)).astype(np.int64), minlength=64)
    assert counts.min() > 800
    assert counts.max() < 1200
