"""What the file alone tells is wrong is said before Spark is asked, all at once, each at its line."""

import subprocess
import sys

import pytest

from sash.errors import SashError
from sash.pipelines import load
from sash.pipelines.early import check_early, schema_of

FILE = '''\
imports = ["mine.py"]

[sources.loads]
path = "loads"
schema = "ts timestamp, plug string, load double"

[sources.others]
path = "others"

[[steps]]
name = "hourly"
from = "loads"
kind = "stream"
time = "ts"
key = ["plug"]
watermark = "10 seconds"
[[steps.queries]]
range = "1 hour"
slide = "5 minutes"
columns.peak = "max(load)"
columns.own = "geomean(load)"

[[steps]]
name = "unknown"
from = "others"
kind = "spans"
span = ["start", "end"]
postpone = "2 hours"
[[steps.queries]]
range = "15 minutes"
columns.n = "count(*)"

[[steps]]
name = "over"
from = "loads"
kind = "windows"
partition_by = ["plug"]
order_by = ["ts desc"]
frame = "range between '5 minutes' preceding and current row"
columns.middle = "median(load)"

[[steps]]
name = "asked"
sql = """
select plug,
       max(load) over w
from loads
window w as (order by ts)
"""

[[sinks]]
from = "hourly"
path = "out"
partition_by = ["plug"]
'''
OWN = "import sash\ngeomean = sash.Aggregate('geomean', lift=lambda x: x, combine=lambda a, b: a + b)\n"


@pytest.fixture
def early(tmp_path):
    def check(text, own=OWN):
        (tmp_path / "mine.py").write_text(own)
        (tmp_path / "p.toml").write_text(text)
        check_early(load(tmp_path / "p.toml"))

    return check


def test_a_file_that_is_right_is_let_through(early):
    early(FILE)


@pytest.mark.parametrize(
    ("old", "new", "line", "told"),
    [
        ('time = "ts"', 'time = "tz"', 14, "there is no column 'tz'"),
        ('time = "ts"', 'time = "load"', 14, "time must be a column of timestamps or dates"),
        ('key = ["plug"]', 'key = ["plog"]', 15, "there is no column 'plog'"),
        ('"10 seconds"', '"10 secnds"', 16, "watermark takes whole numbers of"),
        ('"1 hour"', '"1 huor"', 18, "range takes whole numbers of"),
        ('"5 minutes"\ncol', '"5 mins ago"\ncol', 19, "slide takes whole numbers of"),
        ("max(load)", "max(lod)", 20, "there is no column 'lod'"),
        ("max(load)", "avg(plug)", 20, "avg takes columns of numbers, got string"),
        ("max(load)", "maxx(load)", 20, "there is no aggregate maxx"),
        ("geomean(load)", "geomean(plug)", 21, "geomean"),
        ('postpone = "2 hours"', 'postpone = "soon"', 28, "postpone takes whole numbers of"),
        ('"15 minutes"', '"15 minits"', 30, "range takes whole numbers of"),
        ("count(*)", "count(*", 31, "this ( is never closed"),
        ('partition_by = ["plug"]\norder', 'partition_by = ["plog"]\norder', 37, "there is no column 'plog'"),
        ("ts desc", "when desc", 38, "there is no column 'when'"),
        ("'5 minutes' preceding", "'5 minuts' preceding", 39, "the offset of a frame takes whole numbers"),
        ("between '5 minutes' preceding and current row", "between '5 minutes' and 0", 39, "a bound is"),
        ("median(load)", "median(load", 40, "is never closed"),
        ("max(load) over w\n", "max(load over w\n", 46, "this ( is never closed"),
        ("window w as (order by ts)", "window w as order by ts)", 48, "this ) closes nothing"),
        ('partition_by = ["plug"]\n', 'partition_by = ["middle"]\n', 54, "there is no column 'middle'; there are plug"),
    ],
)  # fmt: skip
def test_each_mistake_is_told_with_its_line(early, old, new, line, told):
    at = FILE.rindex(old) if line == 54 else FILE.index(old)
    with pytest.raises(SashError) as error:
        early(FILE[:at] + new + FILE[at + len(old) :])
    assert str(error.value).startswith(f"p.toml, line {line}: "), error.value
    assert told in str(error.value)
    assert "\nline " not in str(error.value)  # the file's lines are the only ones


def test_all_mistakes_are_told_at_once(early):
    wrong = FILE.replace('"1 hour"', '"1 huor"').replace("median(load)", "median(load").replace('"2 hours"', '"soon"')
    with pytest.raises(SashError) as error:
        early(wrong)
    assert [line.split(":")[0] for line in str(error.value).splitlines() if line.startswith("p.toml")] == [
        "p.toml, line 18", "p.toml, line 28", "p.toml, line 40"
    ]  # fmt: skip


def test_a_module_that_cannot_be_imported_is_told_first(early):
    with pytest.raises(SashError, match=r"p\.toml, line 1: mine\.py cannot be imported: ZeroDivisionError"):
        early(FILE, "1 / 0")


@pytest.mark.parametrize(
    ("text", "types"),
    [
        ("a int, b BIGINT not null, `c d` decimal(10, 2)", ["int32", "int64", "decimal128(10, 2)"]),
        ("at timestamp, on date, flat timestamp_ntz", ["timestamp[us, tz=UTC]", "date32[day]", "timestamp[us]"]),
        ("a: string, b: double", ["string", "double"]),
        ("a array<int>, b int", None),
        ("a struct<x: int, y: int>", None),
        ("a decimal(50, 2)", None),
        ("a", None),
    ],
)
def test_schemas_of_plain_types_are_read_without_spark(text, types):
    schema = schema_of(text)
    assert types == (None if schema is None else [str(dtype) for dtype in schema.types])


def test_check_needs_no_java_for_a_mistake_in_the_file(tmp_path):
    (tmp_path / "mine.py").write_text(OWN)
    (tmp_path / "p.toml").write_text(FILE.replace('"1 hour"', '"1 huor"'))
    code = (
        "import subprocess, sys\n"
        "def started(*args, **kwargs): raise AssertionError('something was started')\n"
        "subprocess.Popen = started\n"
        "sys.argv = ['sash', 'check', 'p.toml']\n"
        "from sash.cli import main; main()"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("p.toml, line 18: range takes whole numbers")
