"""Averages over time: what pandas, NumPy and their definitions say of the same rows, in frames and on streams."""

from datetime import datetime, timedelta

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import sash
from sash import Window
from sash import functions as sf

RANDOM = np.random.default_rng(5)
SECONDS = np.cumsum(RANDOM.integers(0, 9, 80))
NOON = datetime(2026, 1, 1, 12)
ROWS = pa.table(
    {
        "ts": [NOON + timedelta(seconds=int(s)) for s in SECONDS],
        "s": SECONDS,
        "k": RANDOM.integers(0, 2, 80),
        "x": pa.array(RANDOM.normal(size=80).round(3), mask=RANDOM.random(80) < 0.2),
    }
)
BY_TIME = Window.partitionBy("k").orderBy("ts")
SO_FAR = BY_TIME.rowsBetween(Window.unboundedPreceding, 0)
LAST_MINUTE = BY_TIME.rangeBetween("-1 minute", 0)


def per_key(answer):
    """What pandas answers for each key, in the order of the rows."""
    frame = ROWS.to_pandas()
    return pd.concat([answer(rows) for _, rows in frame.groupby("k")]).sort_index().to_numpy()


def ours(call, window, rows=ROWS):
    return sash.withColumns(rows, {"answer": call.over(window)})["answer"].to_numpy()


def weighted(times, values, half_life):
    """The definition: a row weighs half as much as one that is a half-life newer."""
    if not len(times):
        return None
    weights = 0.5 ** ((max(times) - np.array(times)) / half_life)
    return float((weights * values).sum() / weights.sum())


def test_weights_by_rows_are_those_of_pandas():
    theirs = per_key(lambda rows: rows["x"].ewm(halflife=3.5, ignore_na=True).mean())
    np.testing.assert_allclose(ours(sf.ewm_avg("x", half_life=3.5), SO_FAR), theirs)


@pytest.mark.parametrize("half_life", ["5 seconds", timedelta(seconds=5), "5s"])
def test_weights_by_time_are_those_of_pandas(half_life):
    theirs = per_key(lambda rows: rows.dropna()["x"].ewm(halflife="5s", times=rows.dropna()["ts"]).mean())
    asked = ROWS.filter(ROWS["x"].is_valid())
    np.testing.assert_allclose(ours(sf.ewm_avg("x", half_life), SO_FAR, asked), theirs)


@pytest.mark.parametrize("frame", [LAST_MINUTE, BY_TIME.rowsBetween(-3, 2), BY_TIME.rowsBetween(0, 9).exclude("group")])
@pytest.mark.parametrize("using", [None, "two_stacks", "segment_tree", "recalc"])
def test_frames_of_any_kind_agree_with_the_definition(frame, using):
    if using in ("two_stacks", "recalc") and frame.exclusion != "no others":
        return
    lists = {
        "xs": sf.collect_list("x").filter("x is not null").over(frame),
        "at": sf.collect_list("s").filter("x is not null").over(frame),
    }
    answered = sash.withColumns(
        ROWS, {**lists, "by_time": sf.ewm_avg("x", "7 seconds").over(frame, using=using),
               "by_number": sf.ewm_avg("x", 7, by="s").over(frame, using=using),
               "by_rows": sf.ewm_avg("x", 2).over(frame, using=using)}
    ).to_pylist()  # fmt: skip
    for row in answered:
        times, places = weighted(row["at"], row["xs"], 7), weighted(range(len(row["xs"])), row["xs"], 2)
        assert (row["by_time"], row["by_number"], row["by_rows"]) == pytest.approx((times, times, places))


def test_times_of_any_type_weigh_the_same():
    expected = ours(sf.ewm_avg("x", "1 day"), Window.orderBy("ts").rowsBetween(-9, 0), days := every_day())
    for dtype in (pa.date32(), pa.date64(), pa.timestamp("s"), pa.timestamp("ms", "Europe/Berlin"), pa.timestamp("ns")):
        cast = days.set_column(0, "ts", days["ts"].cast(dtype))
        np.testing.assert_array_equal(
            ours(sf.ewm_avg("x", "1 day"), Window.orderBy("ts").rowsBetween(-9, 0), cast), expected
        )


def every_day():
    """A row a day."""
    return pa.table({"ts": [datetime(2026, 1, 1) + timedelta(days=n) for n in range(30)], "x": RANDOM.normal(size=30)})


def test_the_newest_row_weighs_most_in_a_descending_order_too():
    back = ours(sf.ewm_avg("x", "5 seconds"), Window.orderBy("ts desc").rangeBetween("-1 minute", "1 minute"))
    forth = ours(sf.ewm_avg("x", "5 seconds"), Window.orderBy("ts").rangeBetween("-1 minute", "1 minute"))
    np.testing.assert_allclose(back, forth)


def areas(times, values, method):
    """The definition: what is below steps, or below straight lines."""
    if times[0] == times[-1]:
        return values[-1]
    heights = values[:-1] if method == "previous" else (np.array(values[:-1]) + values[1:]) / 2
    return float((np.diff(times) * heights).sum() / (times[-1] - times[0]))


