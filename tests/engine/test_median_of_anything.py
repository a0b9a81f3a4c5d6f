"""The median of what is no number: one of the values, and between two lengths of time their mean."""

import datetime as dt

import duckdb
import pyarrow as pa
import pytest

import sash
from sash import Window
from sash import functions as sf

VALUES = {
    "strings": ["b", "a", "b", "d", None, "c"],
    "booleans": [True, False, True, None, True, False],
    "bytes": [b"b", b"a", None, b"d", b"", b"c"],
    "times": [dt.time(hour) for hour in (1, 5, 2)] + [None, dt.time(3), dt.time(9)],
    "dates": [dt.date(2020, 1, day) for day in (1, 4, 2, 3, 9, 4)],
    "timestamps": [None, *(dt.datetime(2020, 1, day) for day in (4, 2, 3, 9, 4))],
    "lengths": [dt.timedelta(1), dt.timedelta(4), None, dt.timedelta(2), dt.timedelta(9), dt.timedelta(0, 1)],
}
SO_FAR = Window.orderBy("y").rowsBetween(-3, 0)


@pytest.mark.parametrize("kind", VALUES)
def test_it_is_one_of_the_values(kind):
    table = pa.table({"y": range(6), "x": VALUES[kind]})
    found = sash.withColumns(table, {"a": sf.median("x").over(SO_FAR), "d": sf.percentile_disc("x", 0.5).over(SO_FAR)})
    assert found["a"].type == table["x"].type
    if kind == "lengths":
        query = "select median(x) over (order by y rows 3 preceding) from table_ order by y"
        duck = duckdb.connect().register("table_", table).execute(query).fetchall()
        assert found["a"].to_pylist() == [row[0] for row in duck]
    else:
        assert found["a"].to_pylist() == found["d"].to_pylist()


def test_lengths_of_time_lie_between_two_and_have_a_deviation():
    table = pa.table({"y": range(6), "x": VALUES["lengths"]})
    found = sash.withColumns(
        table, {"q": sf.percentile_cont("x", [0.0, 0.25]).over(SO_FAR), "m": sf.mad("x").over(SO_FAR)}
    ).to_pylist()
    assert found[1]["q"] == [dt.timedelta(1), dt.timedelta(1, 18 * 3600)]
    assert [row["m"] for row in found[:3]] == [dt.timedelta(0), dt.timedelta(1, 43200), dt.timedelta(1, 43200)]
