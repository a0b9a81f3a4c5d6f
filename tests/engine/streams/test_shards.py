"""Shards give what one operator gives: any tasks, any number of shards, any restart; their state stays small."""

from dataclasses import replace
from datetime import date
from decimal import Decimal

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sash
from engine.streams.stream_oracle import count_answers, same, time_answers
from engine.streams.test_windows import SCHEMA, check, microseconds, queries, rows, table, time_board
from sash import functions as sf
from sash.engine.streams.limits import Limits
from sash.engine.streams.logged import LoggedOperator
from sash.engine.streams.operator import Operator
from sash.engine.streams.scheme import Scheme
from sash.engine.streams.shard import Shard, ShardPlan
from sash.engine.streams.sharding import Share, shards_of
from sash.engine.streams.shipping import CELLS, Shipping
from sash.errors import SashError
from strategies import usually

END = 10**15


class Chunks(dict):
    """A store in memory, which counts what is written."""

    written = 0

    read = dict.__getitem__
    remove = dict.__delitem__

    def write(self, number, body):
        assert number not in self
        self[number] = body
        self.written += len(body)


class Job:
    """A query as Spark runs it: tasks ship rows, shards work, and what they keep is bytes in a store of their own."""

    def __init__(self, board, shards=2, emit="final", late=False, limits=None, fill=False):
        self.late, self.emit, self.limits, self.fill = late, emit, limits or Limits(), fill
        self.stores = [Chunks() for _ in range(shards)]
        self.written = []
        self.asked(board)

    def asked(self, board):
        """Ask these queries from here on."""
        scheme = Scheme(board._scheme.schema, replace(board._scheme.settings, grows=True), board._scheme.queries)
        self.plan_is(ShardPlan(scheme, board._slicer, self.emit, False, len(self.stores), fill=self.fill))

    def plan_is(self, plan):
        """Do this from here on."""
        self.plan = plan
        self.restart()

    def restart(self):
        """Forget all that is not kept."""
        self.shards = [None for _ in self.stores]

    def batch(self, tasks, watermark):
        """The answers to the rows of some tasks, the rows set aside, and how many came late."""
        shipping = self.plan.shipping(self.late, self.limits)
        bodies = [body._replace(task=task) for task, rows in enumerate(tasks) for body in shipping.bodies([rows])]
        given = []
        for k in range(len(self.stores)):
            given += self._work(k, [body for body in bodies if body.shard == k], watermark)
        self.seen = [shard.seen for shard in self.shards]
        answers, late = zip(*[self._none(), *given], strict=True)
        return pa.concat_tables(answers), pa.concat_tables(late), sum(seen.late for seen in self.seen)

    def _none(self):
        operator = self.plan.bucket(Share(), self.limits).operator
        return operator.answer_schema.empty_table(), operator.late()

    def _work(self, k, bodies, watermark):
        store = self.stores[k]
        if self.shards[k] is None:
            self.shards[k] = Shard(self.plan, self.limits)
            if "head" in store:
                self.shards[k].restore(store["head"], (watermark or 0) + 10)
        shard, before = self.shards[k], store.written
        assert shard.token == (Shard.token_of(store["head"]) if store else "")
        given = list(shard.work(bodies, watermark, store))
        store["head"] = shard.head
        self.written.append(len(shard.head) + store.written - before)
        assert shard.seen.size == sum(map(len, store.values()))
        return given


@st.composite
def disordered(draw):
    """Events of different times as they arrive, how far behind one may be, and where batches end and Spark restarts."""
    delay = draw(st.integers(0, 15))
    events = draw(st.lists(st.tuples(rows, st.integers(0, delay)), max_size=25, unique_by=lambda pair: pair[0]["ts"]))
    events.sort(key=lambda pair: pair[0]["ts"] + pair[1])
    cuts = sorted(draw(st.lists(st.integers(0, len(events)), max_size=5)))
    restarts = draw(st.lists(st.booleans(), min_size=len(cuts) + 1, max_size=len(cuts) + 1))
    return [event for event, _ in events], delay, cuts, restarts


