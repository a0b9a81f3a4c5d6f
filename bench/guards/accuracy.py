"""What is left of an outlier once it has left the window: rolling means and standard deviations of 100 rows.

To add what enters and subtract what leaves is the fastest way, and what some peers do: a large value takes the digits
of the small ones with it. The error is that of the last window, against NumPy on its rows alone. Harder cases follow:
outliers all along the column, the largest error of any window that holds none; rows that are all equal after others,
whose deviation is 0; and values so small that their mean has few digits.
"""

from __future__ import annotations

import bottleneck
import numbagg
import numpy as np
import pandas as pd
import polars as pl

from sash import functions as sf
from sash.engine import slide

TITLE = "Accuracy after an outlier"
ROWS, SIZE, OUTLIER = 100_000, 100, 1e17
MEANS = {
    "Sash": lambda x: slide(sf.avg("x"), x, size=SIZE).values,
    "Polars": lambda x: pl.Series(x).rolling_mean(SIZE),
    "pandas": lambda x: pd.Series(x).rolling(SIZE).mean(),
    "bottleneck": lambda x: bottleneck.move_mean(x, SIZE),
    "numbagg": lambda x: numbagg.move_mean(x, window=SIZE),
}
DEVIATIONS = {
    "Sash": lambda x: slide(sf.stddev("x"), x, size=SIZE).values,
    "Polars": lambda x: pl.Series(x).rolling_std(SIZE),
    "pandas": lambda x: pd.Series(x).rolling(SIZE).std(),
    "bottleneck": lambda x: bottleneck.move_std(x, SIZE, ddof=1),
    "numbagg": lambda x: numbagg.move_std(x, window=SIZE),
}


def windows(values, without=None):
    """Windows of the column as rows of a matrix, and which of them hold none of some rows."""
    held = np.lib.stride_tricks.sliding_window_view(values, SIZE)
    if without is None:
        return held, np.ones(len(held), bool)
    return held, ~np.lib.stride_tricks.sliding_window_view(without, SIZE).any(axis=1)


def hard():
    """The cases by name: a column, which windows count, and what their mean and deviation are."""
    random = np.random.default_rng(1)
    column = random.normal(1, 1, 20_000)
    outliers = random.random(len(column)) < 1 / (3 * SIZE)
    spiked = np.where(outliers, OUTLIER, column)
    held, sound = windows(spiked, outliers)
    yield "no outlier in the window, one in its chunk", spiked, sound, held.mean(axis=1), held.std(axis=1, ddof=1)
    level = column.copy()
    level[10_000:] = 0.1
    held, _ = windows(level)
    constant = np.arange(len(held)) >= 10_000
    yield "rows that are all equal", level, constant, np.full(len(held), 0.1), np.zeros(len(held))
    tiny = column * 1e-310
    yield "denormals", tiny, np.ones(len(held), bool), windows(column)[0].mean(axis=1) * 1e-310, None


def worst(got, right, counted):
    """The largest relative error of those windows that count; of a truth of 0 the largest error."""
    got, right = np.asarray(got)[SIZE - 1 :][counted], right[counted]
    return float(np.nanmax(np.abs(got - right) / np.where(right == 0, 1, np.abs(right))))


def harder(bench):
    """The hard cases, by Sash and by those that subtract."""
    rows = []
    for case, column, counted, means, deviations in hard():
        for name in MEANS:
            error = worst(MEANS[name](column), means, counted)
            spread = None if deviations is None else worst(DEVIATIONS[name](column), deviations, counted)
            rows.append([case, name, error, spread])
            limit = 1e-6 if case == "denormals" else 1e-9
            if name == "Sash":
                bench.record(f"Sash, {case}", max(error, spread or 0.0, 2.0**-53), "error")
                if max(error, spread or 0.0) > limit:
                    raise AssertionError(f"{case}: an error of {error} and {spread}")
    head = ["", "", "largest error of the mean", "of the standard deviation"]
    bench.table(f"windows of {SIZE} rows, the worst of each case", head, rows)


def run(bench):
    harder(bench)
    values = np.random.default_rng(0).normal(1, 1, ROWS)
    values[0] = OUTLIER
    last = values[-SIZE:]
    true = {"mean": float(last.mean()), "standard deviation": float(last.std(ddof=1))}
    rows = [["the rows alone", *true.values(), None, None]]
    for name in MEANS:
        found = [float(np.asarray(each[name](values))[-1]) for each in (MEANS, DEVIATIONS)]
        errors = [abs(got - right) / right for got, right in zip(found, true.values(), strict=True)]
        rows.append([name, *found, *errors])
    head = ["", *true, "relative error of the mean", "of the standard deviation"]
    bench.table(f"the last window of {SIZE} rows, {ROWS:,} rows after {OUTLIER:g}", head, rows)
    mine = rows[1]
    for what, error in zip(true, mine[3:], strict=True):
        bench.record(f"Sash, error of the {what}", max(error, 2.0**-53), "error")
    if max(mine[3:]) > 1e-9:
        raise AssertionError(f"an outlier that has left must leave no trace, got {mine}")
