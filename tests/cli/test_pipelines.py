"""Pipelines from the command line: codes, words for people, objects for machines, Ctrl-C."""

import contextlib
import json
import logging
import os
import signal
import subprocess
import sys
import threading

import pytest
import typer
from rich.console import Console
from rich.progress import Progress as Bars
from typer.testing import CliRunner

from sash.cli import pipelines, progress
from sash.cli.app import app
from sash.cli.progress import Terminal
from sash.cli.waiting import stage
from sash.pipelines import Progress, Written
from sessions import HERE, die_with_parent


@pytest.fixture
def sash(spark, tmp_path, monkeypatch):
    """Runs commands in a folder of their own, on the session of the tests."""

    @contextlib.contextmanager
    def session(loaded):
        yield spark, tmp_path / "spark.log"

    monkeypatch.setattr(pipelines, "session", session)
    monkeypatch.setattr(pipelines, "interrupted", lambda streaming: threading.Event())
    monkeypatch.chdir(tmp_path)
    return lambda *words: CliRunner().invoke(app, words)


def test_what_new_writes_works(sash):
    assert sash("new", "mine").exit_code == 0
    assert "mine is there already" in sash("new", "mine").output.replace("\n", " ")
    checked = sash("check", "mine/pipeline.toml")
    assert (checked.exit_code, checked.output.strip()) == (0, "pipeline.toml is right: 1 source, 2 steps, 3 sinks")
    ran = sash("run", "mine/pipeline.toml", "--json")
    told = [json.loads(line) for line in ran.stdout.splitlines()]
    assert ran.exit_code == 0
    assert [each["event"] for each in told if each["event"] != "going"] == ["began", "ended"] * 3 + ["summary"]
    assert told[-1]["rows_in"] == {"trips": 400}
    assert [each["rows"] for each in told[-1]["sinks"]] == [64, 14, 0]
    explained = sash("explain", "mine/pipeline.toml", "--stream").output
    assert "hourly" in explained
    assert "on Spark: rows are moved to 4 shards of keys" in explained


def test_the_summary_is_for_people(sash, tmp_path):
    sash("new", "mine")
    ran = sash("run", "mine/pipeline.toml")
    lines = [line.split() for line in ran.stdout.splitlines()]
    assert lines[0] == ["sink", "from", "rows", "late", "seconds", "where"]
    assert lines[2][:4] == ["hourly", "hourly", "64", "0"]
    assert lines[2][-1] == "mine/out/batch/hourly"
    assert "pipeline: done as a batch in" in ran.stdout
    assert "rows read: 400 of trips" in ran.stdout
    assert "hourly: began" in ran.stderr


@pytest.mark.parametrize(
    ("words", "code", "told"),
    [
        (["run", "gone.toml"], 2, "gone.toml cannot be read"),
        (["check", "wrong.toml"], 2, "wrong.toml, line 2: there is no nobody here"),
        (["run", "broken.toml"], 1, "broken.toml, line 7: b could not be written:"),
        (["run", "broken.toml", "--set", "x"], 2, "--set takes a name and a value"),
        (["run", "broken.toml", "--set", "x=1"], 2, "nothing uses ${x}, which --set names"),
    ],
)
def test_codes_say_what_went_wrong(sash, tmp_path, words, code, told):
    (tmp_path / "wrong.toml").write_text('[[sinks]]\nfrom = "nobody"\npath = "x"\n[sources.t]\npath = "t"\n')
    (tmp_path / "t.csv").write_text("x\n1\n")
    (tmp_path / "broken.toml").write_text(
        '[sources.t]\npath = "t.csv"\n[[steps]]\nname = "b"\n'
        'sql = "select raise_error(\'boom\') as x from t"\n\n[[sinks]]\npath = "out"\n'
    )
    ended = sash(*words)
    assert ended.exit_code == code
    assert told in ended.stderr
    assert not (tmp_path / "out").exists()
    told_machines = sash(*words, "--json").stdout.splitlines()[-1]
    assert json.loads(told_machines)["code"] == code