def batches(events, cuts):
    return [events[start:stop] for start, stop in zip([0, *cuts], [*cuts, len(events)], strict=True)]


def moved(watermark, part, delay):
    """The watermark after a batch."""
    known = [event["ts"] - delay for event in part]
    return max([*known, *([] if watermark is None else [watermark])], default=None)


def run(job, arrived):
    """All answers, with the watermark where Spark has it: that of the batches before."""
    events, delay, cuts, restarts = arrived
    answers, watermark = [], None
    for part, restart in zip(batches(events, cuts), restarts, strict=True):
        if restart:
            job.restart()
        answers.append(job.batch([table(part[::2]), table(part[1::2])], watermark)[0])
        watermark = moved(watermark, part, delay)
    answers.append(job.batch([], END)[0])
    return pa.concat_tables(answers)


limits = st.builds(  # of a few rows, so that buckets split, answers leave in parts, and runs are merged
    Limits,
    memory=st.sampled_from([30_000, 60_000, 1 << 30]),
    rows=st.integers(1, 9),
    body=st.integers(20, 2_000),
    answers=st.integers(1, 9),
    piece=st.integers(1, 900),
    fan=st.integers(2, 5),
    few=st.sampled_from([0, 3, 1 << 12]),
)


@usually(60)
@given(disordered(), queries(), st.integers(1, 4), limits)
def test_windows_by_time(arrived, asked, shards, limits):
    job = Job(time_board(SCHEMA, asked, watermark=microseconds(arrived[1])), shards, limits=limits)
    check(run(job, arrived), time_answers(arrived[0], asked))
    assert all(seen.windows == 0 and seen.keys == 0 for seen in job.seen)


@usually(40)
@given(disordered(), queries(), st.integers(1, 3), limits)
def test_windows_by_count(arrived, asked, shards, limits):
    board = sash.stream(SCHEMA, time="ts", key="k", watermark=microseconds(arrived[1]))
    for name, (aggregate, length, slide) in asked.items():
        board = board.query(
            name, time_board(SCHEMA, {"q": (aggregate, 1, 1)})._queries[0].call, range=length, slide=slide
        )
    check(run(Job(board, shards, limits=limits), arrived), count_answers(arrived[0], asked, ordered=True))


LISTED = {
    "delta": (sash.delta("ts_again", 5), {"slide": sash.delta("ts_again", 3)}),
    "punctuation": (sash.punctuation("v > 2"), {}),
}


@usually(40)
@given(disordered(), st.sampled_from(list(LISTED)), st.sampled_from(["final", "changes"]), limits)
def test_windows_by_delta_and_punctuation(arrived, kind, emit, limits):
    events, delay, cuts, restarts = arrived
    length, slide = LISTED[kind]
    calls = {"n": sf.count(), "s": sf.sum("v"), "all": sf.collect_list("v")}

    def widened(rows):
        return rows.append_column("ts_again", rows["ts"].cast(pa.int64()))

    def board(source):
        return sash.stream(source, time="ts", key="k", watermark=microseconds(delay)).query(
            calls, range=length, **slide
        )

    job = Job(board(widened(table([])).schema), 2, emit, limits=limits)
    found, watermark = [], None
    for part, restart in zip(batches(events, cuts), restarts, strict=True):
        if restart:
            job.restart()
        found.append(job.batch([widened(table(part))], watermark)[0])
        watermark = moved(watermark, part, delay)
    found.append(job.batch([], END)[0])
    expected = board(widened(table(sorted(events, key=lambda row: row["ts"])))).results(emit=emit)
    key = lambda row: (str(row["k"]), str(row["window_end"]), str(row))  # noqa: E731
    assert sorted(pa.concat_tables(found).to_pylist(), key=key) == sorted(expected.to_pylist(), key=key)


