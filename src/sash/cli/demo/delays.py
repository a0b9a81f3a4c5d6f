"""Part one, windows over frames: how late each carrier has been of late, at every departure."""

from __future__ import annotations

from typing import Any

import sash
from sash.cli.demo import charts, clocks
from sash.cli.demo.parts import Answers, DemoPart, Stage, Timing

RECENT = "(partition by carrier order by at, flight rows between 99 preceding and current row)"
WEEK = "(partition by carrier order by at range between interval '7' day preceding and current row)"
THOUSAND = "(order by at, carrier, flight rows between 999 preceding and current row)"
SHOWN = 4  # carriers in the chart


def delays(stage: Stage) -> DemoPart:
    """Run it, time it, and read what it found."""
    piped = stage.piped("delays")
    answers = stage.answers("delays")
    answers["day"] = clocks.local(answers["at"]).dt.floor("D")
    carriers = list(answers["carrier"].value_counts().index)
    shown = {
        stage.flights.airlines[code]: answers[answers["carrier"] == code].groupby("day").last()
        for code in carriers[:SHOWN]
    }
    alone = carriers[min(3, len(carriers) - 1)]
    return DemoPart(
        name="delays",
        title="How late is late, lately?",
        question=(
            "At every departure: the median and the 99th percentile of the carrier’s delays over its last 100 flights "
            "and over its last 7 days, the destinations it served in these, and where the flight ranks among the last "
            "1,000 from New York."
        ),
        story=(
            f"Six columns for each of {len(answers):,} departures, every one over a frame of its own. A median or a "
            "rank cannot be updated by adding what comes and subtracting what goes: such functions are called holistic."
        ),
        chart=charts.delays(shown),
        answers=[_table(stage, answers, carriers)],
        file=piped.file,
        plan=piped.plan,
        timings=_timings(stage, carriers, alone) if stage.compare else [],
        remark=(
            "Spark’s percentile takes longer the longer frames are: to keep the demo short, 7 days were measured on "
            f"{stage.flights.airlines[alone]} alone, for both. Spark has its segment tree on. One run each: of Sash "
            "after the pipeline, of "
            "Spark after one on a small carrier."
        ),
        ran=piped.ran,
    )


def _table(stage: Stage, answers: Any, carriers: list[str]) -> Answers:
    rows = []
    for code in carriers:
        mine = answers[answers["carrier"] == code]
        low, high = mine["median_week"].min(), mine["median_week"].max()
        worst = mine.loc[mine["p99_week"].idxmax()]
        rows.append(
            [
                stage.flights.airlines[code],
                f"{len(mine):,}",
                f"{low:.0f} to {high:.0f}".replace("-", "−"),
                f"{worst['p99_week']:,.0f}\n{clocks.day(worst['day'])}",
                f"{mine['places'].max()}",
                f"{(mine['place'] == 1).sum():,}",
            ]
        )
    head = ["carrier", "departures", "median", "p99, at most", "places, at most", "latest of 1,000"]
    title = "Minutes of delay and places, over 7 days; flights that were the latest of the last 1,000"
    return Answers(title, head, rows, words=("carrier",))


def _timings(stage: Stage, carriers: list[str], alone: str) -> list[Timing]:
    """The seconds of each sort of column; one carrier is measured alone."""
    flights = stage.spark.read.parquet(str(stage.data / "flights"))
    flights.createOrReplaceTempView("flights")
    flights.where(f"carrier = '{alone}'").createOrReplaceTempView("alone")
    flights.where(f"carrier = '{carriers[-1]}'").createOrReplaceTempView("small")
    two = "percentile(dep_delay, 0.5) over {0} as middle, percentile(dep_delay, 0.99) over {0} as p99"
    few, long = two.format(RECENT), two.format(WEEK)
    sets = f"size(collect_set(dest) over {WEEK}) as places"
    distinct = f"count(distinct dest) over {WEEK} as places"
    place = f"rank(order by dep_delay desc) over {THOUSAND} as place"
    ranked = f"rank() over {THOUSAND.replace('at, carrier, flight', 'dep_delay desc')} as place"

    def both(what: str, by_sash: str, by_spark: str | None, table: str = "flights", note: str = "") -> Timing:
        def ask(columns: str, view: str) -> str:
            return f"select *, {columns} from {view}"

        mine = stage.timed(f"delays: {what}, Sash", sash.sql(ask(by_sash, table), spark=stage.spark))
        theirs = None
        if by_spark is not None:
            for view in ("small", table):  # Sash is warm from the pipeline
                theirs = stage.timed(f"delays: {what}, Spark", stage.spark.sql(ask(by_spark, view)))
        return Timing(what, mine, theirs, note)

    name = stage.flights.airlines[alone]
    no_distinct = stage.refused(f"select {distinct} from flights").split(":")[0]
    no_rank = stage.refused(f"select {ranked} from flights")
    said = f"Spark: “{no_distinct}”; here as size(collect_set(…))" if no_distinct else "Spark: size(collect_set(…))"
    cannot = "Spark refuses it: its ranks are among all rows up to the current one" if no_rank else ""
    return [
        both("median and p99, last 100 flights", few, few),
        both("median and p99, last 7 days, one carrier", long, long, "alone", name),
        both("distinct destinations, last 7 days, one carrier", distinct, sets, "alone", said),
        both("rank among the last 1,000 flights", place, None, note=cannot),
    ]
