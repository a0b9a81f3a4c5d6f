"""Sessions on shards are those of one operator: of any tasks, in any order, late or not, after any restart."""

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.streams.test_session_windows import (
    beyond,
    board_of,
    expected,
    gaps,
    late_sessions,
    marks_of,
    mixed_answers,
    mixed_queries,
    session_queries,
    shown,
)
from engine.streams.test_shards import END, Job, disordered, limits, run
from engine.streams.test_windows import SCHEMA, check, microseconds, table
from sash.engine.streams.limits import Limits
from sash.errors import SashError
from strategies import usually


@usually(60)
@given(disordered(), session_queries() | mixed_queries(), st.integers(1, 3), limits)
def test_sessions(arrived, asked, shards, limits):
    job = Job(board_of(SCHEMA, asked, watermark=microseconds(arrived[1])), shards, limits=limits)
    check(run(job, arrived), mixed_answers(arrived[0], asked))
    assert all(seen.windows == 0 and seen.keys == 0 for seen in job.seen)


@usually(80)
@given(beyond(), gaps, st.integers(0, 10), st.sets(st.integers(0, 8)), st.booleans(), st.booleans(), st.integers(1, 2),
       limits)  # fmt: skip
def test_rows_that_come_late(pushes, gap, delay, restarts, whole, holds_rows, shards, limits):
    asked = {"n": ("list", gap), "c": ("count", gap)} if holds_rows else {"c": ("count", gap), "s": ("sum", gap)}
    job = Job(board_of(SCHEMA, asked, watermark=microseconds(delay)), shards, late=whole, limits=limits)
    marks, answers, late, counted = [None, *marks_of(pushes, delay)][: len(pushes)], [], 0, 0
    for place, (push, mark) in enumerate(zip(pushes, marks, strict=True)):
        if place in restarts:
            job.restart()
        out, aside, count = job.batch([table(push[::2]), table(push[1::2])], mark)
        answers.append(out)
        late, counted = late + aside.num_rows, counted + count
    answers.append(job.batch([], END)[0])
    answered, rows = late_sessions(pushes, gap, marks)
    out = pa.concat_tables(answers)
    if holds_rows:
        assert shown(out) == expected(answered)
    else:
        found = [
            (str(row["k"]), round(row["window_end"].timestamp() * 1e6), row["c"], row["s"]) for row in out.to_pylist()
        ]
        assert sorted(found) == sorted((str(key), end, len(inside), sum(row["v"] for row in inside))
                                       for key, _, end, inside in answered)  # fmt: skip
    assert counted == len(rows)
    assert late == (len(rows) if whole or holds_rows else 0)


def test_what_is_kept_is_of_open_sessions_alone():
    job = Job(
        board_of(SCHEMA, {"c": ("count", 10), "n": ("median", 10)}, watermark=microseconds(0)), 1, limits=Limits(few=0)
    )
    sizes = []
    for start in range(0, 4000, 40):
        rows = [{"ts": start + 3 * k, "k": "a", "v": k, "w": None} for k in range(10)]
        job.batch([table(rows)], start - 40)
        sizes.append(sum(map(len, job.stores[0].values())))
    assert max(sizes[50:]) <= 1.5 * max(sizes[10:30])


def test_boards_with_sessions_take_no_query_in_later():
    job = Job(board_of(SCHEMA, {"c": ("count", 10)}, watermark=microseconds(0)), 1)
    job.batch([table([{"ts": 1, "k": "a", "v": 1, "w": None}])], None)
    job.asked(board_of(SCHEMA, {"c": ("count", 10), "s": ("sum", 10)}, watermark=microseconds(0)))
    with pytest.raises(
        SashError, match="query s is new, which only boards of windows by time, but for sessions, can take in later"
    ):
        job.batch([table([{"ts": 2, "k": "a", "v": 1, "w": None}])], 1)