@usually(60)
@given(
    st.lists(st.lists(rows, max_size=8), min_size=1, max_size=6), queries(), st.integers(0, 12), st.booleans(),
    st.sampled_from(["final", "changes", "updates"]), st.sets(st.integers(0, 5)), limits,
)  # fmt: skip
def test_late_rows_and_early_answers_are_those_of_one_operator(parts, asked, delay, whole, emit, restarts, limits):
    board = time_board(SCHEMA, asked, watermark=microseconds(delay))
    job, one = Job(board, 1, emit, whole, limits), Operator(board._scheme, board._slicer, emit=emit, arrival=False)
    one.unmoved()
    watermark, counted = None, 0
    for k, part in enumerate(parts):
        if k in restarts:
            job.restart()
        answers, late, count = job.batch([table(part)], watermark)
        one.absorb(table(part))
        expected = pa.concat_tables([one.answer_schema.empty_table(), *one.passing(watermark, Limits())])
        key = lambda row: str(row)  # noqa: E731
        assert sorted(answers.to_pylist(), key=key) == sorted(expected.to_pylist(), key=key)
        aside = one.late().to_pylist()
        assert count == one.late_count - counted == len(aside)
        if whole or board._scheme.buffered:
            assert sorted(late.to_pylist(), key=key) == sorted(aside, key=key)
        counted = one.late_count
        watermark = moved(watermark, part, delay)


def steady(board, steps, **options):
    """A job after so many batches of three keys, a second each."""
    job = Job(board, 1, **options)
    sizes = []
    for step in range(steps):
        events = [{"ts": step * 10**6 + at * 1000, "k": "abc"[at % 3], "v": at, "w": "x"} for at in range(100)]
        job.batch([table(events)], max(step - 2, 0) * 10**6 or None)
        sizes.append(job.seen[0].size)
    return job, sizes


def test_the_state_is_as_large_as_the_windows_and_a_batch_writes_what_it_brought():
    partials = {"n": sf.count(), "mean": sf.avg("v")}
    for calls in (partials, {**partials, "mid": sf.median("v")}):
        board = sash.stream(SCHEMA, time="ts", key="k", watermark="1 second")
        job, sizes = steady(board.query(calls, range="60 seconds", slide="1 second"), 400)
        assert max(sizes[200:]) < 1.5 * max(sizes[100:200])
        assert sum(job.written[200:]) / 200 < sizes[-1] / 4
        assert job.seen[0].keys == 3
        assert 3 * 60 <= job.seen[0].windows <= 3 * 66


def test_keys_that_are_idle_are_let_go():
    board = sash.stream(SCHEMA, time="ts", key="k", watermark="1 second").query("n", sf.count(), range="10 seconds")
    job, sizes = Job(board, 1), []
    for step in range(50):
        events = [{"ts": step * 10**7, "k": f"{step} {at}", "v": 1, "w": "x"} for at in range(2000)]
        job.batch([table(events)], step * 10**7 - 1 if step else None)
        sizes.append(job.seen[0].size)
    assert job.seen[0].keys <= 4000
    assert len(job.shards[0].buckets[Share()].operator.state.keys) < 10_000
    assert max(sizes[25:]) <= 1.1 * max(sizes[:25])


def test_a_query_that_is_added_answers_from_its_first_whole_window_on():
    first = sash.stream(SCHEMA, time="ts", key="k", watermark="0 seconds").query(
        "mean", sf.avg("v"), range="6 seconds", slide="2 seconds"
    )
    both = first.query("spread", sf.stddev("v"), range="5 seconds", slide="1 second").query(
        "n", sf.max("w"), range="6 seconds", slide="2 seconds"
    )
    job, rows, found, watermark = Job(first), [], [], None
    for step in range(40):
        if step == 20:
            job.asked(both)
        events = [
            {"ts": step * 10**6 + at * 10**5, "k": "ab"[at % 2], "v": step * at % 7, "w": str(at)} for at in range(9)
        ]
        found += job.batch([table(events)], watermark)[0].to_pylist()
        rows += events
        watermark = events[-1]["ts"]
        if step % 3 == 0:
            job.restart()
    found += job.batch([], END)[0].to_pylist()
    expected = time_answers_of(rows, both)
    added = {}
    for row in found:
        where = row["k"], row["window_end"]
        added[where] = {**added.get(where, {}), **{name: row[name] for name in ("mean", "spread", "n") if name in row}}
    seen = 19.8
    for where, row in expected.items():
        end = where[1].timestamp()
        mine = added.pop(where, {})
        assert same(mine.get("mean"), row["mean"])
        whole = {"spread": end - 5 > seen, "n": end - 6 > seen}
        for name in ("spread", "n"):
            assert same(mine.get(name), row[name] if whole[name] else None), (where, name)
    assert not added


