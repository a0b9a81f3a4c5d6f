"""Rows by weight: what NumPy says of weights that are no whole numbers, and what is refused."""

import numpy as np
import pyarrow as pa
import pytest

import sash
from sash import Window
from sash import functions as sf

RANDOM = np.random.default_rng(3)
ROWS = pa.table(
    {
        "k": RANDOM.integers(0, 3, 120),
        "o": RANDOM.integers(0, 40, 120),
        "x": RANDOM.integers(0, 15, 120) / 2,
        "w": RANDOM.random(120),
        "n": RANDOM.integers(0, 4, 120),
        "p": RANDOM.random(120),
    }
)
BY = Window.partitionBy("k").orderBy("o")


@pytest.mark.parametrize(
    "frame", [BY.rowsBetween(-9, 2), BY.rangeBetween(-5, 5), BY.rowsBetween(-6, 6).exclude("ties"), Window]
)
def test_numpy_says_the_same_of_a_share_of_the_weight(frame):
    asked = {
        "low": sf.percentile_disc("x", 0.3, weight="w").over(frame),
        "several": sf.percentile_disc("x", [0.1, 0.9], weight="w").over(frame),
        "own": sf.percentile_disc("x", "p", weight="w").over(frame),
        "xs": sf.collect_list("x").over(frame),
        "ws": sf.collect_list("w").over(frame),
    }
    for row in sash.withColumns(ROWS, asked).to_pylist():
        if not row["xs"]:
            assert row["low"] is None
            continue
        at = {
            share: np.quantile(row["xs"], share, weights=row["ws"], method="inverted_cdf")
            for share in (0.3, 0.1, 0.9, row["p"])
        }
        assert (row["low"], row["several"], row["own"]) == (at[0.3], [at[0.1], at[0.9]], at[row["p"]])


def test_whole_weights_beyond_what_doubles_count_are_exact():
    rows = pa.table({"x": [1.0, 2.0, 3.0], "n": [2**53, 1, 2**53]})
    assert sash.withColumns(rows, {"m": sf.median("x", "n").over(Window)})["m"].to_pylist() == [2.0] * 3


def test_rows_without_weight_and_nulls_do_not_count():
    rows = pa.table({"x": [1.0, 2.0, None, 9.0], "n": [0, 3, 5, None]})
    asked = {"m": sf.median("x", "n").over(Window), "none": sf.median("x", "n").filter("x < 2").over(Window)}
    answers = sash.withColumns(rows, asked)
    assert answers["m"].to_pylist() == [2.0] * 4
    assert answers["none"].to_pylist() == [None] * 4


def test_windows_of_streams_weigh_too():
    board = sash.stream(ROWS, key="k").query("m", sf.percentile_cont("x", 0.7, weight="n"), range=40)
    for row in board.results().to_pylist():
        rows = [each for each in ROWS.to_pylist() if each["k"] == row["k"]][row["window_end"] - 40 : row["window_end"]]
        values = np.repeat([each["x"] for each in rows], [each["n"] for each in rows])
        assert row["m"] == pytest.approx(np.quantile(values, 0.7))


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (
            lambda: sf.median("x", "w"),
            "weight of median must be a whole number in every row, got 0.*percentile_disc takes",
        ),
        (lambda: sf.median("x", -sash.col("n")), "weight must be 0 or more in every row, got -3"),
        (lambda: sf.median("x", sash.col("n") + 2**60), "weight must be less than 2\\^62 in all"),
        (lambda: sf.median("x", "n").distinct(), "median with a weight cannot be distinct"),
    ],
)
def test_what_is_no_weight_is_refused(call, said):
    with pytest.raises(sash.SashError, match=said):
        sash.withColumns(ROWS, {"m": call().over(Window)})
