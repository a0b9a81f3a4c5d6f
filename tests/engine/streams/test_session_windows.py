"""Sessions, found by merging in plain Python: in any order, after any restart, late or not, beside other windows."""

from datetime import datetime, timedelta
from itertools import accumulate, pairwise

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sash
from engine.streams.stream_oracle import ANSWERS, by_key
from engine.streams.test_windows import CALLS, SCHEMA, check, disordered, microseconds, names, pushed, rows, table
from sash import functions as sf

gaps = st.integers(1, 14)


def merged(events, gap):
    """Sessions as Flink merges them, window by window: (start, end, rows); ``gap`` is of each row."""
    sessions = []
    for event in events:
        size = gap(event)
        if size is None or size <= 0:
            continue
        start, end, inside, apart = event["ts"], event["ts"] + size, [event], []
        for other in sessions:
            if other[0] < end and start < other[1]:
                start, end, inside = min(start, other[0]), max(end, other[1]), inside + other[2]
            else:
                apart.append(other)
        sessions = [*apart, (start, end, inside)]
    return sessions


def in_order(events, inside):
    """The rows of a window in order of time and then of arrival."""
    numbers = {id(event): place for place, event in enumerate(events)}
    return sorted(inside, key=lambda event: (event["ts"], numbers[id(event)]))


def windows_of(events, size):
    """The windows of one query that hold a row: a gap, a (range, slide), or a (size, step) that grows."""
    if isinstance(size, int) or callable(size):
        return {end: inside for _, end, inside in merged(events, size if callable(size) else lambda _: size)}
    kind, length, slide = size
    ends = set()
    for event in events:
        if kind == "cumulate":
            start = event["ts"] - event["ts"] % length
            ends |= {(start, end) for end in range(start + slide, start + length + 1, slide) if end > event["ts"]}
        else:
            first = event["ts"] - event["ts"] % slide
            ends |= {(at, at + length) for at in range(first, event["ts"] - length, -slide)}
    return {end: [event for event in events if start <= event["ts"] < end] for start, end in ends}


def due_anyway(size, end):
    """Whether a window of a grid ends at a time, with rows or without."""
    if isinstance(size, int) or callable(size):
        return False
    kind, length, slide = size
    return (end - (0 if kind == "cumulate" else length)) % slide == 0


def mixed_answers(events, queries):
    """Answers by key and end, of queries by name: (aggregate, size)."""
    answers = {}
    for key, mine in by_key([row for row in events if row["ts"] is not None], True).items():
        for name, (aggregate, size) in queries.items():
            for end, inside in windows_of(mine, size).items():
                row = answers.setdefault((key, end), dict.fromkeys(queries))
                row[name] = ANSWERS[aggregate](in_order(mine, inside))
        for (of, end), row in answers.items():
            for name, (aggregate, size) in queries.items():
                if of == key and row[name] is None and due_anyway(size, end) and end not in windows_of(mine, size):
                    row[name] = ANSWERS[aggregate]([])
    return answers


def extent_of(size):
    if isinstance(size, int):
        return {"range": sash.session(microseconds(size))}
    kind, length, slide = size
    if kind == "cumulate":
        return {"range": sash.cumulate(microseconds(length), step=microseconds(slide))}
    return {"range": microseconds(length), "slide": microseconds(slide)}


def board_of(source, queries, **settings):
    board = sash.stream(source, time="ts", key="k", **settings)
    for name, (aggregate, size) in queries.items():
        board = board.query(name, CALLS[aggregate], **extent_of(size))
    return board


@st.composite
def session_queries(draw):
    return {f"q{k}": (draw(names), draw(gaps)) for k in range(draw(st.integers(1, 3)))}


