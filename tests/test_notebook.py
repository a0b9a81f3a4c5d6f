"""The tour runs from top to bottom, and its answers are those of DuckDB and of plain Python."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sessions import HERE, PATIENCE

TOUR = Path(__file__).parents[1] / "examples" / "tour.py"

# A cell that fails makes run() raise.
RUN = """
import runpy, sys
import pyarrow as pa
import pyarrow.parquet as pq

outputs, found = runpy.run_path(sys.argv[1])["app"].run()
for name in ("flights", "framed", "told", "aircraft", "runs"):
    pq.write_table(found[name], f"{sys.argv[2]}/{name}.parquet")
pq.write_table(pa.Table.from_pandas(found["on_spark"]), f"{sys.argv[2]}/on_spark.parquet")
print("charts:", sum(type(each).__name__ == "Figure" for each in outputs))
"""


class Toured:
    """What a run of the notebook printed, and the tables that its cells made."""

    def __init__(self, folder):
        command = [sys.executable, "-c", RUN, str(TOUR), str(folder)]
        environment = os.environ | HERE | {"MPLBACKEND": "agg"}
        done = subprocess.run(command, env=environment, cwd=folder, capture_output=True, text=True, timeout=PATIENCE)
        assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
        self.folder, self.printed = folder, done.stdout

    def __getitem__(self, name):
        return pq.read_table(self.folder / f"{name}.parquet")

    def ask(self, query):
        """DuckDB's answer about the flights; `n` is the place of a row."""
        rows = self["flights"]
        flights = rows.append_column("n", pa.array(np.arange(rows.num_rows)))  # noqa: F841, the query names it
        return duckdb.sql(query).to_arrow_table()


@pytest.fixture(scope="module")
def toured(tmp_path_factory):
    return Toured(tmp_path_factory.mktemp("tour"))


def assert_same(mine, other, columns):
    """Both tables, in the same order, say the same."""
    assert mine.num_rows == other.num_rows > 0
    for name in columns:
        one, two = mine[name].to_pandas(), other[name].to_pandas()
        if pd.api.types.is_numeric_dtype(one):
            np.testing.assert_allclose(one.astype(float), two.astype(float), rtol=1e-9, atol=1e-9, err_msg=name)
        else:
            assert one.tolist() == two.tolist(), name


def test_every_part_shows_what_it_is_for(toured):
    assert "328,521 departures" in toured.printed
    assert "block_sort: sorted blocks with bitsets of live rows" in toured.printed
    assert "from the partials of slices: stddev(delay)" in toured.printed
    assert "answers, and where slices begin:" in toured.printed
    assert "late_run: no counter-example found" in toured.printed
    assert "late_run: counter-example found for commutative" in toured.printed
    assert "charts: 3" in toured.printed


def test_framed_answers_are_those_of_duckdb(toured):
    expected = toured.ask("""
        select median(delay) over last_100 as median_100,
               quantile_disc(delay, 0.99) over last_100 as p99_100,
               median(delay) over week as median_week,
               quantile_disc(delay, 0.99) over week as p99_week,
               count(distinct dest) over week as destinations,
               rank(order by delay desc) over (order by "left", n rows 999 preceding) as rank
        from flights
        window last_100 as (partition by carrier order by "left", n rows 99 preceding),
               week as (partition by carrier order by "left" range between interval 7 days preceding and current row)
        order by n
    """)
    assert_same(toured["framed"], expected, expected.column_names)


@pytest.mark.parametrize(
    ("name", "aggregate", "length", "slide"),
    [
        ("departures", "count(*)", "1 hour", "10 minutes"),
        ("mean", "avg(delay)", "3 hours", "10 minutes"),
        ("spread", "stddev(delay)", "6 hours", "30 minutes"),
        ("worst", "max(delay)", "1 day", "1 hour"),
        ("destinations", "count(distinct dest)", "3 hours", "30 minutes"),
    ],
)
def test_the_board_says_of_each_window_what_duckdb_says_of_its_flights(toured, name, aggregate, length, slide):
    expected = toured.ask(f"""
        with windowed as (
            select *, unnest(generate_series(time_bucket(interval '{slide}', "left") + interval '{slide}',
                                             "left" + interval '{length}', interval '{slide}')) as window_end
            from flights
        )
        select origin, window_end, {aggregate} as {name}
        from windowed group by all having {name} is not null order by all
    """)
    told = toured["told"].select(["origin", "window_end", name]).to_pandas().dropna()
    if name in ("departures", "destinations"):
        told = told[told[name] > 0]  # another query's window had flights
    told = pa.Table.from_pandas(told.sort_values(["origin", "window_end"]), preserve_index=False)
    assert_same(told, expected, ["origin", "window_end", name])


