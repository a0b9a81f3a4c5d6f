"""Runs of rows folded with the cheaper combine where no row is NaN, and with the usual one where some is."""

import math
from functools import reduce

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sash.algebra.catalogue import builtin
from sash.engine.streams.partial_layouts import PartialLayout

FLOATS = st.sampled_from([0.0, -0.0, 1.5, -2.0, math.inf, -math.inf, math.nan])


@pytest.mark.parametrize("name", ["max", "min", "sum", "avg"])
@given(runs=st.lists(st.lists(FLOATS, max_size=5), max_size=6))
def test_each_run_is_the_fold_of_its_rows(name, runs):
    layout = PartialLayout(builtin(name), (np.dtype(np.float64),))
    values = np.array([value for run in runs for value in run])
    states, held = layout.fold_runs((values,), np.cumsum([0, *map(len, runs)]))
    combine, lift = layout.inputs.aggregate.combine, layout.inputs.aggregate.lift
    assert held.astype(bool).tolist() == [bool(run) for run in runs]
    for state, run in zip(states, runs, strict=True):
        if run:
            expected = reduce(combine, map(lift, run))
            listed = expected if isinstance(expected, tuple) else (expected,)
            np.testing.assert_array_equal(state.tolist() if state.dtype.names else (state,), listed)
