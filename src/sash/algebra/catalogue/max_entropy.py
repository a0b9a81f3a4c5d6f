"""Quantiles of many moment sketches at once, by maximum entropy.

Of all densities between the smallest and the largest value that have the known Chebyshev moments, the
one of maximum entropy is taken: the exponential of a polynomial, whose coefficients Newton's method
finds, for all sketches together (Gan et al., Moment-Based Quantile Sketches, 2018, section 4).

Where all values are positive and far apart, the density of their logarithms is found too, and the one
under which the values are likelier is kept. Powers of values that are far from 0 and close together
cancel, and the moments this makes useless are left out, down to none: then the density is uniform.
"""

from __future__ import annotations

from math import comb
from typing import Any

import numpy as np

ORDERS = 10
CHUNK = 4096  # sketches at once, of about 10 kB each
CELLS = 128
FAR = 4.0  # the ratio of the largest and the smallest value from which logarithms are tried
NOISE = 1e-4  # the error up to which a moment is of use
RIDGE = 1e-7  # the price of a square coefficient: keeps them finite where all the mass sits at a few points
ITERATIONS = 100
CLOSE = 1e-5  # the distance from the optimum, in nats, at which Newton's method stops
SMALLEST_STEP = 1e-6
FIRST_RIDGE=1e-2
DECAY=0.1
UNDERFLOW=1e-280

Floats = np.ndarray[Any, np.dtype[np.float64]]

_ORDER = np.arange(1, ORDERS + 1)
_ANGLES = np.pi * np.arange(CELLS) / (CELLS-1)
_EDGES = np.concatenate([[-1.0], -np.cos((_ANGLES[1:]+_ANGLES[:-1])/2), [1.0]])  # as dense near the ends as polynomials are steep there
_WIDTHS = np.diff(_EDGES)
_FEATURES = np.cos(_ORDER[:, None] * (np.pi-_ANGLES))
_PAIRS = (_FEATURES[:, None] * _FEATURES[None]).reshape(ORDERS * ORDERS, CELLS).T.copy()
_BINOMIALS = np.array([[comb(k, j) for j in range(ORDERS + 1)] for k in range(ORDERS + 1)], np.float64)
_CHEBYSHEV = np.zeros((ORDERS + 1, ORDERS + 1))  # the coefficients of powers in each polynomial
_CHEBYSHEV[0, 0] = _CHEBYSHEV[1, 1] = 1.0
for _k in range(2, ORDERS + 1):
    _CHEBYSHEV[_k, 1:] = 2.0 * _CHEBYSHEV[_k - 1, :-1]
    _CHEBYSHEV[_k] -= _CHEBYSHEV[_k - 2]


def quantiles(sketches: Floats, p: float) -> Floats:
    """The p-quantile of each sketch: a row of min, max, count, power sums, positive count, log sums.

    NaN where a sketch is empty or has values that are not finite; never outside the smallest and largest.
    """
    low, high = sketches[:, 0], sketches[:, 1]
    if p in (0.0, 1.0):
        return (high if p else low).copy()
    answers = np.where(low == high, low, np.nan)
    open_rows = np.flatnonzero((sketches[:, 2] > 0) & np.isfinite(low) & np.isfinite(high) & (low < high))
    with np.errstate(all="ignore"):  # what overflows is left out
        for start in range(0, len(open_rows), CHUNK):
            rows = open_rows[start : start + CHUNK]
            answers[rows] = _quantiles(sketches[rows], p)
    return answers


def _quantiles(sketches: Floats, p: float) -> Floats:
    low, high, count, positive = sketches[:, 0], sketches[:, 1], sketches[:, 2], sketches[:, 3 + ORDERS]
    centre, half = low / 2 + high / 2, high / 2 - low / 2
    moments, kept = _moments(centre, half, count, sketches[:, 3 : 3 + ORDERS])
    mass, surprise = _fit(moments, kept)
    answers = centre + half * _where(mass, p)
    surprise += np.log(half)

    far = np.flatnonzero((positive == count) & (low > 0) & (high > FAR * low))
    log_low, log_high = np.log(low[far]), np.log(high[far])
    centre, half = (log_low + log_high) / 2, (log_high - log_low) / 2
    sums = sketches[far, 4 + ORDERS :]
    moments, kept = _moments(centre, half, count[far], sums)
    mass, of_logs = _fit(moments, kept)
    of_logs += np.log(half) + sums[:, 0] / count[far]
    likelier = of_logs < surprise[far]
    answers[far[likelier]] = np.exp(centre + half * _where(mass, p))[likelier]
    return np.clip(answers, low, high)


