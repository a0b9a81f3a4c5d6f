"""A checkpoint goes on with queries that are taken away, renamed and moved; the others answer as if nothing was."""

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sash
from engine.streams.stream_oracle import same, time_answers
from engine.streams.test_shards import Job, batches, limits, moved
from engine.streams.test_shards import disordered as arriving
from engine.streams.test_windows import CALLS, SCHEMA, microseconds, names, queries, sizes, table
from sash import functions as sf
from sash.errors import SashError
from strategies import usually

END = 10**15
stream = sash.stream(SCHEMA, time="ts", key="k", watermark="1 hour")


def board_of(asked, was=None):
    board = stream
    for name, (call, length, slide) in asked.items():
        former = (was or {}).get(name)
        board = board.query(name, CALLS[call], range=microseconds(length), slide=microseconds(slide), was=former)
    return board


@usually(80)
@given(arriving(), queries(), st.sets(st.tuples(names, sizes, sizes), max_size=3), st.data(), limits)
def test_queries_come_and_go_while_others_stay(arrived, asked, others, data, limits):
    events, delay, cuts, _ = arrived
    called, guests = {name: name for name in asked}, sorted(others - set(asked.values()))
    job = Job(board_of(asked), 2, limits=limits)
    found, watermark = {}, None
    for number, part in enumerate([*batches(events, cuts), None]):
        given = job.batch([table((part or [])[::2]), table((part or [])[1::2])], END if part is None else watermark)[0]
        ends = given["window_end"].cast(pa.int64()).to_pylist()
        for row, end in zip(given.to_pylist(), ends, strict=True):
            found[row["k"], end] = {name: row[called[name]] for name in asked}
        watermark = moved(watermark, part or [], delay)
        if data.draw(st.booleans(), "restart"):
            was = {}
            if data.draw(st.booleans(), "rename"):
                name = data.draw(st.sampled_from(sorted(asked)))
                was[f"{name} {number}"], called[name] = called[name], f"{name} {number}"
            some = {f"guest {k}": guest for k, guest in enumerate(guests) if data.draw(st.booleans())}
            now = {called[name]: query for name, query in asked.items()} | some
            job.asked(board_of({name: now[name] for name in data.draw(st.permutations(list(now)))}, was))
    for where, row in time_answers(events, asked).items():
        assert all(same(found[where][name], value) for name, value in row.items()), (where, row, found[where])


def second(at, v=1, k="a"):
    return {"ts": at * 10**6, "k": k, "v": v, "w": "x"}


def seconds(*asked):
    board = sash.stream(SCHEMA, time="ts", key="k", watermark="0 seconds")
    for name, call in asked:
        board = board.query(name, call, range="10 seconds")
    return board


@pytest.mark.parametrize("other", [sf.avg("v"), sf.median("v")], ids=["partials", "rows"])
def test_a_query_that_is_taken_away_leaves_the_others_as_they_were(other):
    job = Job(seconds(("other", other), ("n", sf.count())), 1)
    job.batch([table([second(1), second(2)])], None)
    job.asked(seconds(("n", sf.count())))
    job.batch([table([second(3)])], 10**6)
    job.restart()
    answers = job.batch([], 20 * 10**6)[0]
    assert answers.column_names == ["k", "window_end", "n"]
    assert answers["n"].to_pylist() == [3]


def test_the_state_of_a_query_that_is_gone_is_gone():
    both = seconds(("list", sf.collect_list("w")), ("n", sf.count()))
    job = Job(both, 1)
    for at in range(300):
        job.batch([table([second(at % 10, at) | {"w": "x" * 1000}])], None)
    before = sum(map(len, job.stores[0].values()))
    job.asked(seconds(("n", sf.count())))
    job.batch([], 1)
    assert sum(map(len, job.stores[0].values())) < before / 20
    assert job.batch([], END)[0]["n"].to_pylist() == [300]


def test_a_query_goes_on_under_another_name():
    job = Job(seconds(("n", sf.count())), 1)
    job.batch([table([second(1), second(2)])], None)
    renamed = sash.stream(SCHEMA, time="ts", key="k", watermark="0 seconds").query(
        "rows", sf.count(), range="10 seconds", was="n"
    )
    for _ in range(2):  # what it was before may stay in the program
        job.asked(renamed)
        job.batch([table([second(3)])], 10**6)
    assert job.batch([], END)[0].to_pydict()["rows"] == [4]
    job = Job(seconds(("n", sf.count())), 1)
    job.batch([], None)
    job.asked(seconds(("rows", sf.count())))
    with pytest.raises(SashError, match=r"query n .* is gone, and rows asks the same: to go on with it, say was='n'"):
        job.batch([], 1)
    job.asked(sash.stream(SCHEMA, time="ts", key="k", watermark="0 seconds").query(
        "rows", sf.count(), range="10 seconds", was="m"))  # fmt: skip
    with pytest.raises(SashError, match="was of query rows must be a query of the checkpoint, which has n, got 'm'"):
        job.batch([], 1)


