import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from coded_frames import coded, rows_of
from sash.kernels.operations.mad import mad


def middle(values):
    values = np.sort(values)  # NaN last
    lower, upper = values[(len(values) - 1) // 2], values[len(values) // 2]
    return lower if lower == upper else 0.5 * lower + 0.5 * upper


def deviation(values):
    with np.errstate(invalid="ignore", over="ignore"):
        return middle(np.abs(values - middle(values))) if len(values) else 0.0


SOME = (0.0, 1.0, 1.5, 2.0, -3.0, 1e9, -1e9)
EXTREMES = (np.inf, -np.inf, np.nan, 1e308, -1e308)


@given(coded(), st.sampled_from((SOME, SOME + EXTREMES, EXTREMES)), st.integers(0, 2**32))
def test_mad_is_the_median_distance_from_the_median(given, kinds, seed):
    values = np.random.default_rng(seed).choice(np.array(kinds), len(given.codes))
    order = np.argsort(values, kind="stable")
    rank = np.argsort(order)
    frames = list(rows_of(given.bounds))
    ranks = [np.sort(rank[rows]) for rows in frames]

    def select(places):
        return np.array([r[k] if k >= 0 else -1 for r, k in zip(ranks, places, strict=True)], np.int32)

    found = mad(values[order], given.bounds.sizes(), select)
    np.testing.assert_array_equal(found, [deviation(values[rows]) for rows in frames])
