"""Rolling means and deviations by sums of chunks: as exact as the rows of each window allow, and no trace of others."""

import math
from fractions import Fraction

import numpy as np
import pytest

import sash
from sash.algebra.catalogue import builtin
from sash.kernels.fifo import Sliding, slide

ROWS = 3000
SIZES = [16, 17, 100, 128, 300, 999]


def truth(name, rows):
    """The answer of some rows, in exact arithmetic but for the last steps."""
    exact = [Fraction(x) for x in rows]
    mean = sum(exact) / len(exact)
    if name == "avg":
        return float(mean)
    if name.endswith("samp") and len(exact) == 1:
        return None
    spread = sum((x - mean) ** 2 for x in exact) / (len(exact) - name.endswith("samp"))
    return float(spread) if name.startswith("var") else math.sqrt(spread)


def answers(name, column, size, lengths=None, **making):
    """Answers as Python values, in batches of these lengths."""
    window = Sliding(builtin(name), np.float64, size=size, **making)
    found, end = [], 0
    for length in lengths or [len(column)]:
        got = window.push(column[end : end + length])
        found += [x if ok else None for x, ok in zip(got.values.tolist(), got.valid, strict=True)]
        end += length
    return found


def checked(name, column, size, got, tolerance, scale=None):
    """Every seventh answer, and all around boundaries of chunks, against the truth."""
    some = {*range(0, len(column), 7), *(k for c in range(0, len(column), size) for k in range(c - 2, c + 3))}
    for k in sorted(some & set(range(len(column)))):
        rows = column[max(k - size + 1, 0) : k + 1].tolist()
        right = truth(name, rows)
        assert (got[k] is None) == (right is None)
        if right is not None:
            most = max(map(abs, rows)) if scale == "largest" else abs(right)
            assert abs(got[k] - right) <= tolerance * most, (k, got[k], right)


@pytest.mark.parametrize("name", ["avg", "var_pop", "var_samp", "stddev_pop", "stddev_samp"])
@pytest.mark.parametrize("size", SIZES[:4])
def test_windows_hold_what_their_rows_say(name, size):
    random = np.random.default_rng(size)
    for column in (random.normal(1, 1, ROWS), np.cumsum(random.normal(size=ROWS)), random.normal(1e6, 1, ROWS)):
        lengths = [size // 2, 1, 1000, ROWS - 1001 - size // 2]
        got = answers(name, column, size)
        checked(name, column, size, got, 1e-8 if name != "avg" else 1e-13, "largest" if name == "avg" else None)
        again = answers(name, column, size, lengths)
        checked(name, column, size, again, 1e-8 if name != "avg" else 1e-13, "largest" if name == "avg" else None)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("at", [0, 1234, 1500, 2000])
def test_an_outlier_leaves_no_trace_once_it_is_out(size, at):
    """1e17 in the chunk of a window, but not in the window."""
    column = np.random.default_rng(1).normal(1, 1, ROWS)
    column[at] = 1e17
    means, deviations = answers("avg", column, size), answers("stddev", column, size)
    for k in {*range(0, ROWS, 11), at - 1, at, at + size - 1, at + size, at + size + 1} & set(range(1, ROWS)):
        rows = column[max(k - size + 1, 0) : k + 1].tolist()
        assert means[k] == pytest.approx(truth("avg", rows), rel=1e-11, abs=1e-11)
        assert deviations[k] == pytest.approx(truth("stddev_samp", rows), rel=1e-9)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("value", [0.1, -3.0, 1e15 + 0.5, 5e-324, 1e300])
def test_rows_that_are_all_equal_do_not_vary(size, value):
    column = np.full(ROWS, value)
    column[: ROWS // 3] = 0.25
    full = ROWS // 3 + size - 1
    for name in ("var_pop", "stddev"):
        assert set(answers(name, column, size)[full:]) == {0.0}
    checked("avg", column, size, answers("avg", column, size), 1e-13)


@pytest.mark.parametrize("size", [16, 100])
def test_denormals_and_values_whose_squares_overflow(size):
    random = np.random.default_rng(2)
    column = random.normal(size=ROWS) * 1e-310
    checked("avg", column, size, answers("avg", column, size), 1e-13, "largest")
    column = random.normal(size=ROWS)
    column[1500:1520] *= 1e150  # whose squares, summed, do not overflow
    checked("stddev_samp", column, size, answers("stddev", column, size), 1e-9)
    column[1500] = 1e160
    got = answers("stddev", column, size)
    assert all(map(math.isinf, got[1500 : 1500 + size]))
    checked("stddev_samp", column[1501:], size, answers("stddev", column[1501:], size), 1e-9)
    assert got[1501 + size :] == pytest.approx(answers("stddev", column[1501:], size)[size:], rel=1e-9)


@pytest.mark.parametrize("size", [16, 100, 300])
@pytest.mark.parametrize("odd", [math.nan, math.inf, -math.inf])
def test_nan_and_infinity_stay_in_their_windows(size, odd):
    column = np.random.default_rng(3).normal(size=ROWS)
    for at in (0, 1500, 1501, 2000 // size * size):
        spoilt = column.copy()
        spoilt[at] = odd
        for name in ("avg", "stddev"):
            clean, got = (np.array(answers(name, each, size), float) for each in (column, spoilt))
            inside = np.zeros(ROWS, bool)
            inside[at : at + size] = True
            inside[0] |= name == "stddev"
            np.testing.assert_allclose(got[~inside], clean[~inside], rtol=1e-9, atol=1e-12)
            expected = odd if name == "avg" else math.nan
            np.testing.assert_array_equal(got[at + 1 : at + size], expected)


def test_a_state_goes_on_after_sums():
    column = np.random.default_rng(4).normal(size=ROWS)
    first, second = (Sliding(builtin("stddev"), np.float64, size=100) for _ in range(2))
    got = first.push(column[:1777]).values.tolist()
    second.restore(first.state())
    got += second.push(column[1777:]).values.tolist()
    checked("stddev_samp", column[1:], 100, answers("stddev", column[1:], 100), 1e-9)
    np.testing.assert_allclose(got[1:], answers("stddev", column, 100)[1:], rtol=1e-9)


def test_an_own_aggregate_may_say_that_a_moment_answers_it():
    root_mean = sash.Aggregate(
        "root_mean", lift=lambda x: (x, 1), combine=lambda a, b: (a[0] + b[0], a[1] + b[1]),
        lower=lambda s: math.sqrt(s[0] / s[1]), cast="float64", moment=(1, lambda n, total: math.sqrt(total / n)),
    )  # fmt: skip
    column = np.random.default_rng(5).random(ROWS)
    plain = slide(root_mean.but(moment=None), column, size=100).values
    np.testing.assert_allclose(slide(root_mean, column, size=100).values, plain, rtol=1e-13)
    assert -1.0 in slide(root_mean.but(moment=(1, lambda n, total: -1.0)), column, size=100).values  # it is taken
    doubled = root_mean.but(lower=lambda s: 2 * s[0] / s[1])  # of which the moment says nothing any more
    np.testing.assert_allclose(slide(doubled, column, size=100).values, 2 * plain**2, rtol=1e-13)


@pytest.mark.parametrize("moment", [3, (3, lambda n, x: x), (1, lambda n: n), (1, "mean")])
def test_a_moment_that_says_nothing_is_refused(moment):
    with pytest.raises(sash.SashError, match="moment must"):
        builtin("avg").but(moment=moment)