@pytest.mark.parametrize("call", [sf.sum("v"), sf.collect_list("v")], ids=["partials", "rows"])
def test_a_query_whose_windows_change_begins_with_the_first_whole_one(call):
    def board(length, slide):
        stream = sash.stream(SCHEMA, time="ts", watermark="0 seconds").query("n", sf.count(), range="10 seconds")
        return stream.query("all", call, range=length, slide=slide)

    events = [second(at, at) for at in range(60)]
    job = Job(board("10 seconds", "5 seconds"), 1)
    found = [job.batch([table(events[:24])], None)[0]]
    job.asked(board("7 seconds", "3 seconds"))
    for at in range(24, 60):
        found.append(job.batch([table(events[at : at + 1])], (at - 1) * 10**6)[0])
        job.restart()
    found.append(job.batch([], END)[0])
    rows = [(row["window_end"].timestamp(), row) for each in found[1:] for row in each.to_pylist()]
    some = {end: row["all"] for end, row in rows if row["all"] is not None}
    every = sash.stream(table(events), time="ts").query("all", call, range="7 seconds", slide="3 seconds").results()
    expected = {row["window_end"].timestamp(): row["all"] for row in every.to_pylist()}
    begun = min(some)
    assert 31 <= begun <= 37, "the first that begins behind all rows that came before"
    assert some == {end: answer for end, answer in expected.items() if end >= begun}
    assert [row["n"] for end, row in rows if end % 10 == 0] == [10] * 6


@pytest.mark.parametrize("emit", ["changes", "updates"])
def test_answers_that_were_given_are_those_of_their_query_wherever_it_is(emit):
    one, other = ("n", sf.count()), ("top", sf.max("v"))
    job = Job(seconds(one, other), 1, emit=emit)
    job.batch([table([second(1, 5), second(11, 5)])], None)
    first = job.batch([], 10 * 10**6)[0]
    job.asked(seconds(other, one))
    again = job.batch([], 20 * 10**6)[0]
    assert again.num_rows == 0, "nothing changed"
    assert first.num_rows == (1 if emit == "changes" else 0)
    job.asked(seconds(other))
    assert job.batch([table([second(21, 5)])], 20 * 10**6)[0].num_rows == (0 if emit == "changes" else 1)
    assert job.batch([table([second(31, 7)])], 30 * 10**6)[0].num_rows == (0 if emit == "changes" else 1)
    assert job.batch([], 40 * 10**6)[0].num_rows == (1 if emit == "changes" else 0)


def test_windows_that_are_known_by_their_place_stay_where_they_are():
    counting = sash.stream(SCHEMA, time="ts", key="k", watermark="0 seconds")
    both = counting.query("hi", sf.max("v"), range=3).query("lo", sf.min("v"), range=3)
    for other, words in [
        (counting.query("hi", sf.max("v"), range=3), "query lo .* is gone, which only boards of windows by time"),
        (counting.query("lo", sf.min("v"), range=3).query("hi", sf.max("v"), range=3), "the queries begin with lo, hi"),
    ]:
        job = Job(both, 1)
        job.batch([], None)
        job.asked(other)
        with pytest.raises(SashError, match=words):
            job.batch([], 1)
    job = Job(both, 1)
    job.batch([table([second(1, 4), second(2, 9)])], None)
    job.asked(counting.query("most", sf.max("v"), range=3, was="hi").query("lo", sf.min("v"), range=3))
    answers = job.batch([table([second(3, 7)])], END)[0]
    answers = pa.concat_tables([answers, job.batch([], END + 1)[0]])
    assert answers.select(["most", "lo"]).to_pylist() == [{"most": 9, "lo": 4}]


def test_spans_follow_no_other_slices():
    spans = sash.stream(SCHEMA.append(pa.field("end", pa.timestamp("us"))), span=("ts", "end"), postpone="1 second")
    one = spans.query("a", sf.count(), range="10 seconds")
    job = Job(one.query("b", sf.count(), range="7 seconds"), 1)
    job.batch([], None)
    job.asked(one)
    with pytest.raises(SashError, match="b cut slices elsewhere, which spans that are in them cannot follow"):
        job.batch([], 1)


def test_was_is_a_name_that_no_query_has():
    board = seconds(("n", sf.count()))
    with pytest.raises(SashError, match="was must be a name that no query has any more, got 'n'"):
        board.query("m", sf.count(), range="10 seconds", was="n")
    with pytest.raises(SashError, match="was must be names by names where there are several queries, got 'a'"):
        board.query({"x": sf.count(), "y": sf.max("v")}, range="10 seconds", was="a")
    with pytest.raises(SashError, match="was must be the name that z had before, got 'a'"):
        board.query({"x": sf.count(), "y": sf.max("v")}, range="10 seconds", was={"z": "a"})
    assert board.query({"x": sf.count(), "y": sf.max("v")}, range="10 seconds", was={"x": "a"})._queries[1].was == "a"
