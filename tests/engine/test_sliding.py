"""Windows over columns of any type: what a call takes, in its order, and Arrow back where rows are the answer."""

import numpy as np
import pyarrow as pa
import pytest

import sash
from sash import functions as sf
from sash.engine import slide
from sash.kernels.fifo import ALGORITHMS

WHO = ["ann", "bob", None, "cleo"]
PRICE = [3, 9, 9, 4]


@pytest.mark.parametrize(
    ("call", "columns", "expected"),
    [
        (sf.max_by("who", "price"), (WHO, PRICE), ["ann", "bob", "bob", None]),
        (sf.min_by("who", "price"), (pa.array(WHO), np.array(PRICE)), ["ann", "ann", "bob", "cleo"]),
        (sf.first("who"), (pa.chunked_array([WHO[:2], WHO[2:]]),), ["ann", "ann", "bob", None]),
        (sf.last_n("who", 1), (WHO,), [["ann"], ["bob"], [None], ["cleo"]]),
        (sf.collect_list("price"), (PRICE,), [[3], [3, 9], [9, 9], [9, 4]]),
        (sf.collect_set("price"), (PRICE,), [[3], [3, 9], [9], [9, 4]]),
        (sf.listagg("who", "-"), (["a", "b", "c", "d"],), ["a", "a-b", "b-c", "c-d"]),
        (sf.ith_youngest("who", 2), (WHO,), [None, "ann", "bob", None]),
    ],
    ids=lambda part: str(part) if not isinstance(part, tuple) else "",
)
def test_answers_are_taken_from_a_column_of_any_type(call, columns, expected):
    answered = slide(call, *columns, size=2)
    assert answered.values.to_pylist() == expected
    assert answered.valid.tolist() == [value is not None for value in expected]


def test_a_count_takes_its_column_or_the_number_of_rows():
    assert slide(sf.count("price"), PRICE, size=3).values.tolist() == [1, 2, 3, 3]
    assert slide(sf.count(), rows=4, size=3).values.tolist() == [1, 2, 3, 3]


@pytest.mark.parametrize(
    "using",
    [
        pytest.param(name, marks=() if name in ("two_stacks", "slick_deque", "flatfat") else pytest.mark.long)
        for name in ALGORITHMS
        if name != "subtract_on_evict"
    ],
)
def test_every_algorithm_serves(using):
    lo, hi = [0, 0, 2, 2], [0, 2, 3, 4]
    assert slide(sf.max_by("who", "price"), WHO, PRICE, lo=lo, hi=hi, using=using).values.to_pylist() == [
        None,
        "bob",
        None,
        None,
    ]


def test_what_is_missing_is_named():
    with pytest.raises(sash.SashError, match="slide needs a size, or both lo and hi"):
        slide(sf.max("price"), PRICE)
    with pytest.raises(sash.SashError, match="max takes 1 columns, got the types of 2"):
        slide(sf.max("price"), PRICE, PRICE, size=2)
    with pytest.raises(sash.SashError, match=r'aggregate must be a sash.Aggregate or such as sf.max\("load"\), got'):
        slide(sf.max, PRICE, size=2)
