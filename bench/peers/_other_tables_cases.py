"""Rows of two tables, and what is asked of the one around each row of the other, in every peer's words."""

from __future__ import annotations

import os

os.environ |= {"SASH_THREADS": "2", "POLARS_MAX_THREADS": "2"}

import numpy as np
import pyarrow as pa

import sash
from sash import Window
from sash import functions as sf

MONTH = 30 * 24 * 3600  # seconds
KEYS = 10_000
BACK = {"1 hour": 3600, "7 days": 7 * 24 * 3600}

RANGE_JOIN = """
    select l.id, count(r.key) as n, sum(r.value) as total, count(distinct r.kind) as kinds, median(r.value) as middle
    from labels l left join events r on r.key = l.key and r.ts >= l.ts - interval '{} seconds' and r.ts <= l.ts
    group by l.id"""
# a window over both tables, one below the other; medians and distinct counts by its own sliding frames
UNION = """
    select id, n, total, kinds, middle from (
        select id, count(mine) over w as n, sum(value) over w as total, count(distinct kind) over w as kinds,
               median(value) over w as middle
        from (select key, ts, 1 as mine, value, kind, null as id from events
              union all select key, ts, null, null, null, id from labels)
        window w as (partition by key order by ts range between interval '{} seconds' preceding and current row)
    ) where id is not null"""


def labels(rows, keys=KEYS):
    """Rows that ask, over a month."""
    random = np.random.default_rng(1)
    return pa.table({"id": np.arange(rows), "key": random.integers(0, keys, rows), "ts": _moments(random, rows)})


def events(rows, keys=KEYS):
    """Rows that are asked for."""
    random = np.random.default_rng(2)
    return pa.table({
        "key": random.integers(0, keys, rows), "ts": _moments(random, rows),
        "value": random.integers(0, 1_000_000, rows), "kind": random.integers(0, 50, rows),
    })  # fmt: skip


def _moments(random, rows):
    return pa.array(1_767_225_600_000_000 + np.sort(random.integers(0, MONTH, rows)) * 1_000_000, pa.timestamp("us"))


def window(table, back):
    return Window.of(table, on="key", at="ts").rangeBetween(f"-{back} seconds", 0)


def asked(over):
    return {
        "n": sf.count().over(over),
        "total": sf.sum("value").over(over),
        "kinds": sf.count_distinct("kind").over(over),
        "middle": sf.median("value").over(over),
    }


def by_sash(left, right, back):
    return sash.withColumns(left, asked(window(right, back)))


def sums(answer):
    """What tells whether answers are the same."""
    columns = [
        np.nan_to_num(np.asarray(answer[name].to_pandas(), np.float64)) for name in ("n", "total", "kinds", "middle")
    ]
    return [round(float(column.sum()), 1) for column in columns]
