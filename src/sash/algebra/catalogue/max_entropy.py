"""Quantiles of many moment sketches at once, by maximum entropy.

Of all densities between the smallest and the largest value that have the known Chebyshev moments, the
one of maximum entropy is taken: the exponential of a polynomial, whose coefficients Newton's method
finds for all sketches together (Gan et al., Moment-Based Quantile Sketches, 2018).

Where all values are positive and some are far apart, the density of their logarithms is found too, and
the one under which the values are likelier is kept. Power sums of values that are far from 0 and close
together cancel; the moments this makes useless are left out, and without any the density is uniform.
"""

from __future__ import annotations

from math import comb

import numpy as np

ORDERS = 10
CHUNK = 4096  # sketches at once, of about 8 kB each
CELLS = 128
FAR = 4.0  # the ratio of the largest and the smallest value from which logarithms are tried
NOISE = 1e-3  # the largest error of a moment that is used
UNDERFLOW = 1e-280  # below it, powers of smaller values have lost digits
AT_ENDS = 1e-6  # the mean distance from the ends, between 0 and 2, up to which all values count as there

# The price of a square coefficient keeps them finite where all the mass sits at a few points. Lowered by
# steps, it leads there along densities of which each is close to the one before.
DEAREST, CHEAPER, CHEAPEST = 0.1, 0.03, 1e-7
NEAR = 0.1  # nats a step may promise to save at most, for the price to be lowered after it
CLOSE = 1e-6  # nats from the optimum at which Newton's method stops
SHORTEST = 1e-6
ITERATIONS = 60

Floats = np.ndarray
Flags = np.ndarray

_ORDER = np.arange(1, ORDERS + 1)
_SUMS, _DIFFERENCES = _ORDER[:, None] + _ORDER, abs(_ORDER[:, None] - _ORDER)
_ANGLES = np.linspace(np.pi, 0.0, CELLS)  # cells are as dense near the ends as polynomials are steep there
_EDGES = np.concatenate([[-1.0], np.cos((_ANGLES[1:] + _ANGLES[:-1]) / 2), [1.0]])
_WIDTHS = np.diff(_EDGES)
_POLYNOMIALS = np.cos(np.arange(2 * ORDERS + 1)[:, None] * _ANGLES)  # in each cell, T_k(cos a) = cos(k a)
_FEATURES = _POLYNOMIALS[1 : ORDERS + 1]
_COEFFICIENTS = np.eye(ORDERS + 1)  # of each power in each polynomial
for _k in range(2, ORDERS + 1):
    _COEFFICIENTS[_k] = 2 * np.roll(_COEFFICIENTS[_k - 1], 1) - _COEFFICIENTS[_k - 2]


def quantiles(sketches: Floats, p: float) -> Floats:
    """The p-quantile of each sketch: a row of min, max, count, power sums, positive count, log sums.

    NaN where there are no values or one is not finite. Otherwise between the smallest and the largest.
    """
    low, high, count = sketches[:, 0], sketches[:, 1], sketches[:, 2]
    if p in (0.0, 1.0):
        return np.where(count > 0, high if p else low, np.nan)
    answers = np.where((low == high) & (count > 0), low, np.nan)
    unsolved = np.flatnonzero((count > 0) & np.isfinite(low) & np.isfinite(high) & (low < high))
    with np.errstate(all="ignore"):  # what overflows is left out
        for start in range(0, len(unsolved), CHUNK):
            rows = unsolved[start : start + CHUNK]
            answers[rows] = _quantiles(sketches[rows], p)
    return answers


def _quantiles(sketches: Floats, p: float) -> Floats:
    """The p-quantile of sketches with at least two distinct values, all finite."""
    low, high, count, positive = sketches[:, 0], sketches[:, 1], sketches[:, 2], sketches[:, 3 + ORDERS]
    centre, half = low / 2 + high / 2, high / 2 - low / 2
    moments, used = _moments(centre, half, count, sketches[:, 3 : 3 + ORDERS])
    mass, surprise = _fit(moments, used)
    answers = centre + half * _place(mass, p)

    far = np.flatnonzero((low > 0) & (positive == count) & (high / low > FAR))
    logs = _logs(sketches[far], p)
    likelier = logs[1] < surprise[far] + np.log(half[far])
    answers[far[likelier]] = logs[0][likelier]

    at_ends = (count == 2) | (used[:, 1] & (moments[:, 1] > 1 - AT_ENDS))
    at_low = np.where(count == 2, 0.5, (1 - moments[:, 0]) / 2)
    answers[at_ends] = np.where(p <= at_low + AT_ENDS, low, high)[at_ends]
    return np.clip(answers, low, high)


def _logs(sketches: Floats, p: float) -> tuple[Floats, Floats]:
    """The p-quantile by the density of logarithms, and the mean surprise at a value, not its logarithm."""
    low, high, count, sums = np.log(sketches[:, 0]), np.log(sketches[:, 1]), sketches[:, 2], sketches[:, 4 + ORDERS :]
    centre, half = (low + high) / 2, (high - low) / 2
    mass, surprise = _fit(*_moments(centre, half, count, sums))
    return np.exp(centre + half * _place(mass, p)), surprise + np.log(half) + sums[:, 0] / count