def time_answers_of(rows, board):
    """What the board gives for all rows as a table, by key and end."""
    asked = sash.stream(table(rows), time="ts", key="k")
    for query in board._queries:
        asked = asked.query(query.name, query.call, range=str(query.extent.range), slide=str(query.extent.slide))
    return {(row["k"], row["window_end"]): row for row in asked.results().to_pylist()}


def test_other_queries_are_refused_with_what_changed():
    def board(call=None, length="6 seconds", name="mean", **settings):
        stream = sash.stream(SCHEMA, **({"time": "ts", "key": "k", "watermark": "0 seconds"} | settings))
        return stream.query(name, call or sf.avg("v"), range=length)

    events = table([{"ts": 5, "k": "a", "v": 1, "w": "x"}])
    job = Job(board())
    job.batch([events], None)
    for other, words in [
        (board(sf.sum("v")), "query mean is sum(v) over range 6 seconds, slide 6 seconds and was avg(v)"),
        (board(name="other"), "query mean (avg(v) over range 6 seconds, slide 6 seconds) is gone"),
        (board(key="w"), "key is w of type string and was k of type string"),
        (board(offset="1 second"), "offset is 1 second and was 0 seconds"),
        (
            sash.stream(SCHEMA, time="ts", key="k", watermark="0 seconds").query("mean", sf.avg("v"), range=5),
            "windows are by count and was time",
        ),
    ]:
        job.asked(other)
        with pytest.raises(SashError) as refused:
            job.batch([events], 1)
        assert words in str(refused.value)
        assert "start with a new checkpointLocation" in str(refused.value)
    job.asked(board(watermark="9 seconds"))
    assert job.batch([events], END)[0].num_rows == 1
    more = Job(board())
    more.stores = [*job.stores, {}]
    more.asked(board())
    with pytest.raises(SashError, match=r"number of shards must stay .* 2, got 3: set sash.options.shards = 2"):
        more.batch([events], 1)


def test_a_bucket_that_is_split_keeps_cells_of_before_a_query_that_needs_rows():
    first = sash.stream(SCHEMA, time="ts", key="k", watermark="0 seconds").query("n", sf.count(), range="1000 seconds")
    both = first.query("mid", sf.median("v"), range="5 seconds")
    job = Job(first, shards=1)

    def events(start):
        return table([{"ts": start + at * 10**5, "k": f"k{at % 50}", "v": at % 7, "w": ""} for at in range(500)])

    job.batch([events(0)], None)
    job.limits = Limits(memory=200_000)
    job.asked(both)
    job.batch([events(60 * 10**6)], 50 * 10**6)
    assert len(job.shards[0].heads) > 1
    job.restart()
    answers = job.batch([table([])], END)[0].to_pylist()
    assert sum(row["n"] or 0 for row in answers) == 1000


def test_how_many_rows_came_is_sent_in_bounded_bodies():
    board = sash.stream(SCHEMA, time="ts", key="k", watermark="0 seconds").query("n", sf.count(), range="1 second")
    limits = replace(Limits(), body=1 << 14, rows=1000)
    shipping = Shipping(board._scheme, board._slicer, 1, False, limits)
    rows = table([{"ts": at * 10**6, "k": "a", "v": 1, "w": ""} for at in range(1000)])
    assert max(len(body.table) for body in shipping.bodies([rows] * 20)) < 4 * limits.body


