"""What ``sash new`` writes: data, an aggregate and a pipeline over them."""

from __future__ import annotations

import csv
from datetime import datetime, timedelta
from pathlib import Path

from sash.errors import SashError

PIPELINE = """# Run it:      sash run {file}            over all that is there
# as a stream: sash run {file} --stream   over what has come since the last time
# first look:  sash check {file}, sash explain {file}
imports = ["aggregates.py"]

[sources.trips]
path = "trips"
format = "csv"
schema = "driver string, started timestamp, ended timestamp, km double, fare double"

[stream]
checkpoint = "out/checkpoints"

[[steps]]                                  # continuous queries, which share their slices
name = "hourly"
from = "trips"
kind = "stream"
time = "ended"
key = ["driver"]
watermark = "30 minutes"
[[steps.queries]]
range = "3 hours"
slide = "1 hour"
columns.trips = "count(*)"
columns.median_fare = "median(fare)"
columns.typical_km = "geomean(km)"

[[steps]]                                  # events that last: how many at once?
name = "busy"
from = "trips"
kind = "spans"
span = ["started", "ended"]
watermark = "30 minutes"
postpone = "2 hours"
[[steps.queries]]
range = "1 hour"
columns.on_the_road = "max_concurrent()"

[[sinks]]
from = "hourly"
path = "out/${mode}/hourly"
format = "parquet"

[[sinks]]
from = "busy"
path = "out/${mode}/busy"
format = "json"

[[sinks]]
from = "hourly"
late = true
path = "out/${mode}/late"
format = "json"
"""

AGGREGATES = '''"""Aggregates of your own: three small functions each. `sash.check` tries their laws."""

import math

import sash

geomean = sash.Aggregate(
    "geomean",
    lift=lambda x: (math.log(x), 1),
    combine=lambda a, b: (a[0] + b[0], a[1] + b[1]),
    lower=lambda s: math.exp(s[0] / s[1]),
    commutative=True,
)
'''


def written(folder: Path) -> list[Path]:
    """Write the files into a folder; nothing that is there is touched."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise SashError(f"{folder} is there already; name a folder that is not, or is empty")
    (folder / "trips").mkdir(parents=True)
    pipeline, aggregates, data = folder / "pipeline.toml", folder / "aggregates.py", folder / "trips" / "monday.csv"
    pipeline.write_text(PIPELINE.replace("{file}", "pipeline.toml"))
    aggregates.write_text(AGGREGATES)
    with data.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["driver", "started", "ended", "km", "fare"])
        writer.writerows(_trips())
    return [pipeline, aggregates, data]


def _trips() -> list[list[object]]:
    """A day of trips, the same on every machine."""
    start, rows, state = datetime(2026, 11, 16, 6), [], 1
    for number in range(400):
        state = state * 48271 % (2**31 - 1)
        begin = start + timedelta(minutes=2 * number + state % 7)
        minutes, km = 5 + state % 41, round(1 + state % 173 / 10, 1)
        driver = ("ann", "bob", "cleo", "dan")[state % 4]
        rows.append((begin + timedelta(minutes=minutes), [driver, begin, km, round(3 + 1.4 * km, 2)]))
    return [[each[0], each[1], end, *each[2:]] for end, each in sorted(rows)]
