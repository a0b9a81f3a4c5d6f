"""Columns by way of dictionaries, which differ from chunk to chunk and hold NULL, answer as the values alone do."""

import datetime as dt

import pyarrow as pa
import pytest

import sash
from sash import Window
from sash import functions as sf
from sash.engine.spilling import answers

BY = Window.orderBy("i")
SMALL = pa.dictionary(pa.int8(), pa.string())


def coded(indices, values):
    return pa.DictionaryArray.from_arrays(pa.array(indices, pa.int32()), pa.array(values, pa.string()))


BOTH = coded([0, 1, None, 2], ["b", None, "a"])  # NULL among the values, and among the indices
OTHER = coded([1, 0, 1], ["c", "a"])
TWICE = coded([3, 2, 0, 1], ["a", None, None, "a"])
NONE, NULLS = coded([], []), coded([0, 0], [None])
CHUNKS = {
    "NULL in one": (BOTH, OTHER),
    "empty between": (BOTH, NONE, OTHER),
    "empty first": (NONE, BOTH, OTHER),
    "the same twice": (BOTH, BOTH),
    "NULL in all": (BOTH, TWICE, NULLS),
    "NULL alone": (NULLS, OTHER),
    "sliced": (BOTH.slice(1, 2), OTHER.slice(1), TWICE.slice(2)),
    "one": (BOTH,),
    "no rows": (NONE,),
}
ASKS = {
    "key": {"n": sf.count().over(Window.partitionBy("d")), "first": sf.min("i").over(Window.partitionBy("d"))},
    "order": {"rank": sf.rank().over(Window.orderBy("d")), "sum": sf.sum("i").over(Window.orderBy("d desc"))},
    "own order": {"first": sf.first_value("i").order_by("d desc", "i").over(BY)},
    "value": {
        "max": sf.max("d").over(BY), "n": sf.count("d").over(BY), "all": sf.collect_list("d").over(BY),
        "lag": sf.lag("d").over(BY), "first": sf.first_value("d").ignore_nulls().over(BY),
        "distinct": sf.count_distinct("d").over(BY), "set": sf.collect_set("d").over(BY),
        "mode": sf.mode("d").over(BY), "joined": sf.listagg("d", ",").over(BY), "by": sf.max_by("d", "i").over(BY),
        "best": sf.max_by("i", "d").over(BY), "middle": sf.percentile_disc("d", 0.5).over(BY),
    },
    "filter": {"n": sf.count().filter("d = 'a' or d is null").over(BY), "m": sf.max("i").filter("d > 'a'").over(BY)},
}  # fmt: skip


def tables(chunks):
    """Rows with a column of these chunks, and the same with its values as they are."""
    column = pa.chunked_array(list(chunks), chunks[0].type)
    times = [dt.datetime(2024, 1, 1, 0, 0, second) for second in range(len(column))]
    table = pa.table(
        {"d": column, "i": pa.array(range(len(column)), pa.int64()), "t": pa.array(times, pa.timestamp("us"))}
    )
    return table, table.set_column(0, "d", pa.array(column.to_pylist(), pa.string()))


@pytest.mark.parametrize("chunks", CHUNKS)
@pytest.mark.parametrize("asked", ASKS)
def test_frames(chunks, asked):
    table, plain = tables(CHUNKS[chunks])
    got, want = (sash.withColumns(rows, ASKS[asked]).drop_columns("d").to_pydict() for rows in (table, plain))
    assert got == want


@pytest.mark.parametrize("chunks", CHUNKS)
@pytest.mark.parametrize("pushed", [False, True], ids=["at once", "in batches"])
def test_streams(chunks, pushed):
    asked = {"n": sf.count("d"), "max": sf.max("d"), "all": sf.collect_list("d"), "as": sf.count().filter("d = 'a'")}
    found = []
    for rows in tables(CHUNKS[chunks]):
        for key in (None, "d"):
            board = sash.stream(rows.schema if pushed else rows, time="t", key=key)
            board = board.query(asked, range="4 seconds", slide="2 seconds")
            if not pushed:
                found.append(board.results().to_pydict())
                continue
            operator = board.open()
            parts = [operator.push(batch) for batch in rows.to_batches()] + [operator.close()]
            found.append([row for part in parts for row in part.to_pylist()])
    assert found[:2] == found[2:]


@pytest.mark.parametrize("chunks", CHUNKS)
def test_rows_in_files(chunks):
    columns = {"n": sf.count().over(Window.partitionBy("d")), "all": sf.collect_list("i").over(Window.partitionBy("d"))}

    def evaluate(rows):
        return sash.withColumns(rows, columns).select(list(columns))

    found = []
    for rows in tables(CHUNKS[chunks] * 2):
        batches = iter(rows.to_batches())
        parts = answers(batches, evaluate, ["d"], budget=12_700, bytes_per_row=1000)
        found.append([row for part in parts for row in part.to_pylist()])
    assert found[0] == found[1]


def test_more_values_than_an_index_counts():
    parts = [pa.array([f"{letter}{n}" for n in range(100)]).dictionary_encode().cast(SMALL) for letter in "ab"]
    table = pa.table({"d": pa.chunked_array(parts)})
    out = sash.withColumns(table, {"n": sf.count().over(Window.partitionBy("d")), "max": sf.max("d").over(Window)})
    assert out["n"].to_pylist() == [1] * 200
    assert out["max"].to_pylist() == ["b99"] * 200
