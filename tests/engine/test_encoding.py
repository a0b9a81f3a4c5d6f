import math
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sash.engine import encoding
from sash.engine.encoding import combined, equality_key, order_key
from sash.errors import SashError


def whole(bits, signed=True):
    least, greatest = (-(1 << bits - 1), (1 << bits - 1) - 1) if signed else (0, (1 << bits) - 1)
    return st.one_of(
        st.integers(-2, 2).filter(lambda x: x >= least),
        st.sampled_from([least, greatest]),
        st.integers(least, greatest),
    )


def floats(width):
    return st.one_of(
        st.sampled_from([0.0, -0.0, math.nan, -math.nan, math.inf, -math.inf, 1.5]), st.floats(width=width)
    )


def decimals(digits, scale):
    limit = 10**digits - 1
    return st.one_of(st.integers(-3, 3), st.sampled_from([-limit, limit]), st.integers(-limit, limit)).map(
        lambda number: Decimal(f"{number}E-{scale}")
    )


TEXT = st.one_of(
    st.text(st.sampled_from("ab\0é漢😀\uffff"), max_size=3),
    st.text(st.sampled_from("ab"), min_size=6, max_size=9),
    st.text(st.sampled_from("ab"), max_size=2).map(lambda end: "common prefix " * 4 + end),
)
BYTES = TEXT.map(str.encode)
MICROSECONDS = whole(50)
FLAT = {
    pa.int8(): whole(8),
    pa.int16(): whole(16),
    pa.int32(): whole(32),
    pa.int64(): whole(64),
    pa.uint8(): whole(8, False),
    pa.uint16(): whole(16, False),
    pa.uint32(): whole(32, False),
    pa.uint64(): whole(64, False),
    pa.float16(): floats(16).map(np.float16),
    pa.float32(): floats(32),
    pa.float64(): floats(64),
    pa.bool_(): st.booleans(),
    pa.date32(): st.dates(),
    pa.date64(): st.dates(),
    pa.timestamp("us"): MICROSECONDS,
    pa.timestamp("ns", "Europe/Paris"): whole(64),
    pa.time32("s"): st.integers(0, 86399),
    pa.time64("us"): st.times(),
    pa.duration("ms"): whole(64),
    pa.decimal32(9, 2): decimals(9, 2),
    pa.decimal64(18, 0): decimals(18, 0),
    pa.decimal128(38, 3): decimals(38, 3),
    pa.decimal256(76, 10): decimals(76, 10),
    pa.string(): TEXT,
    pa.large_string(): TEXT,
    pa.string_view(): TEXT,
    pa.binary(): BYTES,
    pa.large_binary(): BYTES,
    pa.binary_view(): BYTES,
    pa.binary(3): st.binary(min_size=3, max_size=3),
    pa.binary(16): st.sampled_from([b"a" * 16, b"a" * 15 + b"b", b"b" * 16]),
    pa.null(): st.none(),
}
NESTED = {
    pa.list_(pa.float64()): st.lists(floats(64), max_size=3),
    pa.large_list(pa.string()): st.lists(st.one_of(st.none(), TEXT), max_size=2),
    pa.list_(pa.int8(), 2): st.lists(st.one_of(st.none(), st.integers(0, 1)), min_size=2, max_size=2),
    pa.list_view(pa.int8()): st.lists(st.integers(0, 1), max_size=3),
    pa.struct({"a": pa.int64(), "b": pa.string()}): st.fixed_dictionaries(
        {"a": st.one_of(st.none(), st.integers(0, 1)), "b": st.one_of(st.none(), st.sampled_from(["x", "y"]))}
    ),
    pa.struct([]): st.just({}),
    pa.list_(pa.struct({"a": pa.list_(pa.bool_())})): st.lists(
        st.one_of(st.none(), st.fixed_dictionaries({"a": st.one_of(st.none(), st.lists(st.booleans(), max_size=1))})),
        max_size=2,
    ),
}


