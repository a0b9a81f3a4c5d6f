"""Keys keep their numbers from push to push, however many there are and whichever of the ways numbers them."""

from datetime import date, timedelta

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sash.engine.streams import keys as module
from sash.engine.streams.keys import Keys

VALUES = {
    pa.int64(): st.integers(-3, 9),
    pa.uint64(): st.sampled_from([0, 1, 2**63, 2**64 - 1]),
    pa.bool_(): st.booleans(),
    pa.date32(): st.integers(0, 6).map(lambda days: date(2026, 1, 1) + timedelta(days=days)),
    pa.string(): st.sampled_from(["", "a", "b", "ab", "ba", "é", "a" * 40]),
    pa.large_binary(): st.sampled_from([b"", b"\0", b"\0\0", b"a"]),
    pa.float64(): st.sampled_from([0.0, -0.0, 1.5, float("nan")]),
}


def same(value):
    """What tells a value from others: NaN is NaN, and both zeros are one."""
    return "nan" if value != value else value


@pytest.mark.parametrize("dtype", VALUES, ids=str)
@given(data=st.data())
def test_a_value_has_the_number_of_when_it_first_came(monkeypatch_module, dtype, data):
    batches = data.draw(st.lists(st.lists(st.none() | VALUES[dtype], max_size=8), max_size=5))
    monkeypatch_module.setattr(module, "SHORT", data.draw(st.sampled_from([0, 2, 1000])))
    keys, known = Keys([dtype]), {}
    for batch in batches:
        whole = pa.array([None, *batch, None], dtype)
        expected = [known.setdefault(same(value), len(known)) for value in batch]
        assert keys.numbers([whole.slice(1, len(batch))]).tolist() == expected
        assert len(keys) == len(known)
        assert [same(value) for value in keys.all()[0].to_pylist()] == list(known)


@given(st.lists(st.lists(st.tuples(st.sampled_from(["a", "b", None]), st.integers(0, 3)), max_size=6), max_size=4))
def test_keys_of_two_columns(monkeypatch_module, batches):
    monkeypatch_module.setattr(module, "SHORT", 1)
    keys, known = Keys([pa.string(), pa.int64()]), {}
    for batch in batches:
        first, second = pa.array([a for a, _ in batch], pa.string()), pa.array([b for _, b in batch], pa.int64())
        assert keys.numbers([first, second]).tolist() == [known.setdefault(pair, len(known)) for pair in batch]
    assert list(zip(*(each.to_pylist() for each in keys.all()), strict=True)) == list(known)


def test_many_keys_are_looked_up_in_one_table():
    values = pa.array(np.random.default_rng(0).permutation(5_000))
    keys = Keys([pa.int64()])
    keys.numbers([values])
    assert keys.numbers([values.slice(4_990)]).tolist() == list(range(4_990, 5_000))
    table = keys.columns[0]._interned
    assert table is not None
    assert keys.numbers([pa.array([-1, int(values[7])])]).tolist() == [5_000, 7]
    assert keys.columns[0]._interned is table
    assert keys.size > 8 * 5_001 + table.size


@pytest.fixture(scope="module")
def monkeypatch_module():
    with pytest.MonkeyPatch.context() as patch:
        yield patch
