"""The merge sort tree gives the same answers for every fanout, sampling and cut of its merges."""

from functools import reduce
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sash
from sash.errors import Refused
from sash.kernels.structures import merge_sort_tree
from sash.kernels.structures.merge_sort_annotated import fold_annotated
from sash.kernels.structures.merge_sort_tree import MergeSortTree, count_previous
from sash.windows.bounds import Bounds

SHAPES = pytest.mark.parametrize(("fanout", "sampling"), [(2, 1), (3, 5), (4, 64), (16, 4), (32, 32)])

PRODUCT = sash.Aggregate(  # how many values, and their product modulo a prime
    "product", lift=lambda x: (1, x % 97 + 1), combine=lambda a, b: (a[0] + b[0], a[1] * b[1] % 10007), commutative=True
)


@st.composite
def columns(draw, most=200):
    """A column of few or many values, and ranges of its rows."""
    rows, values = draw(st.integers(0, most)), draw(st.integers(1, most))
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    lo, hi = np.sort(random.integers(0, rows + 1, (2, 30)), axis=0).astype(np.int32)
    return random.integers(0, values, rows).astype(np.int32), lo, hi


def in_three(rows, least=0):
    edges = [rows * part // 3 for part in range(4)]
    return list(pairwise(edges))


@SHAPES
@given(columns())
def test_ranges_of_repeating_values_are_counted(fanout, sampling, column):
    values, lo, hi = column
    tree = MergeSortTree(values, fanout, sampling)
    threshold = (lo + hi) % (values.max(initial=0) + 2)
    counted = tree.count(lo, hi, threshold)
    assert counted.tolist() == [(values[a:b] < t).sum() for a, b, t in zip(lo, hi, threshold, strict=True)]


@SHAPES
@given(columns())
def test_the_kth_of_a_permutation_is_found(fanout, sampling, column):
    values, lo, hi = column
    order = np.argsort(values, kind="stable").astype(np.int32)
    rank = np.argsort(order).astype(np.int32)
    k = (hi - lo) // 3
    first, second = MergeSortTree(order, fanout, sampling).select(Bounds(lo, hi, len(values)), k, True, rank)
    expected = [[*np.sort(rank[a:b]), -1, -1][i:] for a, b, i in zip(lo, hi, k, strict=True)]
    assert [first.tolist(), second.tolist()] == [[ranks[0] for ranks in expected], [ranks[1] for ranks in expected]]


@pytest.mark.long
@given(columns())
def test_positions_may_take_64_bits(column):
    values, lo, hi = (array.astype(np.int64) for array in column)
    order = np.argsort(values, kind="stable")
    rank = np.argsort(order)
    middle = (lo + hi) // 2
    own = np.where(middle < hi, middle, -1)  # all but the row after the middle, then that row again
    bounds = Bounds(lo, hi, len(values), a=middle, b=np.minimum(middle + 1, hi), own=own)
    tree = MergeSortTree(order)
    first, nothing = tree.select(bounds, np.zeros_like(lo), False, rank)
    assert (first.dtype, len(nothing)) == (np.int64, 0)
    assert first.tolist() == [min(rank[a:b], default=-1) for a, b in zip(lo, hi, strict=True)]
    below = MergeSortTree(rank).count_below(bounds, middle)
    assert below.tolist() == [(rank[a:b] < t).sum() for a, b, t in zip(lo, hi, middle, strict=True)]


def previous_of(values):
    """Where each row's value was last, or -1."""
    last: dict[int, int] = {}
    return np.array([(last.get(v, -1), last.update({v: i}))[0] for i, v in enumerate(values.tolist())], np.int32)


@given(columns())
def test_values_are_counted_where_they_first_occur(column):
    values, lo, hi = column
    counted = count_previous(previous_of(values), Bounds(lo, hi, len(values)))
    assert counted.tolist() == [len(set(values[a:b].tolist())) for a, b in zip(lo, hi, strict=True)]


@pytest.mark.parametrize("aggregate", [PRODUCT, PRODUCT.but(compiled=False)], ids=["compiled", "plain"])
@given(columns(most=80), st.sampled_from([(2, 1), (3, 4), (8, 8)]))
def test_any_commutative_aggregate_of_distinct_values(aggregate, column, shape):
    values, lo, hi = column
    got = fold_annotated(aggregate, (values,), previous_of(values), Bounds(lo, hi, len(values)), *shape)
    distinct = [sorted(set(values[a:b].tolist())) for a, b in zip(lo, hi, strict=True)]
    expected = [reduce(PRODUCT.combine, map(PRODUCT.lift, some)) if some else None for some in distinct]
    assert [tuple(one) if ok else None for one, ok in zip(got.values.tolist(), got.valid, strict=True)] == expected


def test_distinct_is_refused_where_order_or_a_hole_matters():
    values, previous, edge = np.arange(3), np.full(3, -1, np.int32), np.array([1], np.int32)
    with pytest.raises(Refused, match="commutative"):
        fold_annotated(PRODUCT.but(commutative=False), (values,), previous, Bounds(edge - 1, edge, 3))
    with pytest.raises(Refused, match="holes"):
        fold_annotated(PRODUCT, (values,), previous, Bounds(edge - 1, edge + 1, 3, a=edge, b=edge, own=edge - 2))


@SHAPES
@given(column=columns())
def test_a_merge_cut_anywhere_gives_the_same_tree(fanout, sampling, column):
    values = column[0]
    whole = MergeSortTree(values, fanout, sampling)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(merge_sort_tree, "shares", in_three)
        cut = MergeSortTree(values, fanout, sampling)
    assert np.array_equal(cut.levels, whole.levels)
    assert np.array_equal(written(cut), written(whole))
    assert np.array_equal(whole.levels[len(whole.levels) - len(values) :], np.sort(values))


def written(tree):
    """The pointers before each sampled row; what lies beyond the last run was never written."""
    rows, kept = len(tree.values), []
    for level in range(2, len(tree.runs)):
        length = int(tree.runs[level])
        samples = length // tree.sampling + 1
        for run in range(-(-rows // length)):
            count = min(length, rows - run * length) // tree.sampling + 1
            start = int(tree.starts[level]) + run * samples * tree.fanout
            kept.append(tree.pointers[start : start + count * tree.fanout])
    return np.concatenate(kept) if kept else np.empty(0)