def test_aircraft_are_up_in_every_quarter_that_they_touch(toured):
    expected = toured.ask("""
        with touched as (
            select origin, unnest(generate_series(time_bucket(interval '15 minutes', "left") + interval '15 minutes',
                                                  landed + interval '14 minutes', interval '15 minutes')) as window_end
            from flights where landed is not null
        )
        select origin, window_end, count(*) as up from touched group by all order by all
    """)
    assert_same(toured["aircraft"], expected, expected.column_names)


def test_the_most_at_one_moment_is_the_most_at_any_minute_of_the_quarter(toured):
    flights = toured["flights"].to_pandas().dropna()
    quarters = toured["aircraft"].to_pandas()
    busiest = quarters.loc[quarters["at_once"].idxmax()]
    assert f"{busiest.origin}, by {busiest.window_end:%d %B %H:%M}: {busiest.at_once} aircraft up" in toured.printed
    for quarter in [busiest, *quarters.sample(100, random_state=1).itertuples()]:
        near = flights[(flights["origin"] == quarter.origin) & (flights["left"] < quarter.window_end)]
        minutes = [quarter.window_end - pd.Timedelta(minutes=back) for back in range(1, 16)]
        up = [int(((near["left"] <= minute) & (near["landed"] > minute)).sum()) for minute in minutes]
        assert quarter.at_once == max(up)


def runs_by_hand(delays):
    """The longest run of late flights among each one and the 99 before it."""
    late = "".join("x" if delay > 15 else " " for delay in delays)
    frames = [late[max(end - 100, 0) : end] for end in range(1, len(late) + 1)]
    return [max(map(len, frame.split()), default=0) for frame in frames]


def test_runs_of_late_flights_are_those_that_one_counts_by_hand(toured):
    for _, mine in toured["runs"].to_pandas().groupby("carrier"):
        assert mine["run"].tolist() == runs_by_hand(mine["delay"])


def test_spark_answers_as_duckdb_does(toured):
    expected = toured.ask("""
        select "left", carrier, flight, dest, delay,
               median(delay) over w as median_100,
               count(distinct dest) over w as destinations_100,
               rank(order by delay desc) over w as rank
        from flights where month("left") = 7
        window w as (partition by carrier order by "left", flight rows 99 preceding)
        qualify rank = 1
        order by "left", carrier, flight
    """)
    mine = toured["on_spark"].sort_by([(name, "ascending") for name in ("left", "carrier", "flight")])
    assert f"{expected.num_rows} flights of July were as late as any of the last 100" in toured.printed
    assert_same(mine, expected, expected.column_names)

    flights = toured["flights"].to_pandas()
    july = flights[flights["left"].dt.month == 7].sort_values(["carrier", "left", "flight"])
    july["run"] = [run for _, rows in july.groupby("carrier") for run in runs_by_hand(rows["delay"])]
    both = mine.to_pandas().merge(july, on=["left", "carrier", "flight"], suffixes=("", "_by_hand"))
    assert len(both) == len(mine)
    assert both["run"].tolist() == both["run_by_hand"].tolist()


@pytest.mark.long
def test_the_tour_makes_a_page(tmp_path):
    page = tmp_path / "tour.html"
    shutil.copy(TOUR, tmp_path)  # marimo keeps things beside a notebook
    command = [sys.executable, "-m", "marimo", "export", "html", "tour.py", "-o", str(page)]
    done = subprocess.run(command, env=os.environ | HERE, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"  # as it is where a cell fails
    assert page.read_text().count("data:image/png;base64,") >= 3
