"""The comparators of the spans' paper compute what Sash's techniques do."""

import numpy as np
import pytest
from bench.papers.spans_2021._end_points import swept

from sash.algebra.catalogue import builtin
from sash.kernels.inputs import Inputs
from sash.kernels.spans import slicing


@pytest.mark.parametrize("longest", [2, 40])
@pytest.mark.parametrize("kind", ["count", "sum", "max"])
def test_sweeping_by_an_index_of_end_points_answers_as_slicing(longest, kind):
    random, lo = np.random.default_rng(longest), np.arange(0, 2_500, 3)
    last = np.sort(random.integers(longest, 2_000, 3_000))
    events = random.random(3_000), last - random.integers(0, longest, 3_000), last, lo, lo + 30
    dtypes = () if kind == "count" else (np.float64,)
    inputs, postpone = Inputs(builtin(kind), dtypes), longest + 2
    right, held = slicing.answers(inputs, events[: len(dtypes)], *events[1:], postpone)
    values, counts = swept(kind, *events, postpone)
    some = held.astype(bool)
    assert ((counts > 0) == some).all()
    np.testing.assert_allclose(values[some], right[some])
