import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sash.kernels.sorting import radix
from sash.kernels.sorting.radix import argsort

WORDS = st.one_of(
    st.integers(0, 3),
    st.integers(0, 2**64 - 1),
    st.sampled_from([0, 1, 2**31, 2**32, 2**63, 2**64 - 1]),
    st.integers(0, 5).map(lambda number: (number << 60) | 7),
)
COLUMNS = st.integers(0, 60).flatmap(
    lambda rows: st.lists(
        st.lists(WORDS, min_size=rows, max_size=rows).map(lambda column: np.array(column, np.uint64)),
        min_size=1,
        max_size=4,
    )
)


def expected(keys):
    return np.lexsort(keys[::-1])


def columns(seed, rows):
    """Columns of all sorts, wide enough to need every path through the sort."""
    random = np.random.default_rng(seed)
    wide = random.integers(0, 2**64, rows, np.uint64)
    tops = random.integers(0, 4, rows, np.uint64) << np.uint64(62)
    return {
        "wide": [wide],
        "few": [wide % np.uint64(7)],
        "narrow": [wide % np.uint64(100_000)],
        "bits in two places": [tops | (wide & np.uint64(0xFFFF))],
        "short runs": [random.choice(wide, rows) ^ (wide & np.uint64(0xFFF))],
        "long runs": [random.choice(wide[:50], rows) ^ (wide & np.uint64(0xFFF))],
        "exponents": [np.uint64(1) << (wide % np.uint64(64))],
        "two wide": [tops, wide],
        "three wide": [tops | np.uint64(1), wide | np.uint64(3 << 62), wide[::-1].copy()],
        "equal": [np.full(rows, 5, np.uint64), np.zeros(rows, np.uint64)],
        "nearly sorted": [np.append(np.arange(rows - 1), 0).astype(np.uint64)],
        "outlier": [np.append(wide[1:] % np.uint64(1000), np.uint64(2**63))],
    }


@given(COLUMNS)
def test_rows_come_in_the_order_of_their_keys(keys):
    order = argsort(keys)
    assert order.dtype == np.int32
    assert order.tolist() == expected(keys).tolist()


@pytest.mark.parametrize("name", columns(0, 2))
@pytest.mark.parametrize("rows", [1_000, 150_000])
def test_many_rows_do_too(name, rows):
    keys = columns(1, rows)[name]
    np.testing.assert_array_equal(argsort(keys), expected(keys))


@pytest.mark.parametrize("name", ["wide", "long runs", "three wide"])
def test_the_order_does_not_depend_on_threads(name, monkeypatch):
    keys = columns(2, 200_000)[name]
    monkeypatch.setenv("SASH_THREADS", "3")
    np.testing.assert_array_equal(argsort(keys), expected(keys))


def test_sorted_rows_are_not_sorted_again(monkeypatch):
    monkeypatch.setattr(radix, "order_of", lambda words: pytest.fail("the rows were sorted already"))
    twos = np.repeat(np.arange(50, dtype=np.uint64), 2)
    assert argsort([twos, np.tile(np.arange(2, dtype=np.uint64), 50)]).tolist() == list(range(100))


def test_positions_of_64_bits(monkeypatch):
    monkeypatch.setattr(radix, "positions", lambda rows: np.int64)
    keys = columns(3, 3_000)["long runs"]
    order = argsort(keys)
    assert order.dtype == np.int64
    np.testing.assert_array_equal(order, expected(keys))