def _moments(centre: Floats, half: Floats, count: Floats, sums: Floats) -> tuple[Floats, Flags]:
    """The Chebyshev moments of values brought to [-1, 1], and which of them are of use."""
    largest = np.abs(centre) + half
    scale = largest[:, None] ** _ORDER
    shift, stretch = centre / half, largest / half
    # A sum is rounded, then multiplied by what the polynomial is at most where all its terms add up.
    reach = 2 * np.abs(shift) + 1
    noise = np.finfo(np.float64).eps * (reach + np.sqrt(reach**2 + 1))[:, None] ** _ORDER
    used = np.logical_and.accumulate((noise < NOISE) & np.isfinite(sums) & (scale > UNDERFLOW), axis=1)
    powers = np.ones((len(sums), ORDERS + 1))
    powers[:, 1:] = np.where(used, sums / count[:, None] / scale, 0.0)
    shifted = np.empty_like(powers)
    for k in range(ORDERS + 1):
        terms = [comb(k, j) * stretch**j * powers[:, j] * (-shift) ** (k - j) for j in range(k + 1)]
        shifted[:, k] = np.sum(terms, axis=0)
    moments = (np.nan_to_num(shifted) @ _COEFFICIENTS.T)[:, 1:]
    used &= np.logical_and.accumulate(np.abs(moments) <= 1 + NOISE, axis=1)
    return np.where(used, np.clip(moments, -1.0, 1.0), 0.0), used


def _fit(moments: Floats, used: Flags) -> tuple[Floats, Floats]:
    """The mass in each cell, and the mean surprise at a value: minus the logarithm of its density.

    The mean surprise is a convex function of the coefficients, and least where the moments are met.
    """
    multipliers, move, settled = (np.zeros_like(moments) for _ in range(3))
    step, price = np.ones(len(moments)), np.full(len(moments), DEAREST)
    cost, promise = np.full(len(moments), np.inf), np.zeros(len(moments))
    moving = np.arange(len(moments))
    for _ in range(ITERATIONS):
        trial = multipliers[moving] + step[moving, None] * move[moving]
        mass, surprise = _density(trial, moments[moving])
        square = np.sum(trial**2, axis=1) / 2
        better = surprise + price[moving] * square <= cost[moving] - 1e-3 * step[moving] * promise[moving]
        step[moving[~better]] /= 4

        taken, final = moving[better], price[moving[better]] == CHEAPEST
        multipliers[taken] = trial[better]
        near = taken[(step[taken] == 1) & (promise[taken] < NEAR)]
        settled[near] = multipliers[near]  # the answer, should a lower price lead astray
        price[near] = np.maximum(price[near] * CHEAPER, CHEAPEST)
        cost[taken] = surprise[better] + price[taken] * square[better]
        move[taken], promise[taken] = _newton(
            multipliers[taken], price[taken], mass[better], moments[taken], used[taken]
        )
        step[taken] = 1.0

        there = final & (promise[taken] <= CLOSE)
        settled[taken[there]] = multipliers[taken[there]]
        going = step[moving] >= SHORTEST
        going[better] = ~there
        moving = moving[going]
        if not len(moving):
            break
    return _density(settled, moments)


def _density(coefficients: Floats, moments: Floats) -> tuple[Floats, Floats]:
    """The mass in each cell, and the mean surprise at a value that has these moments."""
    exponent = coefficients @ _FEATURES
    peak = exponent.max(axis=1)
    mass = np.exp(exponent - peak[:, None]) * _WIDTHS
    total = mass.sum(axis=1)
    mass /= total[:, None]
    return mass, np.log(total) + peak - np.sum(coefficients * moments, axis=1)


def _newton(multipliers: Floats, price: Floats, mass: Floats, moments: Floats, used: Flags) -> tuple[Floats, Floats]:
    """Newton's step, and what it promises to take off the cost; orders that are not used stand still."""
    means = mass @ _POLYNOMIALS.T
    first = means[:, 1 : ORDERS + 1]
    gradient = np.where(used, first - moments + price[:, None] * multipliers, 0.0)
    hessian = (means[:, _SUMS] + means[:, _DIFFERENCES]) / 2 - first[:, :, None] * first[:, None]
    hessian *= used[:, :, None] & used[:, None]
    hessian[:, _ORDER - 1, _ORDER - 1] += np.where(used, price[:, None], 1.0)
    move = -np.linalg.solve(hessian, gradient[:, :, None])[:, :, 0]
    return move, -np.sum(gradient * move, axis=1)


def _place(mass: Floats, p: float) -> Floats:
    """Where in [-1, 1] a mass of p lies to the left, each cell being uniform."""
    below = np.cumsum(mass, axis=1)
    rows, cell = np.arange(len(mass)), np.minimum((below < p).sum(axis=1), CELLS - 1)
    inside = 1.0 - (below[rows, cell] - p) / mass[rows, cell]
    return _EDGES[cell] + _WIDTHS[cell] * np.clip(np.nan_to_num(inside), 0.0, 1.0)