def test_secrets_are_not_printed(sash, tmp_path, monkeypatch):
    monkeypatch.setenv("PASSWORD_OF_DB", "swordfish")
    gone = '[sources.t]\npath = "gone/${PASSWORD_OF_DB}"\nformat = "csv"\n[[sinks]]\npath = "x"\n'
    (tmp_path / "gone.toml").write_text(gone)
    (tmp_path / "t.csv").write_text("x\n1\n")
    step = '[[steps]]\nname = "b"\nsql = "select raise_error(\'got ${PASSWORD_OF_DB}\') as x from t"\n'
    (tmp_path / "broken.toml").write_text(
        '[sources.t]\npath = "t.csv"\n' + step + '[[sinks]]\npath = "${PASSWORD_OF_DB}"\n'
    )
    for words, code in (("gone.toml", 2), ("gone.toml --json", 2), ("broken.toml", 1), ("broken.toml --json", 1)):
        ended = sash("run", *words.split())
        assert ended.exit_code == code
        assert "${PASSWORD_OF_DB}" in ended.output
        assert "swordfish" not in ended.output
    assert "swordfish" not in sash("explain", "broken.toml").output


def test_a_terminal_sees_bars(tmp_path):
    console = Console(file=(told := open(tmp_path / "told", "w+")), force_terminal=True, width=120)  # noqa: SIM115
    with told, Bars(*Bars.get_default_columns(), console=console) as bars:
        terminal = Terminal(bars)
        terminal.began("boards")
        terminal.moved(Progress("boards", rows_in=1200, answers=40, late=2, rate=400.0, lag=7200.0))
        assert bars.tasks[0].description == (
            "boards: 1,200 rows, 40 windows answered, 2 late, 400 rows/s, watermark 2 h behind"
        )
        terminal.ended(Written("boards", "b", "out", 40, 2, 1.0))
        assert bars.tasks[0].stop_time is not None


def test_stages_are_read_from_what_spark_prints(tmp_path):
    log = tmp_path / "log"
    assert stage(log) == (0, 0)
    log.write_text("x" * 1000 + "\r[Stage 3:====>      (5 + 2) / 20]\r[Stage 3:=====>     (6 + 2) / 20]")
    assert stage(log) == (6, 20)


def test_a_batch_is_told_of_while_it_runs(tmp_path, monkeypatch):
    monkeypatch.setattr(progress, "EVERY", 0.01)
    (tmp_path / "log").write_text("[Stage 3:====>      (5 + 2) / 20]")
    told, enough = [], threading.Event()
    log = progress.Log()
    monkeypatch.setattr(log, "_tell", lambda text: (told.append(text), len(told) > 2 and enough.set()))
    with progress.Pulse(log, tmp_path / "log") as pulse:
        pulse.began("b")
        assert enough.wait(30)
        pulse.ended(Written("b", "b", "out", 1, None, 1.0))
    assert told[:2] == ["b: began", "b: 0 s, 5 of 20 tasks of this stage"]


def test_a_log_is_not_flooded(monkeypatch, capsys):
    times = iter([0.0, 1.0, 6.0])
    monkeypatch.setattr(progress.time, "monotonic", lambda: next(times))
    told = []
    log = progress.Log()
    monkeypatch.setattr(log, "_tell", told.append)
    for rows in (1, 2, 3):
        log.moved(Progress("b", rows_in=rows))
    assert told == ["b: 1 rows, 0 rows/s", "b: 3 rows, 0 rows/s"]


TICKS = """
mode = "stream"
[stream]
checkpoint = "checkpoint"
trigger = "1 second"
[spark]
master = "local[1]"
[sources.ticks]
format = "rate-micro-batch"
options.rowsPerBatch = 10
[[sinks]]
path = "out"
format = "json"
"""


