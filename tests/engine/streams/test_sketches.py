"""Sketches of slices, merged at the edge: as near to the exact answer as they say, after a restart too."""

import numpy as np
import pyarrow as pa

import sash
from sash import functions as sf

ROWS = 20_000


def events():
    random = np.random.default_rng(7)
    users = random.zipf(1.4, ROWS) % 500
    return pa.table(
        {
            "ts": pa.array(np.arange(ROWS) * 1000).cast(pa.timestamp("us")),
            "k": pa.array(random.integers(0, 2, ROWS)),
            "v": pa.array(random.normal(size=ROWS), mask=random.random(ROWS) < 0.1),
            "user": pa.array([f"user {user}" for user in users]),
        }
    )


def test_sketches_of_stream_windows():
    window = {"range": "8 seconds", "slide": "2 seconds"}
    board = sash.stream(events(), time="ts", key="k", watermark="0 seconds")
    board = board.query({"p": sf.kll_percentile("v", 0.9), "rank": sf.percentile_disc("v", 0.9)}, **window)
    board = board.query({"n": sf.hll_count_distinct("user"), "exact": sf.count_distinct("user")}, **window)
    board = board.query({"top": sf.frequent_items("user", 1), "mode": sf.mode("user")}, **window)
    answers = board.results()
    operator = board.open()
    answers_of_parts = []
    for start in range(0, ROWS, 3000):
        answers_of_parts.append(operator.push(events().slice(start, 3000)))
        state = operator.snapshot()
        operator = board.open()
        operator.restore(state)
    answers_of_parts.append(operator.close())
    for found in (answers, pa.concat_tables(answers_of_parts)):
        assert found.num_rows == answers.num_rows == 2 * 13
        for row in found.to_pylist():
            assert abs(row["p"] - row["rank"]) < 0.2
            assert abs(row["n"] - row["exact"]) <= 0.1 * row["exact"]
            assert row["top"][0]["item"] == row["mode"]
    assert board.explain().chosen["p"] == "two_stacks"
