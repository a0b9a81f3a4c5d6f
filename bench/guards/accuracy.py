"""What is left of an outlier once it has left the window: rolling means and standard deviations of 100 rows.

To add what enters and subtract what leaves is the fastest way, and what some peers do: a large value takes the digits
of the small ones with it. The error is that of the last window, against NumPy on its rows alone.
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


def run(bench):
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
