"""Part three, events that last: how many aircraft are in the air."""

from __future__ import annotations

from typing import Any

import sash
from sash import functions as sf
from sash.cli.demo import charts, clocks
from sash.cli.demo.parts import Answers, DemoPart, Stage, Timing

EXPLODED = """
    with placed as (
        select origin, air_time, explode(sequence(
            floor(unix_seconds(at) / 300) - 2, ceil(unix_seconds(landed) / 300) - 1)) as n from flown)
    select origin, timestamp_seconds(n * 300 + 900) as window_end, count(*) as up, avg(air_time) as minutes
    from placed group by origin, n"""
JOINED = """
    with numbers as (
        select explode(sequence(
            floor(unix_seconds(min(at)) / 300) - 2, ceil(unix_seconds(max(landed)) / 300))) as n from some),
    windows as (select timestamp_seconds(n * 300) as lo, timestamp_seconds(n * 300 + 900) as hi from numbers)
    select origin, hi as window_end, count(*) as up, avg(air_time) as minutes
    from some join windows on at < hi and landed > lo group by origin, hi"""
DAYS = 14  # of flights for the join, which is quadratic


def aircraft(stage: Stage) -> DemoPart:
    """Run it, time it, and read what it found."""
    piped = stage.piped("aircraft")
    answers = stage.answers("aircraft")
    answers["clock"] = clocks.local(answers["window_end"])
    answers = answers.sort_values(["origin", "clock"])
    days = answers["clock"].dt.floor("D")
    busiest = answers.groupby(days)["up"].sum().idxmax()
    return DemoPart(
        name="aircraft",
        title="Aircraft in the air",
        question=(
            "By airport, every 5 minutes, for the last 15: how many aircraft from it were in the air, how many at one "
            "moment at most, and how long their flights take on average."
        ),
        story=(
            "A flight lasts: it counts once in each of the windows between its departure and its landing, about "
            f"{answers['up'].sum() / (stage.flights.left - stage.flights.diverted):.0f} of them. A count of departures "
            "would see it in three."
        ),
        chart=charts.aircraft(answers[days == busiest], f"{busiest:%B} {busiest.day}, {busiest.year}"),
        answers=[_table(answers)],
        file=piped.file,
        plan=piped.plan,
        timings=_timings(stage) if stage.compare else [],
        remark=(
            "Spark’s window() takes one moment, not a start and an end. A join with a table of windows compares every "
            f"flight with every window, so that it was given {DAYS} days; a list of windows for each flight (explode) "
            "is the faster of these two. One run each: of Sash after the pipeline, of Spark with no run before."
        ),
        ran=piped.ran,
    )


def _table(answers: Any) -> Answers:
    rows = []
    for origin, mine in answers.groupby("origin"):
        most, once = mine.loc[mine["up"].idxmax()], mine.loc[mine["at_once"].idxmax()]
        rows.append(
            [
                origin,
                f"{len(mine):,}",
                f"{most['up']}\n{clocks.minute(most['clock'])}",
                f"{once['at_once']}\n{clocks.minute(once['clock'])}",
                f"{mine['minutes'].mean():.0f}",
            ]
        )
    head = ["airport", "windows", "up in 15 minutes", "up at one moment", "minutes of flight"]
    title = "The most aircraft and until when (clocks of New York), and the mean of the averages"
    return Answers(title, head, rows, words=("airport",))


def _timings(stage: Stage) -> list[Timing]:
    flown = stage.spark.read.parquet(str(stage.data / "flights")).where("landed is not null")
    flown.createOrReplaceTempView("flown")
    first = flown.agg({"at": "min"}).collect()[0][0]
    some = flown.where(f"at < timestamp'{first:%Y-%m-%d}' + interval {DAYS} days")
    some.createOrReplaceTempView("some")

    def by_sash(frame: Any, calls: dict[str, Any]) -> Any:
        board = sash.stream(frame, span=("at", "landed"), key="origin")
        return board.query(calls, range="15 minutes", slide="5 minutes").results()

    two = {"up": sf.count(), "minutes": sf.avg("air_time")}
    few = stage.timed(f"aircraft: {DAYS} days, Sash", by_sash(some, two))
    joined = stage.timed(f"aircraft: {DAYS} days, a join in Spark", stage.spark.sql(JOINED))
    mine = stage.timed("aircraft: count and average, Sash", by_sash(flown, two))
    exploded = stage.timed("aircraft: count and average, Spark", stage.spark.sql(EXPLODED))
    most = stage.timed("aircraft: most at one moment, Sash", by_sash(flown, {"at_once": sf.max_concurrent()}))
    return [
        Timing(f"count and average, {DAYS} days", few, joined, "Spark: a join with a table of windows"),
        Timing("count and average", mine, exploded, "Spark: a list of windows for each flight"),
        Timing("most at one moment", most, None, "not tried in Spark, which has no function for it"),
    ]
