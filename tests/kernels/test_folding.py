"""Every algorithm behind ``fold`` gives what folding the rows of each frame one by one gives, pieces in order."""

from functools import reduce

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sash
from sash.algebra.catalogue import builtin
from sash.errors import Overflow, Refused, SashError
from sash.kernels.fifo import ALGORITHMS
from sash.kernels.fifo import forward_folding as folding
from sash.kernels.fold_by_name import fold
from sash.windows.bounds import Bounds

AFFINE = sash.Aggregate(  # x -> p·x + q, composed modulo a prime: neither commutative nor selective
    "affine",
    lift=lambda x: (x % 7 + 1, x),
    combine=lambda a, b: ((a[0] * b[0]) % 10007, (a[1] * b[0] + b[1]) % 10007),
)
LATER = sash.Aggregate(  # the row of the largest value, the last of equal ones
    "later",
    lift=lambda row, x: (x, row),
    combine=lambda a, b: b if b[0] >= a[0] else a,
    lower=lambda s: s[1],
    selective=True,
    rows=True,
    returns="row",
)
PLAIN = sash.Aggregate("plain", lift=lambda x: f"{x} ", combine=lambda a, b: a + b, compiled=False)
FORWARD = ("two_stacks", "pba")
STRUCTURES = [("segment_tree", AFFINE), ("disjoint_table", AFFINE), ("segment_tree", PLAIN)]
ANY = [*STRUCTURES, ("sparse_table", LATER), ("prefix", builtin("sum"))]


def oracle(aggregate, column, bounds):
    """The answer of each frame straight from its rows, None for an empty one."""
    aggregate = aggregate.of((column.dtype,))
    column, answers = column.tolist(), []
    for i, (lo, a, b, hi) in enumerate(zip(*(array.tolist() for array in bounds.arrays[:4]), strict=True)):
        own = bounds.own[i] if len(bounds.own) else -1
        rows = [*range(lo, a), *([int(own)] if own >= 0 else []), *range(b, hi)]
        partials = [aggregate.lift(row, column[row]) if aggregate.rows else aggregate.lift(column[row]) for row in rows]
        answers.append(aggregate.lower(reduce(aggregate.combine, partials)) if rows else None)
    return answers


def answers(aggregate, column, bounds, using, segments=None):
    aggregate = aggregate.of((column.dtype,)).but(finish=None)
    got = fold(aggregate, (column,), len(column), bounds, using, segments)
    return [value if ok else None for value, ok in zip(got.values.tolist(), got.valid, strict=True)]


def columns(rows):
    return st.lists(st.integers(-20, 20), min_size=rows, max_size=rows).map(lambda v: np.array(v, np.int64))


@st.composite
def frames(draw, rows, holes=None):
    """Frames of any shape, with holes or without, some with a row of their own in the hole."""
    how_many = draw(st.integers(0, 30))
    edges = [sorted(draw(st.tuples(*[st.integers(0, rows)] * 4))) for _ in range(how_many)]
    lo, a, b, hi = np.array(edges, np.int32).reshape(-1, 4).T.copy()
    if not (draw(st.booleans()) if holes is None else holes):
        return Bounds(lo, hi, rows)
    own = [draw(st.integers(a, b - 1)) if a < b and draw(st.booleans()) else -1 for a, b in zip(a, b, strict=True)]
    return Bounds(lo, hi, rows, a=a, b=b, own=np.array(own if draw(st.booleans()) else [], np.int32))


@st.composite
def forward(draw, rows):
    """Frames that only move forward."""
    how_many = draw(st.integers(0, 40))
    edges = np.sort(np.array(draw(st.lists(st.integers(0, rows), min_size=2 * how_many, max_size=2 * how_many)), int))
    lo, hi = edges[:how_many], edges[how_many:]
    if draw(st.booleans()):
        lo, hi = np.minimum(edges[::2], edges[1::2]), edges[1::2]
    return Bounds(lo.astype(np.int32), hi.astype(np.int32), rows, "monotonic")