EACH = settings(max_examples=max(1, settings.default.max_examples // 4))  # for each of many types


def comparable(value):
    """A value that Python compares as Spark does: NaN last, strings by their bytes."""
    if isinstance(value, str):
        return value.encode()
    if isinstance(value, float | np.floating):
        return (1, 0.0) if math.isnan(value) else (0, float(value))
    if isinstance(value, list):
        return tuple(map(comparable, value))
    if isinstance(value, dict):
        return tuple(comparable(value[name]) for name in sorted(value))
    return value


def sign(a, b):
    return (a > b) - (a < b)


def spark_sign(a, b, descending, nulls_first):
    if a is None or b is None:
        return ((b is None) - (a is None)) * (1 if nulls_first else -1)
    return sign(comparable(a), comparable(b)) * (-1 if descending else 1)


@st.composite
def columns(draw, kind, values):
    """A column with NULLs or without, sliced, in chunks, and its values."""
    rows = draw(st.lists(st.one_of(st.none(), values) if draw(st.booleans()) else values, max_size=12))
    column, start = pa.array(rows, kind), draw(st.integers(0, min(2, len(rows))))
    column, rows = column[start:], rows[start:]
    if draw(st.booleans()):
        cut = draw(st.integers(0, len(rows)))
        column = pa.chunked_array([column[:cut], column[cut:]])
    return column, rows


def in_a_dictionary(column):
    """The same column by way of a dictionary that holds values twice, and NULL, and some nobody uses."""
    array = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    rows = len(array)
    indices = [None if row % 5 == 4 and not array[row].is_valid else row + rows * (row % 2) for row in range(rows)]
    return pa.DictionaryArray.from_arrays(pa.array(indices, pa.int32()), pa.concat_arrays([array, array]))


def check_order(column, rows, descending, nulls_first):
    keys = order_key(column, descending, nulls_first)
    assert all(key.dtype == np.uint64 for key in keys)
    found = list(zip(*(key.tolist() for key in keys), strict=True))
    assert len(found) == len(rows)
    for one in range(len(rows)):
        for two in range(one):
            expected = spark_sign(rows[one], rows[two], descending, nulls_first)
            assert sign(found[one], found[two]) == expected, (rows[one], rows[two])


def check_equality(column, rows):
    key = equality_key(column)
    assert key.dtype == np.uint64
    values = [comparable(row) for row in rows]
    assert [[a == b for a in key.tolist()] for b in key.tolist()] == [[a == b for a in values] for b in values]


@pytest.mark.parametrize("kind", FLAT, ids=str)
@EACH
@given(st.data(), st.booleans(), st.booleans())
def test_keys_are_in_the_order_of_the_values(kind, data, descending, nulls_first):
    column, rows = data.draw(columns(kind, FLAT[kind]))
    check_order(column, rows, descending, nulls_first)
    check_equality(column, rows)


@pytest.mark.parametrize("kind", [pa.int64(), pa.float64(), pa.string(), pa.decimal128(38, 3)], ids=str)
@EACH
@given(st.data(), st.booleans(), st.booleans())
def test_dictionaries_are_as_their_values(kind, data, descending, nulls_first):
    column, rows = data.draw(columns(kind, FLAT[kind]))
    check_order(in_a_dictionary(column), rows, descending, nulls_first)
    check_equality(in_a_dictionary(column), rows)
    check_order(in_a_dictionary(column)[1:], rows[1:], descending, nulls_first)


@pytest.mark.parametrize("kind", NESTED, ids=str)
@EACH
@given(st.data())
def test_nested_values_have_equal_keys_where_they_are_equal(kind, data):
    column, rows = data.draw(columns(kind, NESTED[kind]))
    check_equality(column, rows)


def test_dictionaries_within_lists_compare_by_value():
    inner = pa.DictionaryArray.from_arrays(pa.array([0, 1, 2, None]), pa.array(["x", "x", None]))
    lists = pa.ListArray.from_arrays(pa.array([0, 1, 2, 3, 4]), inner)
    check_equality(lists, [["x"], ["x"], [None], [None]])


@given(st.lists(TEXT, min_size=1, max_size=40))
def test_strings_that_repeat_are_sorted_by_their_dictionary(rows):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(encoding, "_repetitive", lambda array: True)
        check_order(pa.array([*rows, None]), [*rows, None], False, True)
        check_equality(pa.array([*rows, None]), [*rows, None])


def test_a_sample_tells_strings_that_repeat():
    assert encoding._repetitive(pa.array(["some words", "and others"] * 10_000))
    assert not encoding._repetitive(pa.array([f"number {i}" for i in range(20_000)]))


def test_runs_and_extension_types_are_as_their_values():
    runs = pa.RunEndEncodedArray.from_arrays([2, 3], pa.array([5, 1]))
    check_order(runs, [5, 5, 1], False, True)
    check_equality(
        pa.ExtensionArray.from_storage(pa.uuid(), pa.array([b"b" * 16, b"a" * 16, None], pa.binary(16))), [2, 1, None]
    )


def test_null_takes_no_second_key_where_there_is_room():
    assert len(order_key(pa.array([1, None, 2**62]))) == 1
    assert len(order_key(pa.array([-(2**63), None, 2**63 - 1]))) == 2


@given(st.lists(st.tuples(*[whole(64, False)] * 3), max_size=20))
def test_combined_keys_are_equal_where_all_keys_are(rows):
    keys = [np.array([row[key] for row in rows], np.uint64) for key in range(3)]
    found = combined(keys).tolist()
    assert [[sign(a, b) for a in found] for b in found] == [[sign(a, b) for a in rows] for b in rows]


@pytest.mark.parametrize("kind", [*NESTED, pa.map_(pa.string(), pa.int8()), pa.month_day_nano_interval()], ids=str)
def test_what_has_no_order_is_refused(kind):
    with pytest.raises(SashError, match=r"a column of type .* cannot be ordered"):
        order_key(pa.nulls(2, kind))


@pytest.mark.parametrize("kind", [pa.map_(pa.string(), pa.int8()), pa.list_(pa.map_(pa.string(), pa.int8()))], ids=str)
def test_maps_cannot_be_compared(kind):
    with pytest.raises(SashError, match=r"values of type map<string, int8> cannot be compared"):
        equality_key(pa.nulls(2, kind))
