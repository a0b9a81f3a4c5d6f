"""What docs/spark.md and docs/structured_streaming.md show runs."""

import doctest
import re
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

DOCS = Path(__file__).parents[2] / "docs"


def test_every_example_runs(spark):
    failed, tried = doctest.testfile(str(DOCS / "spark.md"), module_relative=False, optionflags=doctest.ELLIPSIS)
    assert tried
    assert not failed


def test_the_page_of_structured_streaming_runs(spark, tmp_path, capsys):
    start = datetime(2026, 11, 16, 8, tzinfo=UTC)
    loads = {"ts": [start + timedelta(minutes=minute) for minute in range(90)], "plug": ["a", "b", "c"] * 30}
    (tmp_path / "loads").mkdir()
    pq.write_table(pa.table(loads | {"load": [float(load) for load in range(90)]}), tmp_path / "loads" / "0.parquet")
    names = {"spark": spark, "folder": str(tmp_path)}
    for block in re.findall(r"```python\n(.*?)```", (DOCS / "structured_streaming.md").read_text(), re.DOTALL):
        exec(block, names)
    answers = spark.read.parquet(str(tmp_path / "answers")).toArrow().to_pylist()
    assert max(row["window_end"] for row in answers) == start + timedelta(minutes=88)
    assert spark.read.parquet(str(tmp_path / "good")).count() == len(answers)
    told = capsys.readouterr().out
    assert "on Spark: rows are moved to 4 shards of keys (spark.sql.shuffle.partitions)" in told
    assert "'late': 0" in told
