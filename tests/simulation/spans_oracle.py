"""What windows answer of events that last, event by event: rows have a start and a last moment, both theirs."""

import statistics

from engine.streams.stream_oracle import known
from sash import functions as sf


def first_of(row):
    return row["start"]


def last_of(row):
    return max(row["ts"] - 1, row["start"])


def _part(row, lo, hi):
    return (min(last_of(row) + 1, hi) - max(first_of(row), lo)) / (last_of(row) + 1 - first_of(row))


def _lasting(row, lo, hi):
    return _part(row, lo, hi) * (last_of(row) + 1 - first_of(row))


def _valued(rows):
    return [row for row in rows if row["v"] is not None]


def _mean(rows, lo, hi):
    rows = _valued(rows)
    weights = [_lasting(row, lo, hi) for row in rows]
    return sum(row["v"] * weight for row, weight in zip(rows, weights, strict=True)) / sum(weights) if rows else None


def _concurrent(rows, lo, hi):
    return max((sum(first_of(each) <= moment <= last_of(each) for each in rows)
                for moment in (max(first_of(row), lo) for row in rows)), default=0)  # fmt: skip


def _of(function):
    return lambda rows, lo, hi: function(known(rows, "v")) if known(rows, "v") else None


CALLS = {
    "n": sf.count(), "values": sf.count("v"), "total": sf.sum("v"), "peak": sf.max("v"), "mean": sf.avg("v"),
    "share": sf.sum("v").prorated(), "load": sf.time_avg("v"), "mid": sf.median("v"), "kinds": sf.count_distinct("v"),
    "lines": sf.max_concurrent(),
}  # fmt: skip
ANSWERS = {
    "n": lambda rows, lo, hi: len(rows),
    "values": lambda rows, lo, hi: len(known(rows, "v")),
    "total": _of(sum),
    "peak": _of(max),
    "mean": _of(statistics.fmean),
    "share": lambda rows, lo, hi: (
        sum(row["v"] * _part(row, lo, hi) for row in _valued(rows)) if _valued(rows) else None
    ),
    "load": _mean,
    "mid": _of(statistics.median),
    "kinds": lambda rows, lo, hi: len(set(known(rows, "v"))),
    "lines": _concurrent,
}
PARTIALS, HELD = ("n", "values", "total", "peak", "mean", "share", "load"), ("mid", "kinds", "lines")
