"""Part two, continuous queries: five boards that share slices, as a stream of Spark."""

from __future__ import annotations

from typing import Any

from sash.cli.demo import charts, clocks
from sash.cli.demo.parts import Answers, DemoPart, Stage, Timing

QUERIES = {  # in Spark's own words, where it has them: aggregate, range, slide
    "departures, last hour": ("count(*)", "1 hour", "10 minutes"),
    "mean delay, last 3 hours": ("avg(dep_delay)", "3 hours", "10 minutes"),
    "worst delay, last day": ("max(dep_delay)", "1 day", "1 hour"),
    "destinations, last 3 hours": ("count(distinct dest)", "3 hours", "30 minutes"),
    "90th percentile, last 6 hours": ("percentile(dep_delay, 0.9)", "6 hours", "30 minutes"),
}
OWN = tuple(QUERIES)  # those that Spark is asked, too
MANY = 10  # departures of an hour that is busy enough to be told of
COLUMNS = ("departures", "mean_delay", "worst_delay", "places", "p90_delay")  # of the pipeline, in the same order


def boards(stage: Stage) -> DemoPart:
    """Run it, time it, and read what it found."""
    piped = stage.piped("boards")
    answers, late = stage.answers("boards"), stage.answers("late")
    answers["clock"] = clocks.local(answers["window_end"])
    answers = answers.sort_values(["origin", "clock"])
    worst = _worst_day(answers)
    days = (answers["clock"] >= worst - _days(3)) & (answers["clock"] < worst + _days(4))
    return DemoPart(
        name="boards",
        title="Five boards, one stream",
        question=(
            "By airport, from reports as they come in: departures of the last hour and the mean delay of the last "
            "three every 10 minutes; destinations served and the 90th percentile of delays every 30; the worst delay "
            "of the last day every hour."
        ),
        story=(
            "A Structured Streaming query over files, one file a batch. A report comes when a flight has landed; those "
            f"of the {stage.flights.diverted:,} flights that were diverted were put behind all others for this demo, "
            f"and {len(late):,} of them come when their windows have been answered: they are set aside, with the "
            "reason, not dropped."
        ),
        chart=charts.boards(answers[days], dict(zip(COLUMNS, QUERIES, strict=True))),
        answers=[_table(answers), _late(late)],
        file=piped.file,
        plan=piped.plan,
        timings=_timings(stage, piped.frame) if stage.compare else [],
        remark=(
            "Sash answers all five in one streaming query. Spark’s window() takes one query for each length of "
            "windows; they ran one after the other. Both keep state in RocksDB with changelog checkpointing, and "
            "write to Spark’s noop sink. One run each: of Sash after the pipeline, of Spark with no run before."
        ),
        ran=piped.ran,
    )


def _days(count: int) -> Any:
    import pandas as pd  # type: ignore[import-untyped]

    return pd.Timedelta(days=count)


def _worst_day(answers: Any) -> Any:
    """The day on which departures were most late, all airports together."""
    days = answers.assign(minutes=answers["mean_delay"] * answers["departures"]).groupby(answers["clock"].dt.floor("D"))
    return (days["minutes"].sum() / days["departures"].sum().clip(lower=100)).idxmax()


def _table(answers: Any) -> Answers:
    rows = []
    for origin, mine in answers.groupby("origin"):
        many = mine[mine["departures"] >= MANY]
        most = [many.loc[many[column].idxmax(), ["clock", column]] for column in COLUMNS]
        rows.append([origin, *(f"{value:,.0f}\n{clocks.minute(clock)}" for clock, value in most)])
    head = ["airport", "departures, 1 h", "mean delay, 3 h", "worst delay, 1 day", "places, 3 h", "p90 of delays, 6 h"]
    title = f"The most on each board, in hours of {MANY} departures or more, and until when (clocks of New York)"
    return Answers(title, head, rows, words=("airport",))


def _late(late: Any) -> Answers:
    some = late.assign(clock=clocks.local(late["at"])).sort_values(["at", "flight"]).groupby("reason").head(3)
    head = ["flight", "way", "left", "reason"]
    shown = [
        [f"{row.carrier} {row.flight}", f"{row.origin}–{row.dest}", clocks.minute(row.clock), row.reason]
        for row in some.itertuples()
    ]
    return Answers("Some of the late rows", head, shown, words=tuple(head))


def _timings(stage: Stage, frame: Any) -> list[Timing]:
    mine = stage.timed("boards: all five, Sash", frame)
    columns = stage.spark.read.parquet(str(stage.data / "reports")).schema
    reader = stage.spark.readStream.schema(columns).option("maxFilesPerTrigger", 1)
    reports = reader.parquet(str(stage.data / "reports")).withWatermark("at", "2 hours")
    reports.createOrReplaceTempView("reports")
    timings, total = [], 0.0
    for name in OWN:
        aggregate, length, slide = QUERIES[name]
        if "distinct" in aggregate:
            timings.append(Timing(name, None, None, "Spark: “Distinct aggregations are not supported on streaming”"))
            continue
        query = stage.spark.sql(f"""
            select origin, window.end as window_end, {aggregate} as answer
            from reports group by origin, window(at, '{length}', '{slide}')""")
        took = stage.timed(f"boards: {name}, Spark", query)
        timings.append(Timing(name, None, took))
        total += took
    rivals = sum(each.spark is not None for each in timings)
    return [*timings, Timing("together", mine, total, f"Sash: all {len(QUERIES)}; Spark: the {rivals} that it can")]