def test_another_emit_is_refused():
    board = sash.stream(SCHEMA, time="ts", watermark="0 seconds").query("n", sf.count(), range="6 seconds")
    job = Job(board, 1)
    job.batch([table([second(1)])], None)
    job.emit = "changes"
    job.asked(board)
    with pytest.raises(SashError, match="emit is changes and was final"):
        job.batch([], 1)


@pytest.mark.parametrize("slicer", ["panes", "pairs"])
def test_the_slicer_the_algorithm_starts_and_the_watermark_are_free(slicer):
    def board(source=SCHEMA, **settings):
        how = {"using": settings.pop("using", None)}
        stream = sash.stream(source, time="ts", key="k", **settings)
        stream = stream.query("most", sf.max("v"), range="6 seconds", slide="4 seconds", **how)
        return stream.query("mid", sf.median("v"), range="9 seconds", slide="3 seconds")

    rows = [second(at, v=at * 7 % 13, k="ab"[at % 2]) for at in range(40)]
    job = Job(board(watermark="0 seconds", slicer=slicer), 1)
    found = job.batch([table(rows[:20])], None)[0].to_pylist()
    other = board(watermark="5 seconds", slicer={"panes": "pairs", "pairs": "panes"}[slicer], using="recalc")
    job.asked(other)
    job.plan = replace(job.plan, starts=True)
    found += job.batch([table(rows[20:])], 10 * 10**6)[0].to_pylist()
    found += job.batch([], END)[0].to_pylist()
    expected = board(table(rows)).results(starts=True).to_pylist()
    assert sorted(map(str, found)) == sorted(map(str, expected))


@pytest.mark.parametrize("longest", [(None, "30 seconds"), ("30 seconds", None), ("20 seconds", "30 seconds")])
def test_postpone_and_longest_of_spans_are_free(longest):
    schema = pa.schema({"since": pa.timestamp("us"), "ts": pa.timestamp("us"), "k": pa.string(), "v": pa.int64()})

    def board(source=schema, postpone="9 seconds", longest=None):
        stream = sash.stream(
            source, span=("since", "ts"), key="k", watermark="0 seconds", postpone=postpone, longest=longest
        )
        return stream.query("n", sf.count(), range="6 seconds", slide="3 seconds")

    rows = pa.table(
        {
            "since": pa.array([at * 10**6 for at in range(40)], pa.timestamp("us")),
            "ts": pa.array([(at + 1 + at % 7) * 10**6 for at in range(40)], pa.timestamp("us")),
            "k": ["ab"[at % 2] for at in range(40)],
            "v": list(range(40)),
        },
        schema=schema,
    )
    job = Job(board(longest=longest[0]), 1)
    found = job.batch([rows.slice(0, 20)], None)[0].to_pylist()
    job.asked(board(postpone="15 seconds", longest=longest[1]))
    found += job.batch([rows.slice(20)], 10 * 10**6)[0].to_pylist()
    found += job.batch([], END)[0].to_pylist()
    assert sorted(map(str, found)) == sorted(map(str, board(rows).results().to_pylist()))


def test_queries_that_changed_places_are_refused():
    stream = sash.stream(SCHEMA, time="ts", key="k", watermark="0 seconds")
    job = Job(stream.query("hi", sf.max("v"), range=3).query("lo", sf.min("v"), range=3))
    job.batch([table([])], None)
    job.asked(stream.query("lo", sf.min("v"), range=3).query("hi", sf.max("v"), range=3))
    with pytest.raises(SashError, match="the queries begin with lo, hi and began with hi, lo"):
        job.batch([table([])], 1)


def test_a_time_of_another_zone_is_refused():
    def board(zone):
        schema = SCHEMA.set(0, pa.field("ts", pa.timestamp("us", zone)))
        return sash.stream(schema, time="ts", watermark="0 seconds").query("n", sf.count(), range="1 month")

    job = Job(board("UTC"))
    job.batch([], None)
    job.asked(board("Asia/Tokyo"))
    with pytest.raises(SashError, match=r"time is ts of type .*Tokyo.* and was ts of type .*UTC"):
        job.batch([], 1)


