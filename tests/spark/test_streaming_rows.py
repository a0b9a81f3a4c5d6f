"""Each row of a streaming DataFrame leaves once, with the answers of a batch over all rows that were not late."""

import pyarrow as pa
import pytest
from pyspark.sql import functions as F

import sash
from sash import SashError, Window, col
from sash import functions as sf
from spark.test_streaming import Folder, events

BY_PLUG = Window.partitionBy("plug").orderBy("ts")
LAST_30 = BY_PLUG.rangeBetween("-30 seconds", 0)
COLUMNS = {
    "n": sf.count().over(LAST_30),
    "mid": sf.median("load").over(LAST_30.closed("left")),
    "kinds": sf.count_distinct("load").over(LAST_30),
    "ahead": sf.max("load").over(BY_PLUG.rangeBetween("-5 seconds", "5 seconds")),
    "five": sf.avg("load").over(BY_PLUG.rowsBetween(-4, 0)),
    "total": sf.sum("load").over(BY_PLUG.rangeBetween(Window.unboundedPreceding, 0)),
    "number": sf.row_number().over(BY_PLUG),
    "off": col("load") - sf.avg("load").over(LAST_30),
    "high": sf.count().filter("load % 10 > 4").over(LAST_30),
}


@pytest.fixture
def folder(spark, tmp_path):
    spark.conf.set("spark.sql.shuffle.partitions", "2")
    yield Folder(spark, tmp_path)
    spark.conf.set("spark.sql.shuffle.partitions", "4")


def watermarked(folder, at_once=1):
    return folder.stream(at_once).withWatermark("ts", "10 seconds")


def by_place(rows):
    return sorted(rows, key=lambda row: row["at"])


def answered(found):
    """The rows that left, and those that were late, by their number in the stream."""
    late = {row["late"]["row"]["at"] for row in found if row["late"] is not None}
    left = [{name: value for name, value in row.items() if name != "late"} for row in found if row["late"] is None]
    return by_place(left), late


def test_rows_leave_with_the_answers_of_a_batch(folder):
    """Through restarts, late rows and rows that follow; a row leaves when the watermark is behind what it waits for."""
    rows = events(200, disorder=30)
    folder.add(rows.slice(0, 100), 2)
    for _ in range(2):
        folder.run(sash.withColumns(watermarked(folder), COLUMNS, late=True))
        if folder.files == 2:
            folder.add(rows.slice(100), 2)
    left, late = answered(folder.found())
    assert len(left) > 120
    assert late
    stays = rows.filter(pa.array([at not in late for at in rows["at"].to_pylist()]))
    wanted = {row["at"]: row for row in sash.withColumns(stays, COLUMNS).to_pylist()}
    assert left == [wanted[row["at"]] for row in left]
    assert list(left[0]) == [*rows.column_names, *COLUMNS]
    waits = [row["ts"] for at, row in wanted.items() if at not in {row["at"] for row in left}]
    assert min(waits) > max(row["ts"] for row in left)


def test_early_rows_leave_as_they_come(folder):
    """Their answers are from what was there."""
    rows = events(60, disorder=4)
    folder.add(rows, 3)
    columns = {"n": sf.count().over(BY_PLUG.rangeBetween("-1 minute", 0))}
    folder.run(sash.withColumns(folder.stream(), columns, watermark="10 seconds", emit="early"))
    assert len(folder.found()) == 60
    first = [row for row in folder.found() if row["at"] < 20]
    assert by_place(first) == sash.withColumns(rows.slice(0, 20), columns).to_pylist()


def test_selected_and_without_a_key(folder):
    """Rows without a partition are of one shard; PySpark's columns are computed by Spark."""
    rows = events(80, disorder=2)
    folder.add(rows, 2)
    whole = Window.orderBy("ts").rangeBetween("-10 seconds", 0)
    many = sf.sum(sash.col("load")).filter("load > 10").over(whole)
    out = sash.select(watermarked(folder), col("at"), {"many": many, "double": sf.max(F.col("load") * 2).over(whole)})
    folder.run(out)
    columns = {"many": many, "double": sf.max(col("load") * 2).over(whole)}
    wanted = sash.select(rows, "at", columns).to_pylist()
    assert by_place(folder.found()) == wanted[: len(folder.found())]
    assert len(folder.found()) > 40


def test_what_is_refused(folder):
    stream, none = watermarked(folder), folder.stream()
    n = {"n": sf.count().over(LAST_30)}
    for columns, words in [
        ({"n": sf.count().over(BY_PLUG.rowsBetween(0, 2))}, "n: .* needs rows that follow by number"),
        (
            {"n": sf.count().over(Window.partitionBy("plug").orderBy("at"))},
            "time must be the column that has the watermark",
        ),
        ({"n": sf.count().over(Window.partitionBy("plug"))}, "n must have a window with orderBy of the event time"),
        ({"n": col("load") + 1}, "must be of windows over its rows, got none"),
        ({"n": sf.sum(sf.count().over(LAST_30)).over(LAST_30)}, "got one of another's answers"),
    ]:
        with pytest.raises(SashError, match=words):
            sash.withColumns(stream, columns)
    with pytest.raises(SashError, match="watermark must be given for a streaming DataFrame"):
        sash.withColumns(none, n)
    with pytest.raises(SashError, match="watermark must be the one that the DataFrame has"):
        sash.withColumns(stream, n, watermark="1 minute")
    with pytest.raises(SashError, match="emit must be one of final, early"):
        sash.withColumns(stream, n, emit="updates")
    with pytest.raises(SashError, match="rows leave behind the watermark"):
        sash.stream(sash.withColumns(stream, n), time="ts").query("q", sf.count(), range="1 minute")
