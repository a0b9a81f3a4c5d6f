"""What the pages show that need Spark runs: those that say ``spark``, or ask in SQL."""

import os
import re
import subprocess
import sys
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

import pages
from sessions import HERE, PATIENCE

START = datetime(2026, 11, 16, 8, tzinfo=UTC)


@dataclass(frozen=True)
class Reader:
    """A session that reads files of a folder; Spark itself looks where its JVM was started."""

    spark: SparkSession
    folder: Path

    @property
    def read(self):
        return self

    def parquet(self, name):
        return self.spark.read.parquet(str(self.folder / name))


def trades(spark, folder):
    """A session that finds the trades that the README reads."""
    rows = [(START + timedelta(minutes=place), "A", f"u{place % 3}", 5.0 + place % 4) for place in range(20)]
    columns = dict(zip(("ts", "symbol", "user", "price"), zip(*rows, strict=True), strict=True))
    columns |= {"ask": [6.0] * len(rows), "bid": [5.0] * len(rows)}
    pq.write_table(pa.table(columns), folder / "trades")
    return {"spark": Reader(spark, folder)}


def calls(spark, folder):
    """Calls with a start and an end."""
    columns = "start timestamp, end timestamp, antenna string, bytes bigint"
    return {"df": spark.createDataFrame([(START, START + timedelta(minutes=7), "a", 300)], columns)}


def lengths(spark, folder):
    """Calls with the time at which they were made."""
    return {"df": spark.createDataFrame([(START, "a", 5.0)], "at timestamp, line string, len double")}


def orders(spark, folder):
    """Orders of users, in a folder that is a stream."""
    (folder / "orders").mkdir()
    rows = {"ts": [START + timedelta(minutes=minute) for minute in range(90)], "user": ["a", "b", "c"] * 30}
    rows |= {"amount": [1.0 + place for place in range(90)], "note": ["gift"] * 90}
    pq.write_table(pa.table(rows), folder / "orders" / "0.parquet")
    return {"folder": str(folder)}


PREPARED = {  # what the pages do not make
    "README.md": trades, "docs/spans.md": calls, "docs/streams.md": lengths, "docs/rows_of_streams.md": orders
}  # fmt: skip
OF_THEIR_OWN = [pages.DOCS / "structured_streaming.md"]  # pages with a test below


def commands(page):
    """What a page types at a prompt, and what it shows after it."""
    for block in pages.blocks(page):
        for typed in re.split(r"^\$ ", block.text, flags=re.MULTILINE)[1:]:
            command, _, shown = typed.partition('"\n' if '"' in typed else "\n")
            yield command, shown


@pytest.mark.parametrize("page", [each for each in pages.ON_SPARK if each not in OF_THEIR_OWN], ids=pages.named)
def test_every_example_runs(page, as_shipped, spark, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    made = PREPARED.get(pages.named(page), lambda spark, folder: {})(spark, tmp_path)
    pages.run(page, **{"spark": spark} | made)


def test_the_page_of_structured_streaming_runs(spark, tmp_path, capsys):
    rows = {"ts": [START + timedelta(minutes=minute) for minute in range(90)], "plug": ["a", "b", "c"] * 30}
    (tmp_path / "loads").mkdir()
    pq.write_table(pa.table(rows | {"load": [float(load) for load in range(90)]}), tmp_path / "loads" / "0.parquet")
    pages.run(OF_THEIR_OWN[0], spark=spark, folder=str(tmp_path))
    answers = spark.read.parquet(str(tmp_path / "answers")).toArrow().to_pylist()
    assert max(row["window_end"] for row in answers) == START + timedelta(minutes=88)
    assert spark.read.parquet(str(tmp_path / "good")).count() == len(answers)
    told = capsys.readouterr().out
    assert "on Spark: rows are moved to 4 shards of keys (spark.sql.shuffle.partitions)" in told
    assert "'late': 0" in told


def test_the_command_that_the_first_page_shows(tmp_path):
    (_, file), (command, shown) = commands(pages.DOCS / "start.md")
    (tmp_path / "trades.csv").write_text(file)
    name, words, query = command.split(maxsplit=2)
    run = subprocess.run(
        [str(Path(sys.executable).parent / name), words, query.strip('"')],
        cwd=tmp_path,
        env=os.environ | HERE,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )
    assert run.stdout.startswith(shown), run.stdout + run.stderr