def second(at, v=1, k="a"):
    return {"ts": at * 10**6, "k": k, "v": v, "w": "x"}


def test_a_query_that_is_added_with_a_shorter_watermark_waits_for_windows_that_no_row_came_before():
    def board(delay):
        return sash.stream(SCHEMA, time="ts", watermark=delay).query("n", sf.count(), range="10 seconds")

    job = Job(board("60 seconds"))
    job.batch([table([second(at, at) for at in range(101)])], None)
    job.asked(board("1 second").query("most", sf.max("v"), range="10 seconds"))
    answers, _, late = job.batch([table([second(71), second(150, 150)])], 40 * 10**6)
    found = answers.to_pylist() + job.batch([], END)[0].to_pylist()
    ends = {row["window_end"].timestamp(): (row["n"], row["most"]) for row in found}
    assert ends[80] == (11, None)
    assert ends[160] == (1, 150)
    assert late == 0


def test_a_query_that_is_added_makes_no_rows_and_no_late_ones_of_before():
    board = sash.stream(SCHEMA, time="ts", watermark="0 seconds").query("one", sf.count(), range="1 second")
    job = Job(board, 1)
    job.batch([table([second(100)])], None)
    job.asked(board.query("ten", sf.count(), range="10 seconds", slide="1 second"))
    answers, _, late = job.batch([table([second(100)])], 100 * 10**6)
    found = answers.to_pylist() + job.batch([table([second(100)])], 102 * 10**6)[0].to_pylist()
    assert [(row["window_end"].timestamp(), row["one"], row["ten"]) for row in found] == [(101, 3, None)]
    assert late == 0
    assert job.batch([table([second(100)])], 103 * 10**6)[2] == 1


def test_runs_stay_few_however_many_batches_come():
    board = sash.stream(SCHEMA, time="ts", key="k", watermark="0 seconds")
    job = Job(board.query("n", sf.count(), range="1 hour", slide="1 second"), 1)
    for step in range(700):
        job.batch([table([second(step, k=str(step % 7))])], step * 10**6 or None)
        assert len(job.shards[0].buckets[Share()].logs["runs"].runs) < 40
    assert sum(job.written) / 700 < 4000  # bytes, most of them the head's
    job.restart()
    assert job.batch([], END)[0].num_rows > 700


def test_merging_ends_whatever_the_width_of_rows(monkeypatch):
    merges = []
    condensed = LoggedOperator.condensed

    def counted(self, entries):
        merges.append(len(entries))
        assert len(merges) < 500  # it took no end where runs of a level were just below the size of a run
        return condensed(self, entries)

    monkeypatch.setattr(LoggedOperator, "condensed", counted)
    board = sash.stream(SCHEMA, time="ts", key="k", watermark="0 seconds").query("mid", sf.median("v"), range="1 hour")
    board = board.query("all", sf.max("w"), range="1 hour")
    for width in (1, 90, 400, 2_000, 9_000):
        limits, merges[:] = Limits(body=2_000, fan=3, few=0), []
        job = Job(board, 1, limits=limits)
        for step in range(8):
            rows = [second(at, v=at, k=str(at % 5)) | {"w": f"{step}-{at}".ljust(width)} for at in range(90)]
            job.batch([table(rows)], None)
        held = 8 * 90 * (width + 30)
        assert len(job.shards[0].buckets[Share()].logs["runs"].runs) < 4 * held / 2_000 + 20
        job.restart()
        assert sorted(job.batch([], END)[0]["mid"].to_pylist()) == [42.5, 43.5, 44.5, 45.5, 46.5]
        assert sum(job.written) < 6 * held + 8 * 60_000


