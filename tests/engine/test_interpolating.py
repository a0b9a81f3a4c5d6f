"""Values between known ones: what pandas and polars fill in."""

from datetime import datetime, timedelta

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import sash
from sash import Window
from sash import functions as sf

RANDOM = np.random.default_rng(2)
AT = np.cumsum(RANDOM.integers(1, 9, 60))
ROWS = pa.table(
    {
        "ts": [datetime(2026, 1, 1) + timedelta(seconds=int(at)) for at in AT],
        "at": AT,
        "k": RANDOM.integers(0, 3, 60),
        "x": pa.array(RANDOM.normal(size=60), mask=RANDOM.random(60) < 0.6),
    }
)
ASKED = RANDOM.permutation(60)


def ours(call, window, rows=ROWS):
    return sash.withColumns(rows, {"answer": call.over(window)})["answer"].to_pandas()


@pytest.mark.parametrize("order", ["ts", "ts desc", "at"])
def test_pandas_fills_the_same_values_in(order):
    frame = ROWS.to_pandas()
    filled = [
        rows.set_index("ts")["x"].interpolate(method="time", limit_area="inside") for _, rows in frame.groupby("k")
    ]
    theirs = pd.concat(filled).sort_index().reset_index(drop=True)
    found = ours(sf.interpolate("x"), Window.partitionBy("k").orderBy(order), ROWS.take(ASKED)).to_numpy()
    np.testing.assert_allclose(found[np.argsort(ASKED)], theirs)


def test_polars_fills_the_same_values_in_by_another_column():
    theirs = pl.from_arrow(ROWS).select(pl.col("x").interpolate_by("at"))["x"].to_numpy()
    np.testing.assert_allclose(ours(sf.interpolate("x", by="at"), Window.orderBy("ts").rowsBetween(0, 0)), theirs)


def test_rows_that_a_filter_drops_are_not_known_and_known_values_stay():
    rows = pa.table({"at": [0, 1, 2, 2, 4], "x": [0.0, 99.0, None, 20.0, float("inf")], "ok": [1, 0, 1, 1, 1]})
    filled = ours(sf.interpolate("x").filter("ok = 1"), Window.orderBy("at"), rows)
    assert filled.tolist() == [0.0, 10.0, 20.0, 20.0, float("inf")]


@pytest.mark.parametrize("way", ["", " desc"])
def test_the_line_goes_from_end_to_end_of_a_type(way):
    ends = pa.table({"at": [-(2**63), -1, 2**63 - 1], "x": [1.0, None, 3.0]})
    assert ours(sf.interpolate("x"), Window.orderBy("at" + way), ends).tolist() == [1.0, 2.0, 3.0]
    most = 2.0**1023
    ends = pa.table({"at": [0, 1, 2, 3, 4], "x": [-most, None, None, None, most]})
    assert ours(sf.interpolate("x"), Window.orderBy("at" + way), ends).tolist() == [-most, -most / 2, 0, most / 2, most]


def test_a_value_is_carried_forth_as_far_as_the_frame_goes():
    window = Window.partitionBy("k").orderBy("ts")
    carried = ours(sf.last("x", ignorenulls=True), window.rowsBetween(Window.unboundedPreceding, 0))
    theirs = ROWS.to_pandas().groupby("k")["x"].ffill()
    np.testing.assert_array_equal(carried, theirs)
    limited = ours(sf.last("x", ignorenulls=True), window.rowsBetween(-1, 0))
    np.testing.assert_array_equal(limited, ROWS.to_pandas().groupby("k")["x"].ffill(limit=1))


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (lambda: sf.interpolate("x").over(Window), "needs an orderBy whose first key is the time"),
        (lambda: ours(sf.interpolate("ts"), Window.orderBy("at")), "interpolate takes columns of numbers"),
        (lambda: sash.stream(ROWS, time="ts").query("x", sf.interpolate("x"), range="1 hour"), "answers each row"),
    ],
)
def test_what_has_no_line_is_refused(wrong, said):
    with pytest.raises(sash.SashError, match=said):
        wrong()
