"""DISTINCT of an aggregate is the aggregate of the set of a frame's values, whatever the frame and its hole."""

from functools import reduce
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sash
from sash.algebra.catalogue import builtin
from sash.errors import Refused, SashError
from sash.kernels.algorithm import Occurrences
from sash.kernels.operations import distinct_fold
from sash.kernels.operations.distinct_fold import slide_distinct, sweep_distinct
from sash.windows.bounds import Bounds

PRODUCT = sash.Aggregate(  # how many values, and their product modulo a prime
    "product", lift=lambda x: (1, x % 97 + 1), combine=lambda a, b: (a[0] + b[0], a[1] * b[1] % 10007), commutative=True
)
TOTAL = sash.Aggregate(
    "total", lift=lambda x: x, combine=lambda a, b: a + b, inverse=lambda s, old: s - old, commutative=True
)
PLAIN = PRODUCT.but(compiled=False)


def occurrences(column, segments, kind=np.int32):
    """Where each value was last and comes next in its partition."""
    previous, following = np.full(len(column), -1, kind), np.full(len(column), len(column), kind)
    for start, stop in pairwise(segments):
        seen = {}
        for row in range(start, stop):
            value = column[row].item()
            if value in seen:
                previous[row], following[seen[value]] = seen[value], row
            seen[value] = row
    return previous, following


def oracle(aggregate, column, bounds):
    answers = []
    for i, (lo, a, b, hi) in enumerate(zip(*(array.tolist() for array in bounds.arrays[:4]), strict=True)):
        own = [int(bounds.own[i])] if len(bounds.own) and bounds.own[i] >= 0 else []
        values = {column[row].item() for row in [*range(lo, a), *own, *range(b, hi)]}
        partials = map(aggregate.lift, sorted(values))
        answers.append(aggregate.lower(reduce(aggregate.combine, partials)) if values else None)
    return answers


def answers(aggregate, column, segments, bounds, groups=None, kind=np.int32):
    """The answers of the sweep; where frames move forward and a value can be taken away, the slide has the same."""
    values = Occurrences(*occurrences(column, segments, kind), None)
    runs = [sweep_distinct, slide_distinct] if slides(aggregate, bounds) else [sweep_distinct]
    found = []
    for run in runs:
        got = run(aggregate, (column,), values, bounds, groups)
        found.append([value if ok else None for value, ok in zip(got.values.tolist(), got.valid, strict=True)])
    assert found == [found[0]] * len(runs)
    return found[0]


def slides(aggregate, bounds):
    """Whether the aggregate of frames can be had by taking values away."""
    return aggregate.invertible and bounds.moves_forward and not bounds.holes


@st.composite
def tables(draw):
    """A column of few values, cut into partitions, and its groups of peers: (column, segments, start, stop)."""
    rows = draw(st.integers(1, 60))
    few = draw(st.sampled_from((1, 3, 8, 40)))
    column = np.array(draw(st.lists(st.integers(0, few), min_size=rows, max_size=rows)), np.int64)
    inner = draw(st.sets(st.integers(1, rows - 1), max_size=3)) if rows > 1 else set()
    segments = [0, *sorted(inner), rows]
    groups = sorted({*segments, *(draw(st.sets(st.integers(1, rows - 1), max_size=rows)) if rows > 1 else ())})
    start = np.repeat(groups[:-1], np.diff(groups)).astype(np.int32)
    stop = np.repeat(groups[1:], np.diff(groups)).astype(np.int32)
    return column, segments, start, stop


@st.composite
def cases(draw):
    """A table and a frame for some of its rows, perhaps with the holes that EXCLUDE tears."""
    column, segments, start, stop = draw(tables())
    rows = np.array(draw(st.lists(st.integers(0, len(column) - 1), max_size=40)), np.int64)
    which = np.searchsorted(segments, rows, side="right") - 1
    ends = [sorted(draw(st.tuples(*[st.integers(segments[p], segments[p + 1])] * 2))) for p in which]
    lo, hi = np.array(ends, np.int32).reshape(-1, 2).T.copy()
    exclude = draw(st.sampled_from(("no others", "current row", "group", "ties")))
    if exclude == "no others":
        return column, segments, Bounds(lo, hi, len(column)), None
    first, last = start[rows], stop[rows]
    if exclude == "current row":
        first, last = rows.astype(np.int32), (rows + 1).astype(np.int32)
    elif draw(st.booleans()):  # FILTER may leave nothing of a group
        last = np.where(rows % 2, first, last)
    a, b = np.clip(first, lo, hi), np.clip(last, lo, hi)
    own = np.zeros(0, np.int32)
    if exclude == "ties":
        own = np.where((rows >= a) & (rows < b), rows, -1).astype(np.int32)
    return column, segments, Bounds(lo, hi, len(column), a=a, b=b, own=own), (first, last)


