"""With ``on_error="aside"`` a row with which a function fails is set aside, and the others are answered."""

from datetime import datetime, timedelta

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sash
from engine.streams.test_shards import END, Job
from sash import functions as sf

BIG = 2**62
START = datetime(2026, 11, 16, 8)


def lift(x):
    if x == 13:
        raise ValueError("thirteen")
    return x


def own(compiled=True, commutative=True):
    return sash.Aggregate("own", lift=lift, combine=lambda a, b: a + b, lower=lambda s: s, commutative=commutative,
                          compiled=compiled)  # fmt: skip


def table(values):
    times = pa.array([START + timedelta(minutes=k) for k in range(len(values))], pa.timestamp("us"))
    return pa.table({"ts": times, "v": pa.array(values, pa.int64()), "w": pa.array(map(str, values), pa.string())})


def boards(source, **settings):
    by_time = sash.stream(source, time="ts", on_error="aside", **settings)
    return {
        "own": by_time.query("s", own()("v"), range="5 minutes"),
        "plain": by_time.query("s", own(compiled=False)("v"), range="5 minutes"),
        "overflow": by_time.query("s", sf.sum(sash.col("v") * 4), range="5 minutes"),
        "rows": by_time.query({"s": sf.median(sash.col("v") * 4), "n": sf.count()}, range="5 minutes"),
        "ordered": by_time.query("s", own(commutative=False)("v"), range="5 minutes"),
        "counts": by_time.query("s", own(commutative=False)("v"), range=3, slide=1),
    }  # fmt: skip


KINDS = list(boards(table([])))


@pytest.mark.parametrize("kind", KINDS)
@given(st.lists(st.sampled_from([1, 2, 5, 13, BIG]), max_size=20), st.integers(1, 5))
def test_the_others_are_answered_as_if_the_poison_had_not_come(kind, values, size):
    poison = {"overflow": BIG, "rows": BIG}.get(kind, 13)
    values = [value for value in values if value in (poison, 1, 2, 5)]
    events = table(values)
    good = events.filter(pa.array([value != poison for value in values], pa.bool_()))
    expected = boards(good)[kind].results()
    board = boards(events)[kind]
    assert board.results(late=True).num_rows == expected.num_rows + len(values) - good.num_rows
    assert board.late()["w"].to_pylist() == [str(poison)] * (len(values) - good.num_rows)
    operator = boards(events.schema, watermark="0 seconds")[kind].open()
    answers = [operator.push(events.slice(start, size)) for start in range(0, len(values), size)]
    assert pa.concat_tables([*answers, operator.close()]).to_pylist() == expected.to_pylist()
    assert operator.late_count == len(values) - good.num_rows


@pytest.mark.parametrize("function", [sf.sum, sf.median])
def test_a_row_that_fails_holds_no_late_row_in_a_session(function):
    """Such a row is late, as if the other had not come, and is not lost between the two."""
    number = sash.col("w").cast("int")
    asked = sash.stream(table([]).schema, time="ts", watermark="0 seconds", on_error="aside")
    operator = asked.query("s", function(number), range=sash.session("3 minutes")).open()
    events = table(range(10)).set_column(2, "w", pa.array([*"0123", "poison", *"56789"]))
    operator.push(events.slice(6, 3))
    assert operator.push(events.take([4, 2])).num_rows == 0
    assert [(row["w"], row["reason"][:6]) for row in operator.late().to_pylist()] == [
        ("poison", "failed"),
        ("2", "late: "),
    ]
    assert operator.late_count == 2
    assert operator.close()["s"].to_pylist() == [21 if function is sf.sum else 7]


def test_the_reason_is_what_the_function_said():
    events = table([1, 13, 2, BIG])
    assert boards(events)["plain"].late()["reason"].to_pylist() == ["failed: ValueError: thirteen"]
    assert "a function of the aggregate own raised" in boards(events)["own"].late()["reason"][0].as_py()
    assert boards(events)["overflow"].late()["reason"].to_pylist() == [
        "failed: the answer does not fit its type, in v * 4"
    ]


def test_without_it_the_query_fails():
    for settings in ({}, {"on_error": "fail"}):
        board = sash.stream(table([1, 13]), time="ts", **settings).query("s", own()("v"), range="5 minutes")
        with pytest.raises(sash.SashError, match="a function of the aggregate own raised"):
            board.results()


@pytest.mark.parametrize("whole", [False, True])
@pytest.mark.parametrize("kind", ["own", "rows"])
def test_shards_set_it_aside_and_go_on(kind, whole):
    poison = 13 if kind == "own" else BIG
    job = Job(boards(table([]).schema, watermark="1 hour")[kind], 1, late=whole)
    found = [job.batch([table([1, poison, 2])], None), job.batch([table([5])], 1)]
    job.restart()
    found.append(job.batch([], END * 2))
    assert sum(late for _, _, late in found) == 1
    if whole or kind == "rows":
        assert pa.concat_tables([late for _, late, _ in found])["v"].to_pylist() == [poison]
    answers = pa.concat_tables([answers for answers, _, _ in found])
    assert answers["s"].to_pylist() == ([8] if kind == "own" else [8.0])


def test_what_cannot_be_set_aside_is_refused():
    with pytest.raises(sash.SashError, match="on_error='aside' is for events of one moment"):
        sash.stream(table([]), span=("ts", "ts"), on_error="aside").query("n", sf.count(), range="5 minutes")
    with pytest.raises(sash.SashError, match="on_error must be 'fail' or 'aside', got 'skip'"):
        sash.stream(table([]), time="ts", on_error="skip")
