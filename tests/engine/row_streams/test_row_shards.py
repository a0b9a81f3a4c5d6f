"""Shards give the rows of a stream what a batch gives them: any tasks, any number of shards, any restart."""

from dataclasses import replace

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.row_streams.histories import BY_KEY, RECENT, expected, history, rows_of, same
from engine.row_streams.row_job import RowJob
from sash import SashError
from sash import functions as sf
from sash.engine.row_streams.row_operator import RowOperator
from sash.engine.row_streams.row_shards import RowShardPlan
from sash.engine.streams.assigners.base import MOST
from sash.engine.streams.limits import Limits
from strategies import usually

limits = st.builds(  # some in which buckets split, answers leave in parts, and runs are merged
    Limits,
    memory=st.sampled_from([120_000, 1 << 30]),
    rows=st.integers(1, 9),
    body=st.integers(20, 2_000),
    piece=st.integers(1, 900),
    fan=st.integers(2, 5),
    few=st.sampled_from([0, 3, 1 << 12]),
)
COUNT = {"count": sf.count().over(RECENT)}


def run(history, job, restarts=0.3):
    """All rows that leave, and those that were late; the watermark is that of the batches before, as Spark has it."""
    out, late, watermark = [], [], None
    delay = history.seconds * 1_000_000
    for batch in history.batches:
        if history.random.random() < restarts:
            job.restart()
        half = history.random.randint(0, batch.num_rows)
        answers, aside, _ = job.batch([batch.slice(0, half), batch.slice(half)], watermark)
        out.append(answers)
        late.append(aside)
        if batch.num_rows:
            watermark = max(watermark or 1, max(batch["ts"].cast(pa.int64()).to_pylist()) - delay)
    answers, aside, _ = job.batch([], MOST)
    return pa.concat_tables([*out, answers]), pa.concat_tables([*late, aside])


def moved(history, seconds=1000):
    """The same rows so many seconds later: Spark's watermarks are of times after 1970."""
    later = []
    for batch in history.batches:
        ts = pa.array(batch["ts"].cast(pa.int64()).to_numpy() + seconds * 1_000_000).cast(pa.timestamp("us"))
        later.append(batch.set_column(0, "ts", ts))
    history.batches = later
    return history


@usually(20)
@given(st.integers(0, 10**6), st.integers(1, 3), limits)
def test_each_row_leaves_once_with_the_answers_of_a_batch(seed, shards, limits):
    made = moved(history(seed))
    found, late = run(made, RowJob(made.scheme(), shards, limits))
    same(found, expected(made, late), made.columns)


@usually(8)
@given(st.integers(0, 10**6), limits)
def test_early_answers_are_those_of_one_operator(seed, limits):
    made, again = moved(history(seed)), moved(history(seed))
    found, _ = run(made, RowJob(made.scheme("early"), 2, limits))
    one, out, watermark = RowOperator(replace(again.scheme("early"), watermark=None)), [], None
    for batch in again.batches:
        one.absorb(batch)
        out.append(one.passed(watermark))
        if batch.num_rows:
            latest = max(batch["ts"].cast(pa.int64()).to_pylist()) - again.seconds * 1_000_000
            watermark = max(watermark or 1, latest)
    same(found, pa.concat_tables(out), made.columns)


def test_a_row_is_kept_whole_only_until_it_leaves():
    """What only passes, such as a long text, is not kept for as long as frames reach."""
    made = moved(history(7, {"n": sf.count().over(BY_KEY.rangeBetween("-1 hour", 0))}, many=150))
    made.batches = [
        batch.append_column("text", pa.array(["x" * 10_000] * batch.num_rows, pa.string())) for batch in made.batches
    ]
    job = RowJob(made.scheme(), 1)
    for batch in made.batches:
        job.batch([batch], None)
    whole = sum(map(len, job.stores[0].values()))
    job.batch([], 10**10)
    assert job.seen[0].windows == 0
    assert whole > 10_000 * made.rows.num_rows
    assert sum(map(len, job.stores[0].values())) < 20_000


def test_other_columns_cannot_go_on_with_what_was_kept():
    made = moved(history(1, COUNT))
    job = RowJob(made.scheme(), 1)
    job.batch([made.rows], None)
    for columns, words in [
        ({"count": sf.count("v").over(RECENT)}, r"column count is count\(v\) .* and was count\(\)"),
        ({"more": sf.sum("v").over(RECENT)} | COUNT, r"column more .* is new"),
    ]:
        job.asked(replace(job.scheme, columns=columns))
        with pytest.raises(SashError, match=f"the checkpoint is of other columns: {words}"):
            job.batch([], 10**10)
    with pytest.raises(SashError, match="the number of shards must stay"):
        RowShardPlan(job.scheme, 2, ()).continued(
            job.plan.description(), RowShardPlan(job.scheme, 2, ()).description(), 0
        )
    with pytest.raises(SashError, match="the checkpoint is of a board"):
        job.plan.continued({"shards": 1}, job.plan.description(), 0)


def test_a_key_that_does_not_fit_memory_is_an_error_that_says_so():
    made = moved(history(3, {"n": sf.count().over(BY_KEY.rangeBetween("-1 day", 0))}, many=150))
    job = RowJob(made.scheme(), 1, Limits(memory=3_000))
    with pytest.raises(SashError, match=r"the rows of the key k = .* have frames reach less far"):
        run(made, job)


def test_rows_come_back_as_they_went():
    """All columns, in their order, with the answers behind them."""
    made = moved(history(5, COUNT, many=40))
    found, late = run(made, RowJob(made.scheme()))
    assert found.column_names == [*made.rows.column_names, "count"]
    came = found.select(made.rows.column_names)
    assert rows_of(pa.concat_tables([came, late.drop_columns(late.column_names[-1:])])) == rows_of(made.rows)