@pytest.mark.parametrize(("using", "aggregate"), ANY, ids=lambda p: getattr(p, "name", p))
@given(data=st.data(), rows=st.integers(0, 100))
def test_frames_of_any_shape(using, aggregate, data, rows):
    column, bounds = data.draw(columns(rows)), data.draw(frames(rows))
    assert answers(aggregate, column, bounds, using) == oracle(aggregate, column, bounds)


@pytest.mark.parametrize(("using", "aggregate"), ANY, ids=lambda p: getattr(p, "name", p))
def test_trees_of_many_levels_and_prefixes_of_many_runs(using, aggregate):
    random = np.random.default_rng(1)
    rows = 9001
    column = random.integers(-100, 100, rows)
    edges = np.sort(random.integers(0, rows + 1, (60, 4)), axis=1).T
    edges[:, :4] = [[0, 0, 4096, 4097], [4096, 8192, 4096, 8192], [4096, 8192, 4096, 8192], [8192, 8193, 9001, 9001]]
    lo, a, b, hi = (np.ascontiguousarray(edge) for edge in edges)
    for bounds in (Bounds(lo, hi, rows), Bounds(lo, hi, rows, a=a, b=b)):
        assert answers(aggregate, column, bounds, using) == oracle(aggregate, column, bounds)


@pytest.mark.parametrize("using", FORWARD)
@given(data=st.data(), rows=st.integers(0, 60))
def test_frames_that_move_forward(using, data, rows):
    column, bounds = data.draw(columns(rows)), data.draw(forward(rows))
    assert answers(AFFINE, column, bounds, using) == oracle(AFFINE, column, bounds)


