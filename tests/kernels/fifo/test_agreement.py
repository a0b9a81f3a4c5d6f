"""Every algorithm gives the oracle's answers, whatever the frames, the batches and the restarts."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sash
from oracle import oracle
from sash.algebra.catalogue import builtin
from sash.kernels.fifo import ALGORITHMS, Sliding
from sash.kernels.fifo.sliding import refusal
from sash.kernels.needs import invertible
from strategies import SIZES, cuts, doubles, integers, monotonic_frames, ranges_at_each_end, usually

AFFINE = sash.Aggregate(  # x -> p·x + q, composed modulo a prime: neither commutative nor selective
    "affine",
    lift=lambda x: (x % 7 + 1, x),
    combine=lambda a, b: ((a[0] * b[0]) % 10007, (a[1] * b[0] + b[1]) % 10007),
)
FLIPS = sash.Aggregate(  # x -> ±x + q, composed, exact although it divides; not commutative
    "flips",
    lift=lambda x: (-1.0 if x % 3 else 1.0, x),
    combine=lambda a, b: (a[0] * b[0], a[1] / b[0] + b[1]),
)
TOTAL = sash.Aggregate(
    "total", lift=lambda x: x, combine=lambda a, b: a + b, inverse=lambda s, old: s - old, commutative=True
)

PAIRS = [
    (name, aggregate)
    for name, algorithm in ALGORITHMS.items()
    for aggregate in (AFFINE, TOTAL, builtin("max"))
    if not refusal(algorithm, aggregate)
]
FIRST = dict(reversed(PAIRS))  # of the aggregates that an algorithm takes, the one that is compiled by default
COMPILED = [
    pytest.param(
        *pair, compiled, marks=pytest.mark.long if compiled and FIRST[pair[0]] is not pair[1] else (),
        id=f"{pair[0]}-{pair[1].name}-{'compiled' if compiled else 'python'}",
    )
    for pair in PAIRS
    for compiled in (True, False)
]  # fmt: skip
RANGED = [name for name, algorithm in ALGORITHMS.items() if algorithm.kernel.ranges]


def stream(window, column, lengths, frames, aggregate, ranged=False, late=0, **making):
    """Push a column in batches, each time into a window restored from the state of the last.

    A frame is asked for once its rows are there, or, where ``late`` says so, some batches after.
    """
    answers, at, asked = [], 0, 0
    for length in [*lengths, *([0] * late)]:
        end = at + length
        if frames is None:
            got = window.push(column[at:end])
        else:
            upto = asked
            ready = end if end == len(column) and at == end else end - late
            while upto < len(frames) and frames[upto][1] <= ready:
                upto += 1
            lo, hi = [f[0] for f in frames[asked:upto]], [f[1] for f in frames[asked:upto]]
            later = [f[0] for f in frames[upto:]] + [end]
            keep = min(later) if ranged else None
            got, asked = window.push(column[at:end], lo=lo, hi=hi, keep=keep), upto
        answers += [value if ok else None for value, ok in zip(got.values.tolist(), got.valid, strict=True)]
        state, at = window.state(), end
        window = Sliding(aggregate, column.dtype, **making)
        window.restore(state)
    return answers


@pytest.mark.parametrize(("name", "aggregate", "compiled"), COMPILED)
@usually(30)
@given(data=st.data(), rows=st.integers(0, 40))
def test_frames_that_move_right(name, aggregate, compiled, data, rows):
    column = data.draw(integers(rows))
    frames, lengths = data.draw(monotonic_frames(rows)), data.draw(cuts(rows))
    aggregate = aggregate.but(compiled=compiled)
    window = Sliding(aggregate, np.int64, using=name)
    late = data.draw(st.integers(0, 3))
    got = stream(window, column, lengths, frames, aggregate, late=late, using=name)
    assert got == (oracle(aggregate, [column.tolist()], frames) if lengths or late else [])


@pytest.mark.parametrize(("name", "aggregate", "compiled"), COMPILED)
@usually(30)
@given(data=st.data(), size=st.sampled_from(SIZES), rows=st.integers(1, 60))
def test_windows_of_one_size(name, aggregate, compiled, data, size, rows):
    column, lengths = data.draw(integers(rows)), data.draw(cuts(rows))
    aggregate = aggregate.but(compiled=compiled)
    window = Sliding(aggregate, np.int64, size=size, using=name)
    got = stream(window, column, lengths, None, aggregate, size=size, using=name)
    frames = [(max(0, end - size), end) for end in range(1, rows + 1)]
    assert got == oracle(aggregate, [column.tolist()], frames)


@pytest.mark.parametrize(("name", "aggregate", "compiled"), COMPILED)
@usually(30)
@given(data=st.data(), size=st.sampled_from(SIZES), slides=st.lists(st.integers(1, 20), min_size=1, max_size=8))
def test_windows_that_slide_by_several_rows(name, aggregate, compiled, data, size, slides):
    """Rows that come between two answers, more than a window of them too; windows grow from 16 rows on."""
    ends = np.cumsum(slides).tolist()
    column, lengths = data.draw(integers(ends[-1])), data.draw(cuts(ends[-1]))
    aggregate = aggregate.but(compiled=compiled)
    frames = [(max(0, end - size), end) for end in ends]
    window = Sliding(aggregate, np.int64, using=name)
    if data.draw(st.booleans()):  # with room for just the window, so that it fills a tree
        window.capacity, window.arrays = size, window._allocate(size)
        if window.driver is not None:
            window.driver.prepare(window.arrays)
    got = stream(window, column, lengths, frames, aggregate, using=name)
    assert got == oracle(aggregate, [column.tolist()], frames)


@pytest.mark.parametrize("compiled", [True, False], ids=["compiled", "python"])
@pytest.mark.parametrize("name", RANGED)
@given(data=st.data(), rows=st.integers(1, 30))
def test_many_ranges_at_once(name, compiled, data, rows):
    column, frames = data.draw(integers(rows)), data.draw(ranges_at_each_end(rows))
    aggregate = AFFINE.but(compiled=compiled)
    window = Sliding(aggregate, np.int64, using=name)
    got = stream(window, column, data.draw(cuts(rows)), frames, aggregate, ranged=True, using=name)
    assert got == oracle(aggregate, [column.tolist()], frames)


@pytest.mark.parametrize("name", RANGED)
@given(data=st.data(), rows=st.integers(1, 30))
def test_many_ranges_in_one_batch_and_nothing_kept(name, data, rows):
    column, frames = data.draw(integers(rows)), data.draw(ranges_at_each_end(rows))
    got = Sliding(AFFINE, np.int64, using=name).push(column, lo=[f[0] for f in frames], hi=[f[1] for f in frames])
    assert got.values.tolist() == oracle(AFFINE, [column.tolist()], frames)


@pytest.mark.parametrize("name", [name for name, a in ALGORITHMS.items() if invertible not in a.needs])
@usually(30)
@given(data=st.data(), size=st.sampled_from(SIZES), rows=st.integers(1, 60))
def test_rows_of_any_double_are_found_again(name, data, size, rows):
    """max_by carries positions: the first of equal values wins, with NaN above all."""
    column, aggregate = data.draw(doubles(rows)), builtin("max_by")
    window = Sliding(aggregate, np.float64, size=size, using=name)
    got = stream(window, column, data.draw(cuts(rows)), None, aggregate, size=size, using=name)
    frames = [(max(0, end - size), end) for end in range(1, rows + 1)]
    assert got == oracle(aggregate, [column.tolist()], frames)


@pytest.mark.parametrize("name", list(ALGORITHMS))
def test_a_window_grows_far_beyond_its_first_capacity(name):
    rows = 5000
    column = np.random.default_rng(1).integers(-9, 9, rows)
    aggregate = next(aggregate for other, aggregate in PAIRS if other == name)
    window, got, frames = Sliding(aggregate, np.int64, using=name), [], []
    for at in range(0, rows, 500):
        asked = [(max(0, at - 2500), at + 250), (max(0, at - 2000), at + 500)]
        answered = window.push(column[at : at + 500], lo=[f[0] for f in asked], hi=[f[1] for f in asked])
        got += answered.values.tolist()
        frames += asked
    assert got == oracle(aggregate, [column.tolist()], frames)


@pytest.mark.parametrize("size", [1, 2, 47, 48, 49, 300])
def test_answers_that_have_a_loop_of_their_own(size):
    rows, random = 1500, np.random.default_rng(size)
    column = random.integers(-9, 9, rows).astype(np.float64)
    for cuts_at in ([], [700, 701], np.sort(random.integers(0, rows, 5))):
        lengths = np.diff([0, *cuts_at, rows])
        got = stream(Sliding(FLIPS, np.float64, size=size), column, lengths, None, FLIPS, size=size)
        assert got == oracle(FLIPS, [column.tolist()], [(max(0, end - size), end) for end in range(1, rows + 1)])


@pytest.mark.parametrize("size", [1, 2, 3, 10, 600])
def test_runs_of_chunks_with_a_nan_here_and_there(size):
    rows, random, largest = 6000, np.random.default_rng(size), builtin("max")
    column = random.normal(size=rows)
    column[random.integers(0, rows, 3)] = np.nan
    for cuts_at in ([], [1001], np.sort(random.integers(0, rows, 5))):
        lengths = np.diff([0, *cuts_at, rows])
        got = stream(Sliding(largest, np.float64, size=size), column, lengths, None, largest, size=size)
        padded = np.concatenate([np.full(size - 1, -np.inf), column])
        np.testing.assert_array_equal(got, np.lib.stride_tricks.sliding_window_view(padded, size).max(axis=1))


def test_what_an_aggregate_promises_is_its_own():
    """A kernel made for one that says commutative=True is not taken for one of the same functions that does not."""
    column, frames = np.arange(10), [(max(0, end - 4), end) for end in range(1, 11)]
    promised, plain = (
        Sliding(aggregate, np.int64, size=4, using="flatfat").push(column).values.tolist()
        for aggregate in (AFFINE.but(commutative=True), AFFINE)
    )
    assert plain == oracle(AFFINE, [column.tolist()], frames) != promised