@pytest.mark.parametrize("aggregate", [PRODUCT, PLAIN], ids=["compiled", "python"])
@given(case=cases())
def test_frames_of_any_shape_with_holes(aggregate, case):
    column, segments, bounds, groups = case
    assert answers(aggregate, column, segments, bounds, groups) == oracle(aggregate, column, bounds)


@pytest.mark.parametrize("aggregate", [TOTAL, PRODUCT], ids=["without a tree", "with a tree"])
@given(table=tables(), data=st.data())
def test_frames_that_move_forward(aggregate, table, data):
    column, segments, _, _ = table
    edges = np.sort(data.draw(st.lists(st.integers(0, len(column)), min_size=60, max_size=60)))
    start = np.repeat(segments[:-1], np.diff(segments))
    lo, hi = (edges[:30], edges[30:]) if data.draw(st.booleans()) else (edges[::2], edges[1::2])
    if len(segments) > 2:  # no frame crosses the edge of a partition
        last = np.minimum(np.maximum(hi, 1), len(column)) - 1
        lo = np.minimum(np.maximum(lo, start[last]), hi)
    bounds = Bounds(lo.astype(np.int32), hi.astype(np.int32), len(column), "monotonic")
    assert answers(aggregate, column, segments, bounds) == oracle(aggregate, column, bounds)


@pytest.mark.parametrize(("aggregate", "holes"), [(TOTAL, False), (PRODUCT, False), (PRODUCT, True)])
def test_many_slices_on_any_number_of_threads(monkeypatch, aggregate, holes):
    monkeypatch.setattr(distinct_fold, "SLICE", 100)
    monkeypatch.setattr(distinct_fold, "shares", lambda rows: [(0, rows // 3), (rows // 3, rows)])
    rows = np.arange(2000)
    column = np.random.default_rng(0).integers(0, 150, 2000)
    lo, hi = np.maximum(rows - rows % 300, 0), np.minimum(rows + 100, 2000)
    bounds, groups = Bounds(lo, hi, 2000, "monotonic"), None
    if holes:
        groups = (rows // 7 * 7, np.minimum(rows // 7 * 7 + 7, 2000))
        bounds = Bounds(lo, hi, 2000, a=np.clip(groups[0], lo, hi), b=np.clip(groups[1], lo, hi), own=rows)
    assert answers(aggregate, column, [0, 2000], bounds, groups, np.int64) == oracle(aggregate, column, bounds)


def test_nothing_asked_and_nothing_there():
    none = np.zeros(0, np.int32)
    nowhere = Occurrences(none, none, None)
    for shape, aggregate in (("monotonic", TOTAL), ("monotonic", PRODUCT), ("arbitrary", PRODUCT)):
        bounds = Bounds(none, none, 0, shape)
        for run in (sweep_distinct, slide_distinct) if slides(aggregate, bounds) else (sweep_distinct,):
            assert len(run(aggregate, (none.astype(np.int64),), nowhere, bounds).values) == 0
    zeros = np.zeros(2, np.int32)
    got = sweep_distinct(PRODUCT, (none.astype(np.int64),), nowhere, Bounds(zeros, zeros, 0))
    assert got.valid.tolist() == [False, False]


def test_what_cannot_be_done_is_refused():
    bounds = Bounds(np.array([0]), np.array([1]), 1)
    column, previous = np.array([1]), np.array([-1])
    with pytest.raises(Refused, match="DISTINCT needs a commutative aggregate of values alone; max_by does not say"):
        sweep_distinct(builtin("max_by"), (column,), Occurrences(previous, previous, None), bounds)
    holed = Bounds(np.array([0]), np.array([1]), 1, a=np.array([0]), b=np.array([1]))
    with pytest.raises(SashError, match="groups must be given where frames have holes"):
        sweep_distinct(TOTAL, (column,), Occurrences(previous, previous, None), holed)