def _moments(centre: Floats, half: Floats, count: Floats, sums: Floats) -> tuple[Floats, Floats]:
    """Chebyshev moments of values brought to [-1, 1], and how many of them are of use."""
    largest = np.abs(centre) + half
    scale = largest[:, None] ** _ORDER
    shift, stretch = centre / half, largest / half
    # A sum is rounded, then multiplied by what the polynomial is at most where all its terms add up.
    reach = 2 * np.abs(shift) + 1
    noise = np.finfo(np.float64).eps * (reach + np.sqrt(reach**2 + 1))[:, None] ** _ORDER
    kept = np.logical_and.accumulate((noise < NOISE) & np.isfinite(sums) & (scale > UNDERFLOW), axis=1)
    powers = np.ones((len(sums), ORDERS + 1))
    powers[:, 1:] = np.where(kept, sums / count[:, None] / scale, 0.0)
    shifted = np.empty_like(powers)
    for k in range(ORDERS + 1):
        terms = [_BINOMIALS[k, j] * stretch**j * powers[:, j] * (-shift) ** (k - j) for j in range(k + 1)]
        shifted[:, k] = np.sum(terms, axis=0)
    moments = (shifted @ _CHEBYSHEV.T)[:, 1:]
    kept &= np.logical_and.accumulate(np.abs(moments) <= 1 + NOISE, axis=1)
    return np.where(kept, np.clip(moments, -1, 1), 0.0), kept


def _fit(moments: Floats, kept: Floats) -> tuple[Floats, Floats]:
    """The mass in each cell, and the mean surprise at a value, in nats: -log of the density."""
    rows = len(moments)
    found, move = np.zeros((rows, ORDERS)), np.zeros((rows, ORDERS))
    step, goal, ridge = np.ones(rows), np.full(rows, np.inf), np.full(rows, FIRST_RIDGE)
    slope = np.zeros(rows)
    active = np.arange(rows)
    its = 0; work=0
    for _ in range(ITERATIONS):
        if not len(active):
            break
        its += 1; work += len(active)
        trial = found[active] + step[active, None] * move[active]
        mass, potential = _density(trial, moments[active])
        potential += ridge[active] / 2 * np.einsum("ij,ij->i", trial, trial)
        better = potential <= goal[active] + 1e-3 * step[active] * slope[active]
        step[active[~better]] /= 4
        on = active[better]
        found[on] = trial[better]
        gradient, hessian = _derivatives(mass[better], moments[on], kept[on])
        def newton(sel):
            g = gradient[sel] + ridge[on[sel], None]*found[on[sel]]
            h = hessian[sel].copy()
            h[:, _ORDER - 1, _ORDER - 1] += np.where(kept[on[sel]], ridge[on[sel],None], 1.0)
            m = -np.linalg.solve(h, g[:, :, None])[:, :, 0]
            return m, np.einsum("ij,ij->i", g, m)
        al = np.arange(len(on))
        move[on], slope[on] = newton(al)
        near = np.flatnonzero(slope[on] > -CLOSE)
        end = near[ridge[on[near]] <= RIDGE]
        near = near[ridge[on[near]] > RIDGE]
        ridge[on[near]] *= DECAY
        move[on[near]], slope[on[near]] = newton(near)
        step[on] = 1.0
        goal[on] = potential[better]
        goal[on[near]] += (DECAY-1)/DECAY*ridge[on[near]]/2*np.einsum("ij,ij->i",found[on[near]],found[on[near]])
        done = np.zeros(rows, bool)
        done[on[end]] = True
        done[active[step[active] < SMALLEST_STEP]] = True
        active = active[~done[active]]
    global STATS
    STATS = (its, work, len(active), rows, np.abs(found).max(initial=0).round(1), ridge.max(initial=0), (ridge>1.01*RIDGE).sum())
    return _density(found, moments)

STATS=None

def _density(coefficients: Floats, moments: Floats) -> tuple[Floats, Floats]:
    """The mass in each cell, and the mean surprise at a value."""
    exponent = coefficients @ _FEATURES
    peak = exponent.max(axis=1)
    mass = np.exp(exponent - peak[:, None]) * _WIDTHS
    total = mass.sum(axis=1)
    mass /= total[:, None]
    return mass, np.log(total) + peak - np.einsum("ij,ij->i", coefficients, moments)


def _derivatives(mass: Floats, moments: Floats, kept: Floats) -> tuple[Floats, Floats]:
    """The gradient and Hessian of the mean surprise and the ridge; orders that are left out stand still."""
    mean = mass @ _FEATURES.T
    gradient = np.where(kept, mean - moments, 0.0)
    hessian = (mass @ _PAIRS).reshape(-1, ORDERS, ORDERS) - mean[:, :, None] * mean[:, None]
    hessian *= kept[:, :, None] & kept[:, None]
    return gradient, hessian


def _where(mass: Floats, p: float) -> Floats:
    """Where in [-1, 1] a mass of p lies to the left, each cell being uniform."""
    below = np.cumsum(mass, axis=1)
    cell = np.minimum((below < p).sum(axis=1), CELLS - 1)
    rows = np.arange(len(mass))
    inside = (p - below[rows, cell]) / mass[rows, cell] + 1.0
    return _EDGES[cell] + _WIDTHS[cell] * np.clip(np.nan_to_num(inside), 0.0, 1.0)
