"""Partials before and after, against a fold of everything in order."""

from functools import reduce

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from sash import Aggregate
from sash.kernels.answers import Answered
from sash.kernels.inputs import Inputs
from sash.kernels.operations.merging import joined, merged, state_of, unlowered

# What stands at the ends, and how many there are: not commutative; three of them are NULL
ENDS = Aggregate(
    "ends",
    lift=lambda x: (x, (x, 1)),
    combine=lambda a, b: (a[0], (b[1][0], a[1][1] + b[1][1])),
    lower=lambda s: None if s[1][1] == 3 else s[0] * 10000 + s[1][0] * 100 + s[1][1],
)
INPUTS = Inputs(ENDS, (np.dtype(np.int64),))
partials = st.tuples(st.integers(1, 9), st.integers(1, 9), st.integers(1, 4))


def packed(states):
    out = np.zeros(len(states), state_of(INPUTS))
    for place, state in enumerate(states):
        out[place] = state
    return out


def combined(states):
    nested = [(a, (b, n)) for a, b, n in states]
    return None if not nested else reduce(ENDS.combine, nested)


def test_a_partial_is_what_an_unlowered_answer_is():
    assert unlowered(ENDS).lower((1, (2, 3))) == (1, (2, 3))
    assert len(state_of(INPUTS).names) == 3


@given(st.lists(partials, min_size=1, max_size=8), st.lists(st.lists(st.integers(0, 7), min_size=1), max_size=4))
def test_runs_are_joined_in_order(states, runs):
    runs = [[place % len(states) for place in run] for run in runs]
    found = joined(INPUTS, packed(states), [np.array(run) for run in runs])
    expected = [combined([states[place] for place in run]) for run in runs]
    assert [(a, (b, n)) for a, b, n in found.tolist()] == expected


@given(
    st.lists(st.lists(st.tuples(partials, st.booleans(), st.booleans()), min_size=1, max_size=5), max_size=5),
    st.lists(partials, min_size=1, max_size=3),
    st.data(),
)
def test_partials_go_before_and_after_the_rows_of_their_segment(segments, carried, data):
    sides = [[data.draw(st.integers(-1, len(carried) - 1)) for _ in segments] for _ in range(2)]
    rows = [row for segment in segments for row in segment]
    local = Answered(packed([state for state, _, _ in rows]), np.array([held for _, held, _ in rows], np.bool_))
    wanted = np.array([asked for _, _, asked in rows], np.bool_)
    edges = np.cumsum([0, *map(len, segments)])
    found = merged(INPUTS, local, wanted, packed(carried), edges, *map(np.array, sides))
    expected = []
    for segment, before, after in zip(segments, *sides, strict=True):
        for state, held, asked in segment:
            parts = [carried[before]] * (before >= 0) + [state] * held + [carried[after]] * (after >= 0)
            whole = combined(parts) if asked else None
            expected.append(None if whole is None else ENDS.lower(whole))
    assert [value if valid else None for value, valid in zip(*map(np.ndarray.tolist, found), strict=True)] == expected