@st.composite
def mixed_queries(draw):
    step = draw(st.integers(1, 5))
    others = st.one_of(
        st.tuples(st.just("time"), st.integers(1, 12), st.integers(1, 12)),
        st.tuples(st.just("cumulate"), st.integers(1, 4).map(lambda many: many * step), st.just(step)),
    )
    found = {f"s{k}": (draw(names), draw(gaps)) for k in range(draw(st.integers(1, 2)))}
    found |= {f"t{k}": (draw(names), draw(others)) for k in range(draw(st.integers(1, 2)))}
    return dict(draw(st.permutations(list(found.items()))))


@given(st.lists(rows, max_size=25), session_queries(), st.sampled_from([None, "panes", "pairs"]))
def test_a_table_gives_its_sessions(events, asked, slicer):
    check(board_of(table(events), asked, slicer=slicer).results(), mixed_answers(events, asked))


@given(disordered(), session_queries())
def test_disorder_splits_and_restarts_change_nothing(stream, asked):
    events, delay, edges = stream
    board = board_of(SCHEMA, asked, watermark=microseconds(delay))
    check(pushed(board.open, events, edges), mixed_answers(events, asked))


@given(disordered(), mixed_queries())
def test_sessions_go_with_other_windows_by_time(stream, asked):
    events, delay, edges = stream
    board = board_of(SCHEMA, asked, watermark=microseconds(delay))
    check(pushed(board.open, events, edges), mixed_answers(events, asked))


@given(disordered(), mixed_queries())
def test_what_changes_ends_where_the_last_answers_do(stream, asked):
    events, delay, edges = stream
    out = pushed(lambda: board_of(SCHEMA, asked, watermark=microseconds(delay)).open("changes"), events, edges)
    assert {(row["k"], round(row["window_end"].timestamp() * 1e6)) for row in out.to_pylist()} <= set(
        mixed_answers(events, asked)
    )


def late_sessions(pushes, gap, marks):
    """Sessions that are answered as pushes come, and the rows that are late; ``marks`` is the watermark behind each.

    A row is late if its session, with all that is open and all of its push, has ended by the watermark before it.
    """
    answered, late, watermark = [], [], None
    opened = {}
    for push, mark in zip(pushes, marks, strict=True):
        for key in {row["k"] for row in push}:
            mine = [event for _, _, inside in opened.get(key, []) for event in inside]
            new = [row for row in push if row["k"] == key]
            sessions = merged(mine + new, lambda _: gap)
            late += [row for each in sessions if watermark is not None and each[1] <= watermark for row in each[2]]
            opened[key] = [each for each in sessions if watermark is None or each[1] > watermark]
        watermark = mark
        for key, sessions in opened.items():
            answered += [(key, *each) for each in sessions if watermark is not None and each[1] <= watermark]
            opened[key] = [each for each in sessions if watermark is None or each[1] > watermark]
    answered += [(key, *each) for key, sessions in opened.items() for each in sessions]
    return answered, late


def marks_of(pushes, delay):
    """The watermark behind each push: rows that are late are behind it, so that all rows count."""
    return [latest - delay for latest in accumulate((max(row["ts"] for row in push) for push in pushes), max)]


@st.composite
def beyond(draw):
    """Pushes of rows in any order at all."""
    pushes = draw(st.lists(st.lists(rows, min_size=1, max_size=5), max_size=8))
    for place, row in enumerate(row for push in pushes for row in push):
        row["v"] = place  # tells them apart
    return pushes


def push_all(open_one, pushes, restarts):
    operator, out = open_one(), []
    for place, push in enumerate(pushes):
        out.append(operator.push(table(push)))
        if place in restarts:
            state, operator = operator.snapshot(), open_one()
            operator.restore(state)
    out.append(operator.close())
    return operator, pa.concat_tables(out)


def shown(answers):
    return sorted((str(row["k"]), round(row["window_end"].timestamp() * 1e6), sorted(row["n"]), row["c"])
                  for row in answers.to_pylist())  # fmt: skip


def expected(answered):
    return sorted((str(key), end, sorted(row["v"] for row in inside), len(inside)) for key, _, end, inside in answered)