def test_ctrl_c_stops_a_stream_cleanly(tmp_path):
    (tmp_path / "ticks.toml").write_text(TICKS)
    command = [sys.executable, "-m", "sash.cli", "run", "ticks.toml", "--json"]
    going = subprocess.Popen(
        command, cwd=tmp_path, env=os.environ | HERE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        preexec_fn=die_with_parent,
    )  # fmt: skip
    for line in going.stdout:
        if json.loads(line).get("batch", -1) >= 1:
            break
    going.send_signal(signal.SIGINT)
    told, errors = going.communicate(timeout=120)
    assert going.returncode == 0, errors
    summary = json.loads(told.splitlines()[-1])
    assert summary["stopped"]
    assert "Traceback" not in errors
    written = "".join(each.read_text() for each in (tmp_path / "out").glob("*.json")).splitlines()
    values = sorted(json.loads(each)["value"] for each in written)
    assert values == list(range(len(values)))
    assert len(values) >= summary["rows_in"]["ticks"]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_stops_a_stream_and_breaks_a_batch_off(number):
    before = {each: signal.getsignal(each) for each in (signal.SIGINT, signal.SIGTERM)}
    try:
        stopping = pipelines.interrupted(streaming=True)
        signal.raise_signal(number)
        assert stopping.is_set()
        for streaming in (True, False):
            if not streaming:
                pipelines.interrupted(streaming)
            with pytest.raises(typer.Exit) as ended, pipelines.errors_in_words(as_json=False):
                signal.raise_signal(number)  # of a stream the second time
            assert ended.value.exit_code == 130
    finally:
        logging.disable(logging.NOTSET)
        for each, handler in before.items():
            signal.signal(each, handler)


@pytest.mark.parametrize("command", ["check", "explain", "run"])
@pytest.mark.parametrize(
    "sql",
    [
        "drop table precious",
        "delete from precious",
        "insert overwrite precious select * from t",
        "with u as (select * from t) insert into precious select * from u",
        "from t insert into precious select n",
        "select * from t; drop table precious",
    ],
)
def test_steps_are_queries_and_nothing_else_is_run(sash, spark, tmp_path, command, sql):
    (tmp_path / "in.csv").write_text("n\n1\n")
    (tmp_path / "p.toml").write_text(
        f'[sources.t]\npath = "in.csv"\n[[steps]]\nname = "s"\nsql = """\n{sql}\n"""\n[[sinks]]\npath = "out"\n'
    )
    spark.sql("create or replace temp view seven as select 7 as n")
    spark.sql("create table precious using parquet as select * from seven")
    try:
        ended = sash(command, "p.toml")
        assert ended.exit_code == 2
        assert "p.toml, line 6: a query is needed" in ended.output
        assert [row["n"] for row in spark.table("precious").collect()] == [7]
    finally:
        spark.sql("drop table precious")


def test_watch_says_where_the_page_is_for_people_and_machines(sash, monkeypatch):
    shown = []

    class Server:
        def __init__(self, sights, port):
            shown.append(([each.name for each in sights], port))
            self.address = "http://127.0.0.1:5/token/"

        @staticmethod
        def check():
            return None

        def stop(self):
            shown.append("stopped")

    monkeypatch.setattr("sash.cli.watched_page.PageServer", Server)
    sash("new", "mine")
    ran = sash("run", "mine/pipeline.toml", "--watch", "--port", "5", "--json")
    assert ran.exit_code == 0, ran.output
    assert {"event": "page", "address": "http://127.0.0.1:5/token/"} in map(json.loads, ran.stdout.splitlines())
    assert "page: http://127.0.0.1:5/token/" in ran.stderr
    assert shown == [(["hourly", "busy"], 5), "stopped"]


def test_watch_without_bokeh_ends_before_anything_is_written(sash, tmp_path, monkeypatch):
    for name in [each for each in sys.modules if each.partition(".")[0] == "bokeh" or each == "sash.watching.page"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "bokeh", None)
    sash("new", "mine")
    ran = sash("run", "mine/pipeline.toml", "--watch")
    assert ran.exit_code == 2
    assert "the page needs bokeh: pip install 'sash[watch]'" in ran.output
    assert not (tmp_path / "mine" / "out").exists()