@pytest.mark.parametrize(
    ("using", "aggregate"), [("two_stacks", AFFINE), ("two_stacks", LATER), ("two_stacks", PLAIN), ("pba", AFFINE)]
)
def test_windows_that_begin_anew(monkeypatch, using, aggregate):
    monkeypatch.setattr(folding, "STRETCH", 64)
    column = np.random.default_rng(2).integers(-9, 9, 500)
    at = np.arange(500)
    for lo in (np.maximum(at - 5, 0), at // 50 * 50):
        bounds = Bounds(lo, np.minimum(at + 2, 500), 500, "monotonic")
        assert answers(aggregate, column, bounds, using) == oracle(aggregate, column, bounds)


@pytest.mark.parametrize("before", [0, 4, 300])
def test_windows_of_one_size(monkeypatch, before):
    monkeypatch.setattr(folding, "STRETCH", 64)
    column, at = np.random.default_rng(3).integers(-9, 9, 200), np.arange(200)
    bounds = Bounds(np.maximum(at - before, 0), at + 1, 200, "constant", before, 0)
    segments = np.array([0, 200])
    assert answers(AFFINE, column, bounds, "sba", segments) == oracle(AFFINE, column, bounds)
    assert folding.trailing(AFFINE, bounds, segments)


@pytest.mark.parametrize("using", ["sba", "pba", "two_stacks"])
@pytest.mark.parametrize("before", [0, 6, 70, 400])
@pytest.mark.parametrize("threads", ["1", "3"])
def test_windows_begin_anew_in_each_long_partition(monkeypatch, using, before, threads):
    monkeypatch.setattr(folding, "STRETCH", 64)
    monkeypatch.setattr(folding, "LONG", 40)
    monkeypatch.setenv("SASH_THREADS", threads)
    segments, at = np.array([0, 150, 151, 240, 400]), np.arange(400)
    column, begins = np.random.default_rng(5).integers(-9, 9, 400), np.repeat(segments[:-1], np.diff(segments))
    bounds = Bounds(np.maximum(at - before, begins), at + 1, 400, "constant", before, 0)
    assert folding.trailing(AFFINE, bounds, segments)
    assert answers(AFFINE, column, bounds, using, segments) == oracle(AFFINE, column, bounds)


@pytest.mark.parametrize(
    ("aggregate", "before", "edges", "which"),
    [
        (AFFINE, 3, [0, 2 * folding.LONG], True),
        (AFFINE, 3, [0, folding.LONG, 2 * folding.LONG], True),
        (AFFINE, 3, [0, folding.LONG, 2 * folding.LONG - 1], False),  # short on average
        (LATER, 3, [0, folding.LONG, 2 * folding.LONG], False),  # its positions count through all partitions
        (AFFINE, 10**9, [0, *range(10, 60, 10), 20 * folding.LONG], False),  # each would have room for the longest
    ],
)
def test_which_frames_are_windows_of_one_size(aggregate, before, edges, which):
    nothing = np.zeros(0, np.int32)
    assert (
        folding.trailing(aggregate, Bounds(nothing, nothing, edges[-1], "constant", before), np.array(edges)) == which
    )


def test_threads_do_not_change_the_answers(monkeypatch):
    monkeypatch.setattr(folding, "STRETCH", 64)
    column, at = np.random.default_rng(4).normal(size=3000), np.arange(3000)
    bounds = Bounds(np.maximum(at - 7, 0), at + 1, len(at), "monotonic")
    total = sash.Aggregate("total", lift=lambda x: x, combine=lambda a, b: a + b)
    got = []
    for threads in ("1", "2", "3"):
        monkeypatch.setenv("SASH_THREADS", threads)
        got.append(answers(total, column, bounds, "two_stacks"))
    assert got[0] == got[1] == got[2]
    assert np.allclose(got[0][7:], np.convolve(column, np.ones(8), "valid"))


def test_empty_frames_count_no_rows_and_have_no_largest():
    bounds = Bounds(np.array([0, 1], np.int32), np.array([0, 3], np.int32), 3)
    counted = fold(builtin("count"), (), 3, bounds, "prefix")
    assert counted.values.tolist() == [0, 2]
    assert counted.valid.all()
    largest = fold(LATER, (np.array([3, 1, 2]),), 3, bounds, "sparse_table")
    assert largest.valid.tolist() == [False, True]
    assert largest.values[1] == 2


def test_sums_are_finished():
    bounds = Bounds(np.array([1, 0]), np.array([2, 2]), 2)
    column = np.array([2**62, 2**62])
    assert fold(builtin("sum"), (column[:1].repeat(2) // 2,), 2, bounds, "prefix").values.tolist() == [2**61, 2**62]
    with pytest.raises(Overflow):
        fold(builtin("sum"), (column,), 2, bounds, "prefix")


BACK = Bounds(np.array([1, 0]), np.array([2, 2]), 2)
HOLED = Bounds(np.array([0, 0]), np.array([2, 2]), 2, "monotonic", a=np.array([0, 1]), b=np.array([1, 2]))


@pytest.mark.parametrize(
    ("using", "aggregate", "bounds", "why"),
    [
        ("sparse_table", AFFINE, BACK, "sparse_table needs a selective aggregate; affine"),
        ("prefix", AFFINE, BACK, "prefix needs an invertible aggregate; affine"),
        ("prefix", builtin("sum"), BACK, "prefix needs exact partials; those of sum"),
        ("prefix", builtin("sum").of((np.float64,)).but(compiled=False), BACK, "prefix needs exact partials; some of"),
        ("two_stacks", AFFINE, BACK, "two_stacks needs frames that only move forward, without holes; these go back"),
        ("two_stacks", AFFINE, HOLED, "two_stacks needs frames that only move forward, without holes; these have"),
        ("segment_tree", builtin("collect"), HOLED, "collect is answered by rows that follow each other"),
    ],
)
def test_refusals_name_what_is_missing(using, aggregate, bounds, why):
    column = (np.array([1.0, 2.0]),) if aggregate.inputs else ()
    with pytest.raises(Refused, match=why):
        fold(aggregate, column, 2, bounds, using)


def test_algorithms_are_known_by_name():
    with pytest.raises(SashError, match="using must be one of prefix, segment_tree, sparse_table, disjoint_table, "):
        fold(AFFINE, (np.array([1, 2]),), 2, BACK, "magic")
    assert set(FORWARD) <= set(ALGORITHMS)