@given(beyond(), gaps, st.integers(0, 10), st.sets(st.integers(0, 8)))
def test_a_row_is_late_only_where_its_session_has_been_answered(pushes, gap, delay, restarts):
    asked = {"n": ("list", gap), "c": ("count", gap)}
    operator, out = push_all(board_of(SCHEMA, asked, watermark=microseconds(delay)).open, pushes, restarts)
    answered, late = late_sessions(pushes, gap, marks_of(pushes, delay))
    assert shown(out) == expected(answered)
    assert operator.late_count == len(late)


@given(beyond(), gaps, gaps, st.integers(1, 40), st.integers(0, 10), st.sampled_from(["list", "sum"]))
def test_late_rows_leave_each_query_as_it_is_alone(pushes, gap, other, length, delay, aggregate):
    asked = {"s": (aggregate, gap), "t": (aggregate, ("time", length, length)), "u": (aggregate, other)}
    _, together = push_all(board_of(SCHEMA, asked, watermark=microseconds(delay)).open, pushes, {2})
    for name, query in asked.items():
        _, alone = push_all(board_of(SCHEMA, {name: query}, watermark=microseconds(delay)).open, pushes, {1})
        mine, theirs = (sorted((str(row["k"]), row["window_end"], str(row[name]))
                               for row in answers.to_pylist() if row[name] not in (None, []))
                        for answers in (together, alone))  # fmt: skip
        assert mine == theirs


OWN = pa.schema([*SCHEMA, pa.field("gap", pa.duration("us"))])


@given(st.lists(st.tuples(rows, st.none() | st.integers(-2, 14)), max_size=20), session_queries(), st.booleans(),
       st.sets(st.integers(0, 20)))  # fmt: skip
def test_a_gap_of_each_rows_own(events, asked, beside, cuts):
    events = [row | {"gap": gap} for row, gap in events]
    asked = {name: (aggregate, lambda row: row["gap"]) for name, (aggregate, _) in asked.items()}
    source = table(events).append_column(
        "gap", pa.array([row["gap"] for row in events], pa.int64()).cast(OWN.field("gap").type)
    )
    board = sash.stream(OWN, time="ts", key="k", watermark="100 microseconds")
    for name, (aggregate, _) in asked.items():
        board = board.query(name, CALLS[aggregate], range=sash.session(sash.col("gap")))
    if beside:
        asked["t"] = ("count", ("time", 4, 2))
        board = board.query("t", sf.count(), range="4 microseconds", slide="2 microseconds")
    operator, out, places = board.open(), [], sorted({0, *(cut for cut in cuts if cut < len(events)), len(events)})
    for start, stop in pairwise(places):
        out.append(operator.push(source.slice(start, stop - start)))
        state, operator = operator.snapshot(), board.open()
        operator.restore(state)
    lasting = [row for row in events if beside or (row["gap"] or 0) > 0]
    check(pa.concat_tables([*out, operator.close()]), mixed_answers(lasting, asked))
    reasons = operator.late()["reason"].to_pylist()
    assert len(reasons) == len(events) - len(lasting)
    assert set(reasons) <= {"its gap is NULL, not above zero, or of months"}


def at(hour, minute, second=0):
    return datetime(2020, 4, 15, hour, minute, second)


def test_flinks_example_of_sessions():
    """SESSION(TABLE Bid PARTITION BY item, DESCRIPTOR(bidtime), INTERVAL '5' MINUTES), as Flink documents it."""
    bids = pa.table({
        "bidtime": [at(8, 7), at(8, 6), at(8, 9), at(8, 8), at(8, 17)],
        "price": [4.0, 2.0, 5.0, 3.0, 1.0],
        "item": ["A", "A", "B", "A", "B"],
    })  # fmt: skip
    board = sash.stream(bids, time="bidtime", key="item")
    board = board.query("total", sf.sum("price"), range=sash.session("5 minutes"))
    out = [tuple(row.values()) for row in board.results(starts=True).to_pylist()]
    assert out == [("A", at(8, 6), at(8, 13), 9.0), ("B", at(8, 9), at(8, 14), 5.0), ("B", at(8, 17), at(8, 22), 1.0)]