@pytest.mark.parametrize("method", ["previous", "linear"])
def test_averages_of_points_weigh_them_by_how_long_they_hold(method):
    rows = ROWS.filter(ROWS["x"].is_valid())
    asked = {
        "xs": sf.collect_list("x").over(LAST_MINUTE),
        "at": sf.collect_list("s").over(LAST_MINUTE),
        "average": sf.time_weighted_avg("x", method).over(LAST_MINUTE),
        "by_number": sf.time_weighted_avg("x", method, by="s").over(LAST_MINUTE),
    }
    for row in sash.withColumns(rows, asked).to_pylist():
        expected = pytest.approx(areas(row["at"], row["xs"], method))
        assert (row["average"], row["by_number"]) == (expected, expected)
    if method == "linear":  # what NumPy says of all rows
        everything = sash.withColumns(rows, {"a": sf.time_weighted_avg("x", method, by="s").over(Window)})["a"][0]
        s, x = rows["s"].to_numpy(), rows["x"].to_numpy()
        assert everything.as_py() == pytest.approx(np.trapezoid(x, s) / (s[-1] - s[0]))


def test_a_value_holds_until_a_later_row_in_a_descending_order_too():
    rows = pa.table({"at": [0, 1, 10], "x": [1.0, 5.0, 9.0]})
    for order in ("at", "at desc"):
        answers = ours(sf.time_weighted_avg("x"), Window.orderBy(order).rowsBetween(-2, 2), rows)
        np.testing.assert_allclose(answers, (1 * 1.0 + 9 * 5.0) / 10)


@pytest.mark.parametrize("cut", [1, 7, 80])
def test_windows_of_streams_answer_as_frames_do(cut):
    shuffled = ROWS.take(np.random.default_rng(cut).permutation(80))
    board = (
        sash.stream(shuffled.to_batches(max_chunksize=cut), time="ts", key="k")
        .query("ewm", sf.ewm_avg("x", "7 seconds"), range="1 minute", slide="10 seconds")
        .query("held", sf.time_weighted_avg("x", by="ts"), range="1 minute", slide="10 seconds")
    )
    answers = pa.concat_tables(board.results()).to_pylist()
    assert answers
    for row in answers:
        end = (row["window_end"] - NOON).total_seconds()
        inside = [each for each in ROWS.to_pylist() if each["k"] == row["k"] and end - 60 <= each["s"] < end]
        points = [(each["s"], each["x"]) for each in inside if each["x"] is not None]
        at, xs = zip(*points, strict=True) if points else ((), ())
        assert row["ewm"] == pytest.approx(weighted(at, xs, 7))
        if len(set(at)) == len(at):  # rows of one time are in no order on a stream
            assert row["held"] == pytest.approx(areas(at, xs, "previous") if xs else None)


def test_counted_windows_of_streams_weigh_by_rows():
    board = sash.stream(ROWS, key="k").query("ewm", sf.ewm_avg("x", 2), range=5, slide=1)
    answers = board.results().to_pandas()
    frame = ROWS.to_pandas()
    for key, rows in frame.groupby("k"):
        windows = [window.dropna() for window in rows["x"].rolling(5, min_periods=0)]
        theirs = np.array([weighted(range(len(xs)), xs, 2) for xs in windows], float)
        np.testing.assert_allclose(answers[answers["k"] == key]["ewm"].head(len(theirs)), theirs)


def test_each_row_of_a_stream_leaves_with_its_average():
    batches = ROWS.to_batches(max_chunksize=9)
    streamed = sash.withColumns(batches, {"a": sf.ewm_avg("x", "7 seconds").over(LAST_MINUTE)})
    expected = sash.withColumns(ROWS, {"a": sf.ewm_avg("x", "7 seconds").over(LAST_MINUTE)})
    key = [("s", "ascending"), ("k", "ascending"), ("x", "ascending")]
    got, wanted = (table.sort_by(key)["a"].to_numpy() for table in (pa.concat_tables(streamed), expected))
    np.testing.assert_allclose(got, wanted)


def test_frames_of_polars_and_pandas_get_the_same():
    expected = ours(sf.ewm_avg("x", "7 seconds"), LAST_MINUTE)
    asked = {"a": sf.ewm_avg("x", "7 seconds").over(LAST_MINUTE)}
    np.testing.assert_array_equal(sash.withColumns(pl.from_arrow(ROWS), asked)["a"].to_numpy(), expected)
    np.testing.assert_array_equal(sash.withColumns(ROWS.to_pandas(), asked)["a"].to_numpy(), expected)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (lambda: sf.ewm_avg("x", "5 seconds").over(Window), "needs an orderBy whose first key is the time"),
        (lambda: ours(sf.ewm_avg("x", 5, by="ts"), SO_FAR), "half_life must be an interval .* got 5"),
        (lambda: ours(sf.ewm_avg("x", "5 seconds", by="s"), SO_FAR), "half_life must be a number, as the times are"),
        (lambda: sf.ewm_avg("x", 0), "half_life must be above zero, got 0"),
        (lambda: sf.ewm_avg("x", "1 month"), "half_life must have a fixed length, got 1 month; say it in days"),
        (lambda: sf.ewm_avg("x", sash.col("h")), "half_life must be a number of rows or an interval"),
        (lambda: sf.time_weighted_avg("x", "cubic"), 'method must be "previous" or "linear", got \'cubic\''),
        (lambda: sash.stream(ROWS).query("a", sf.ewm_avg("x", "5 seconds"), range=5), "give the stream a time="),
        (lambda: ours(sf.ewm_avg("ts", 2), SO_FAR), "ewm_avg takes columns of numbers, got timestamp"),
    ],
)
def test_what_cannot_be_weighed_is_refused(wrong, said):
    with pytest.raises(sash.SashError, match=said):
        wrong()
