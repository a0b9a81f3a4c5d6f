"""The first script on Spark: run by the Python of an environment that is not activated."""

import os
import stat
import subprocess
import sys

import pyarrow as pa
import pytest

import sash
from sash import Window
from sash import functions as sf
from sash.errors import SashError
from sash.spark import interpreters, local

JOB = """
import sash
from sash import Window, functions as sf
from means import geomean

spark = sash.local_spark({"spark.ui.enabled": "false", "spark.sql.shuffle.partitions": "3"}, cores=1)
rows = [(1, "a", 4.0), (2, "a", 9.0), (3, "b", 1.0)]
frame = spark.createDataFrame(rows, "t int, k string, v double").selectExpr("*", "timestamp_seconds(t) as ts")
by_key = Window.partitionBy("k").orderBy("t")
out = sash.withColumns(frame, {"here": geomean("v").over(by_key), "all": geomean("v").over(Window.orderBy("t"))})
board = sash.stream(frame, time="ts", key="k").query("g", geomean("v"), range="1 minute")
print([tuple(round(each, 6) for each in row) for row in out.select("t", "here", "all").orderBy("t").collect()])
print(sorted(round(row["g"], 6) for row in board.results().collect()))
print(spark.conf.get("spark.sql.shuffle.partitions"), spark.conf.get("spark.master"))
"""
MEANS = """
import math

import sash
from more import ONE

geomean = sash.Aggregate(
    "geomean",
    lift=lambda x: (math.log(x), ONE),
    combine=lambda a, b: (a[0] + b[0], a[1] + b[1]),
    lower=lambda s: math.exp(s[0] / s[1]),
)
"""


def test_a_script_runs_with_aggregates_of_a_module_beside_it(tmp_path):
    home = tmp_path / "script"
    home.mkdir()
    for name, text in (("job.py", JOB), ("means.py", MEANS), ("more.py", "ONE = 1\n")):
        (home / name).write_text(text)
    environment = {name: value for name, value in os.environ.items() if name not in ("PYSPARK_PYTHON", "PYTHONPATH")}
    environment["PYTHONPATH"] = os.pathsep.join(path for path in sys.path if path.endswith("src"))
    done = subprocess.run(
        [sys.executable, str(home / "job.py")],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    rows, grouped, session = done.stdout.splitlines()[-3:]
    assert rows == "[(1, 4.0, 4.0), (2, 6.0, 6.0), (3, 1.0, 3.301927)]"
    assert grouped == "[1.0, 6.0]"
    assert session == "3 local[1]"


def test_a_session_that_runs_keeps_its_settings(spark):
    before = dict(spark.conf.getAll)
    assert dict(sash.local_spark(cores=7).conf.getAll) == before


@pytest.fixture
def frame(spark):
    return spark.createDataFrame(pa.table({"t": pa.array([1, 2], pa.timestamp("us")), "v": [1.0, 2.0]}))


@pytest.fixture
def workers(spark, tmp_path, monkeypatch):
    """Let the workers of the session run a Python that says this of itself."""

    def run(*lines):
        python = tmp_path / "python"
        python.write_text("#!/bin/sh\n" + "\n".join(f"echo '{line}'" for line in lines))
        python.chmod(python.stat().st_mode | stat.S_IXUSR)
        spark.conf.set(interpreters.SETTING, str(python))
        interpreters._lacking.cache_clear()

    yield run
    spark.conf.unset(interpreters.SETTING)
    interpreters._lacking.cache_clear()


@pytest.mark.parametrize(
    ("lines", "lacks"),
    [
        (["{} {}".format(*sys.version_info), "pyarrow numba"], "which cannot import pyarrow: write spark.conf.set("),
        (["3 7", ""], r"which is Python 3\.7, not 3\.\d+: write spark.conf.set\("),
    ],
)
def test_workers_that_cannot_run_sash_are_refused_before_the_first_job(frame, workers, lines, lacks):
    workers(*lines)
    lacks = lacks if "\\" in lacks else lacks.replace("(", r"\(").replace(".", r"\.")
    with pytest.raises(SashError, match=lacks):
        sash.withColumns(frame, {"m": sf.max("v").over(Window.orderBy("t"))})
    with pytest.raises(SashError, match=lacks):
        sash.stream(frame, time="t").query("n", sf.count(), range="1 hour").results()


def test_workers_that_have_all_they_need_are_not_refused(frame, workers):
    workers("{} {}".format(*sys.version_info), "")
    assert "m" in sash.withColumns(frame, {"m": sf.max("v").over(Window.partitionBy("v"))}).columns


def test_a_python_that_is_not_there_is_named(spark, frame, workers):
    workers("")
    spark.conf.set(interpreters.SETTING, "/nowhere/python")
    with pytest.raises(SashError, match=r"run /nowhere/python, which is not there: "):
        sash.withColumns(frame, {"m": sf.max("v").over(Window.orderBy("t"))})


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"conf": ["spark.ui.enabled"]}, "conf must be settings by their names"),
        ({"cores": 0}, "cores must be a whole number, at least 1, got 0"),
        ({"cores": True}, "cores must be a whole number, at least 1, got True"),
    ],
)
def test_what_local_spark_does_not_take(given, sentence):
    with pytest.raises(SashError, match=sentence):
        local.local_spark(**given)


def test_a_script_that_fails_says_so_in_under_ten_lines(tmp_path):
    """Where the user is at fault, before a job and in a worker: the line, and a sentence."""
    for name, frame, sentence in (
        (
            "early",
            'sash.withColumns(rows, {"m": sf.median("nope").over(w)})',
            "there is no column 'nope'; there are id",
        ),
        (
            "late",
            'sash.withColumns(rows, {"s": sf.sum(sash.col("id") + MOST).over(w)}).collect()',
            "does not fit 64 bits",
        ),
    ):
        script = tmp_path / f"{name}.py"
        script.write_text(f"""
import sash
from sash import Window, functions as sf

MOST = 9223372036854775000
spark = sash.local_spark({{"spark.ui.enabled": "false", "spark.ui.showConsoleProgress": "false"}}, cores=1)
rows, w = spark.range(30), Window.orderBy("id").rowsBetween(-5, 0)
print("begun", flush=True)
import sys; print("begun", file=sys.stderr, flush=True)
{frame}
""")
        done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, timeout=300)
        assert (done.returncode, done.stdout) == (1, "begun\n"), done.stderr
        before, _, told = done.stderr.partition("begun\n")
        assert len(before.splitlines()) <= 4, before  # what Java itself prints
        lines = told.splitlines()
        assert len(lines) < 10, told
        assert lines[0] == "Traceback (most recent call last):"
        assert frame in lines[2]
        assert lines[-1].startswith("sash.errors.")
        assert sentence in lines[-1]