def test_rows_a_gap_apart_are_two_sessions_until_a_late_one_joins_them():
    board = sash.stream(pa.schema({"ts": pa.timestamp("us")}), time="ts", watermark="1 hour")
    live = board.query("n", sf.count(), range=sash.session("30 minutes")).open(starts=True)

    def push(*times):
        return [
            tuple(row.values()) for row in live.push(pa.table({"ts": pa.array(times, pa.timestamp("us"))})).to_pylist()
        ]

    assert push(at(8, 0), at(8, 30)) == []
    assert push(at(9, 0)) == []
    assert push(at(8, 15)) == []
    assert push(at(10, 45)) == [(at(8, 0), at(9, 0), 3), (at(9, 0), at(9, 30), 1)]
    assert push(at(9, 10)) == []  # its session has been answered
    assert live.late()["reason"].to_pylist() == ["late: its windows had ended"]
    assert push(at(10, 20)) == []  # behind the watermark, but it is of a session that is open
    assert push(at(12, 30)) == [(at(10, 20), at(11, 15), 2)]
    assert live.late_count == 1


def test_the_reason_names_the_queries_that_a_row_is_late_for():
    board = sash.stream(SCHEMA, time="ts", key="k", watermark="0 seconds")
    board = board.query("visit", sf.count(), range=sash.session("5 microseconds"))
    live = board.query("day", sf.count(), range="100 microseconds").open()
    live.push(table([{"ts": ts, "k": "a", "v": 1, "w": None} for ts in (10, 40)]))
    live.push(table([{"ts": 20, "k": "a", "v": 1, "w": None}]))
    assert live.late()["reason"].to_pylist() == ["late for visit: windows had ended"]
    last = live.push(table([{"ts": 150, "k": "a", "v": 1, "w": None}])).to_pylist()
    assert [(row["visit"], row["day"]) for row in last] == [(1, None), (None, 3)]


def test_the_plan_says_how_sessions_are_kept():
    board = sash.stream(SCHEMA, time="ts", key="k", watermark="1 second")
    told = str(board.query("n", sf.count(), range=sash.session("30 minutes")).explain())
    assert "sessions: rows less than 30 minutes apart; a piece of one has its partials" in told


def query(range, slide=None, **settings):
    board = sash.stream(OWN, **({"time": "ts"} | settings))
    return board.query("n", sf.count(), range=range, slide=slide)


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: sash.session("0 seconds"), "gap of session must be longer than zero, got '0 seconds'"),
        (lambda: sash.session("1 month"), "gap of session must be in weeks, days or less, got 1 month"),
        (lambda: sash.session(timedelta(days=-1)), "gap of session must be longer than zero"),
        (lambda: sash.session(5), "gap of session must be an interval such as '30 minutes', or a column"),
        (lambda: query(sash.session("1 day"), "1 day"), "slide cannot be given with session"),
        (lambda: query(sash.session("1 day"), time=None), "time must be given for windows by session"),
        (lambda: query(sash.session(sash.col("v"))), "gap of session must be a column of intervals, got v"),
        (lambda: query(sash.session(sash.col("nothing"))), "there is no column 'nothing'"),
        (
            lambda: (
                sash.stream(OWN.empty_table(), time="ts").query("n", sf.count(), range=sash.session("1 day")).partials()
            ),
            "partials are of slices of time, got windows by session in n",
        ),
        (lambda: query(sash.session("1 day")).open("updates"), 'emit="updates" needs windows whose end is known'),
        (lambda: query(sash.session("1 day")).query("m", sf.count(), range=5), "must have windows of one kind"),
    ],
)  # fmt: skip
def test_bad_input_is_named(make, sentence):
    with pytest.raises(sash.SashError, match=sentence):
        make()
