"""Columns beside the rows of a stream, a micro-batch in steady state: beside a board, and beside a list for each key.

Each row has the count, sum and mean of its key's last hour and last day. A board answers the same each minute. People
write ``applyInPandasWithState`` with a list of rows for each key, as here. The durations are those that Spark says,
the median of the batches after the first third.
"""

from __future__ import annotations

from collections.abc import Iterator
from statistics import median

import numpy as np
import pandas as pd

import sash
from bench.peers.spark_steady import durations, streamed
from sash import Window
from sash import functions as sf

TITLE = "Columns beside the rows of a stream"
QUICK = False
BACK = {"1h": 3600, "24h": 24 * 3600}  # seconds
CALLS = {"n": sf.count(), "total": sf.sum("value"), "mean": sf.avg("value")}
OUT = "ts timestamp, key bigint, value double, " + ", ".join(
    f"n_{name} bigint, total_{name} double, mean_{name} double" for name in BACK
)


def by_sash(frame):
    columns = {}
    for name, seconds in BACK.items():
        over = Window.partitionBy("key").orderBy("ts").rangeBetween(f"-{seconds} seconds", 0)
        columns |= {f"{what}_{name}": call.over(over) for what, call in CALLS.items()}
    return sash.withColumns(frame, columns, watermark="10 seconds")


def by_board(frame):
    board = sash.stream(frame, time="ts", key="key", watermark="10 seconds")
    for name, seconds in BACK.items():
        calls = {f"{what}_{name}": call for what, call in CALLS.items()}
        board = board.query(calls, range=f"{seconds} seconds", slide="1 minute")
    return board.results()


def by_lists(frame):
    def answer(key, parts: Iterator[pd.DataFrame], state) -> Iterator[pd.DataFrame]:
        rows = pd.concat(parts).sort_values("ts")
        times, values = state.get if state.exists else ([], [])
        at = np.concatenate(
            [np.array(times, np.int64), rows["ts"].to_numpy().astype("datetime64[us]").astype(np.int64)]
        )
        values = np.concatenate([np.array(values, np.float64), rows["value"].to_numpy()])
        order = np.argsort(at, kind="stable")
        at, values = at[order], values[order]
        sums, mine = np.append(0.0, np.cumsum(values)), at[-len(rows) :]
        out = {"ts": rows["ts"], "key": rows["key"], "value": rows["value"]}
        hi = np.searchsorted(at, mine, "right")
        for name, seconds in BACK.items():
            lo = np.searchsorted(at, mine - seconds * 10**6, "left")
            total = sums[hi] - sums[lo]
            out |= {f"n_{name}": hi - lo, f"total_{name}": total, f"mean_{name}": total / (hi - lo)}
        kept = at >= at[-1] - BACK["24h"] * 10**6
        state.update((at[kept].tolist(), values[kept].tolist()))
        yield pd.DataFrame(out)

    kept = "times array<bigint>, amounts array<double>"
    grouped = frame.withWatermark("ts", "10 seconds").groupBy("key")
    return grouped.applyInPandasWithState(answer, OUT, kept, "append", "NoTimeout")


def run(bench):
    count, keys, batches = bench.pick((100_000, 10_000, 9), (2_000, 100, 3))
    head = f"a micro-batch of {count:,} events, {keys:,} keys: seconds"
    tasks = {"rows, Sash": by_sash, "a board, Sash": by_board, "rows, applyInPandasWithState": by_lists}
    times = {}
    for name, answer in tasks.items():
        took = durations(answer(streamed(count, keys, 3 if answer is by_lists else batches)))
        times[name] = median(took[len(took) // 3 :])
        bench.record(name, times[name], "s")
    mine = times["rows, Sash"]
    bench.table(head, ["", "seconds", "over rows of Sash"], [[name, each, each / mine] for name, each in times.items()])
