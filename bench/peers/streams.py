"""Overlapping windows by time over events in order, from table to table, two threads each.

Polars has its frames in memory and two ways, of which ``rolling_*_by`` answers at every event and the edges take the
last; DuckDB has a table of its own and the faster of a join and a RANGE frame. What an expert would write in either
for what slices can answer is there, too: slices by hand, and a rolling function or a frame over them.
"""

from __future__ import annotations

import os

os.environ |= {"SASH_THREADS": "2", "POLARS_MAX_THREADS": "2"}

from bench.peers._stream_cases import Case, Polars, duckdb_sliced, duckdb_task

TITLE = "Continuous queries: overlapping windows by time"


def run(bench):
    rows = bench.pick(1_000_000, 50_000)
    for keys in (1, 100):
        for name in ("max", "avg", "median", "count_distinct"):
            case = Case(name, 60, 1, keys, rows)
            polars = Polars(case)
            tasks = {"Polars, dynamic": polars.dynamic, "DuckDB": duckdb_task(case)}
            if name != "count_distinct":  # Polars has no rolling one
                tasks["Polars, rolling"] = polars.rolling
            if name in ("max", "avg"):
                tasks |= {"Polars, slices by hand": polars.sliced, "DuckDB, slices by hand": duckdb_sliced(case)}
            for peer, task in tasks.items():
                case.check(peer, task())
            bench.duel(str(case), case.answers, tasks)