def test_a_single_event_of_the_future_gives_answers_in_parts():
    board = sash.stream(SCHEMA, time="ts", key="k", watermark="0 seconds")
    board = board.query("n", sf.count(), range="90 seconds", slide="1 second")
    limits = Limits(answers=500)
    job = Job(board, 1, limits=limits)
    job.batch([table([second(100, k=str(key)) for key in range(200)])], None)
    shard, sizes = job.shards[0], []
    for answers, _ in shard.work([], END, job.stores[0]):
        sizes.append(answers.num_rows)
    assert sum(sizes) == 200 * 90
    assert max(sizes) <= 500
    assert len(sizes) < 2 * 200 * 90 / 500


def test_answers_that_list_rows_leave_by_their_bytes():
    board = sash.stream(SCHEMA, time="ts", key="k", watermark="0 seconds")
    board = board.query("all", sf.collect_list("w"), range="50 seconds", slide="1 second")
    job = Job(board, 1, limits=Limits(body=40_000))
    job.batch([table([second(at, k="a") | {"w": "x" * 1000} for at in range(100, 150)])], None)
    parts = [answers for answers, _ in job.shards[0].work([], END, job.stores[0])]
    assert sum(part.num_rows for part in parts) == 99
    assert all(part.num_rows == 1 or part.nbytes < 60_000 for part in parts)
    assert len(parts) > 30


def test_a_shard_that_is_larger_than_memory_is_worked_on_in_buckets():
    board = sash.stream(SCHEMA, time="ts", key="k", watermark="0 seconds").query("mid", sf.median("v"), range="1 hour")
    job = Job(board, 1, limits=Limits.of(200_000))
    rows = [second(at, v=at, k=str(at % 50)) for at in range(3_000)]
    most = 0
    for start in range(0, 3_000, 300):
        if start % 900 == 0:
            job.restart()
        job.batch([table(rows[start : start + 300])], 1)
        most = max(most, job.shards[0].in_memory)
    assert len(job.shards[0].heads) >= 4
    assert most < 200_000
    found = job.batch([], END)[0]
    assert dict(zip(found["k"].to_pylist(), found["mid"].to_pylist(), strict=True)) == {
        str(key): 1475 + key for key in range(50)
    }


def test_a_query_of_rows_that_is_added_over_the_same_windows_has_its_own():
    def board(*names):
        stream = sash.stream(SCHEMA, time="ts", key="k", watermark="0 seconds")
        return stream.query({name: sf.median("v") for name in names}, range="10 seconds", slide="5 seconds")

    job, found = Job(board("old"), 1), []
    job.batch([table([second(at, v=at) for at in range(7)])], None)
    job.asked(board("old", "new"))
    for start in (7, 14):
        part = [second(at, v=at) for at in range(start, start + 7)]
        found += job.batch([table(part)], (start - 1) * 10**6)[0].to_pylist()
    found += job.batch([], END)[0].to_pylist()
    assert all(row["new"] in (None, row["old"]) for row in found)
    assert any(row["new"] is not None for row in found)


def test_late_rows_of_a_bucket_that_leaves_memory_are_shown():
    board = sash.stream(SCHEMA, time="ts", key="k", watermark="0 seconds").query("mid", sf.median("v"), range="1 hour")
    job = Job(board, 1, late=True, limits=Limits.of(100_000))
    rows = [second(7200 + at, v=at, k=str(at % 40)) for at in range(2_500)]
    job.batch([table(rows)], None)
    assert len(job.shards[0].heads) > 2
    late = [second(5, v=at, k=str(at)) for at in range(40)]
    job.batch([], 7200 * 10**6)
    job.restart()
    _, shown, count = job.batch([table(late)], 7200 * 10**6)
    assert count == len(late)
    assert sorted(shown["v"].to_pylist()) == list(range(40))


def test_a_key_that_is_larger_than_memory_is_named():
    board = sash.stream(SCHEMA, time="ts", key="k", watermark="0 seconds").query("mid", sf.median("v"), range="1 hour")
    job = Job(board, 1, limits=Limits.of(40_000))
    said = r"the open windows of the key k = 'hot' have about .* kB, .* 39.1 kB: set sash.options.memory"
    with pytest.raises(SashError, match=said):
        job.batch([table([second(at, k="hot") for at in range(2_000)])], None)


