"""A year answered from partials that were kept, beside the same from rows: 1,000 events a slice of an hour and key."""

from __future__ import annotations

from functools import partial

import numpy as np
import pyarrow as pa

import sash
from sash import functions as sf

TITLE = "A year from partials"
HOURS = 365 * 24
EACH = 1_000  # events a slice and key
HOUR = 3_600_000_000  # microseconds


def rows(keys, hours, each):
    """So many events of each key in each hour."""
    random = np.random.default_rng(3)
    count = keys * hours * each
    at = (
        np.repeat(np.arange(hours), keys * each) * HOUR
        + np.sort(random.integers(0, HOUR, (hours, keys * each))).ravel()
    )
    return pa.table({
        "ts": pa.array(1_767_225_600_000_000 + at, pa.timestamp("us")),
        "key": np.tile(np.arange(keys), hours * each), "value": random.integers(0, 1_000_000, count),
    })  # fmt: skip


def board(source):
    """Four aggregates over a week, each day, and over a day, each hour."""
    calls = {"n": sf.count(), "total": sf.sum("value"), "mean": sf.avg("value"), "peak": sf.max("value")}
    days = {f"{name}_1d": call for name, call in calls.items()}
    asked = sash.stream(source, time="ts", key="key").query(calls, range="7 days", slide="1 day")
    return asked.query(days, range="1 day", slide="1 hour")


def run(bench):
    for keys in bench.pick((1, 4), (1,)):
        table = rows(keys, bench.pick(HOURS, 24 * 20), EACH)
        whole = board(table)
        kept = whole.partials()
        days = [kept.slice(start, 24 * keys) for start in range(0, kept.num_rows, 24 * keys)]
        if not board(table.schema).answer(days).equals(whole.results()):
            raise AssertionError("partials have other answers than rows")
        task = f"{keys} keys, {table.num_rows:,} events, {kept.num_rows:,} partials"
        bench.duel(task, partial(board(table.schema).answer, days), {"from rows": whole.results})