def test_idle_keys_are_let_go_with_early_answers_too():
    board = sash.stream(SCHEMA, time="ts", key="k", watermark="0 seconds").query("n", sf.count(), range="10 seconds")
    job = Job(board, 1, "updates")
    sizes = []
    for step in range(20):
        answers = job.batch([table([second(step * 10, k=f"{step} {at}") for at in range(1000)])], step * 10**7 or None)[
            0
        ]
        assert answers["n"].to_pylist() == [1] * 1000
        sizes.append(job.seen[0].size)
    assert max(sizes[10:]) < 1.2 * max(sizes[:10])


def test_functions_that_changed_are_refused():
    def board(weight):
        scaled = sash.Aggregate(
            "scaled", lift=lambda x: x * weight, combine=lambda a, b: a + b, lower=lambda s: s, commutative=True
        )
        return sash.stream(SCHEMA, time="ts", watermark="0 seconds").query("s", scaled("v"), range="6 seconds")

    job = Job(board(2))
    job.batch([table([])], None)
    job.asked(board(2))
    job.batch([table([])], 1)
    job.asked(board(3))
    with pytest.raises(
        SashError, match=r"the functions of scaled\(v\) over range 6 seconds, slide 6 seconds in query s changed"
    ):
        job.batch([table([])], 2)


def test_damaged_state_is_found_out():
    board = sash.stream(SCHEMA, time="ts", watermark="0 seconds").query("n", sf.count(), range="6 seconds")
    job = Job(board, 1)
    job.batch([table([{"ts": 5, "k": "a", "v": 1, "w": "x"}])], None)
    job.stores[0]["head"] = job.stores[0]["head"][:-1] + b"?"
    job.restart()
    with pytest.raises(SashError, match="these bytes are damaged"):
        job.batch([], 1)
    job = Job(board, 1)
    job.batch([table([{"ts": 5, "k": "a", "v": 1, "w": "x"}])], None)
    job.stores[0][0] = job.stores[0][0][:-9] + b"?" * 9
    job.restart()
    with pytest.raises(SashError, match="a chunk of the log is damaged"):
        job.batch([], 1)


@pytest.mark.parametrize(
    "key",
    [[0.0, -0.0], [float("nan"), -float("nan")], [Decimal("1.50"), Decimal("1.5")], [True, True], [None, None],
     [date(2026, 1, 1)] * 2, [b"x", b"x"]],
)  # fmt: skip
def test_keys_that_are_equal_share_a_shard(key):
    rows = pa.table({"ts": pa.array([1, 2], pa.timestamp("us")), "k": key, "j": ["x", "x"]})
    for shards in (2, 7, 64):
        board = sash.stream(rows.schema, time="ts", key=["k", "j"], watermark="0 seconds").query(
            "n", sf.count(), range=9
        )
        bodies = Shipping(board._scheme, board._slicer, shards, False, Limits()).bodies([rows])
        assert len({body.shard for body in bodies if body.content}) == 1
        board = sash.stream(rows.schema, time="ts", key=["k", "j"], watermark="0 seconds")
        board = board.query("n", sf.count(), range="9 seconds")
        bodies = Shipping(board._scheme, board._slicer, shards, False, Limits()).bodies([rows])
        assert len({body.shard for body in bodies if body.content == CELLS}) == 1


@given(st.lists(st.one_of(st.none(), st.text(max_size=4)), max_size=20), st.integers(1, 9))
def test_a_key_has_one_shard_wherever_it_is(keys, shards):
    array = pa.array(keys, pa.string())
    found = shards_of([array], len(keys), shards).tolist()
    assert all(0 <= shard < shards for shard in found)
    for key, shard in zip(keys, found, strict=True):
        assert shards_of([pa.array(["x", key, None], pa.string()).slice(1, 1)], 1, shards).tolist() == [shard]
