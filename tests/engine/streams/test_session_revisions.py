"""Sessions with ``lateness``: late rows extend and join sessions that were answered; these are given again, or ended.

The oracle keeps the rows of each key that still count, and finds all windows anew after each push.
"""

from datetime import datetime, timedelta

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

import sash
from engine.streams.stream_oracle import ANSWERS
from engine.streams.test_revisions import alike, plain
from engine.streams.test_session_windows import (
    beyond,
    board_of,
    due_anyway,
    in_order,
    merged,
    mixed_queries,
    session_queries,
)
from engine.streams.test_shards import END, Job, limits
from engine.streams.test_windows import SCHEMA, microseconds, table
from sash import functions as sf
from strategies import usually

ORDERED = {"digits", "list", "last", "first", "best"}  # by the order of rows of one time, which shards do not know
lateness = st.sampled_from([0, 1, 3, 10, 30, 1000])


class Oracle:
    """The rows that count, by query and key, and what was given of each window."""

    def __init__(self, queries, stay, words=ANSWERS):
        self.words = words
        self.queries, self.stay = queries, stay
        self.rows, self.given, self.late = {}, {}, 0
        self.last_late = []  # of the last push
        self.arrived = []

    @property
    def sizes(self):
        return dict.fromkeys(size for _, size in self.queries.values())

    def push(self, rows, before, after):
        """What a push gives, with the watermark before it and after it."""
        self.arrived += rows
        late = set()
        for size in self.sizes:
            for key in {row["k"] for row in rows}:
                mine = [row for row in rows if row["k"] == key]
                late |= {id(row) for row in self.missed(size, key, mine, before)}
        self.late += len(late)
        self.last_late = [row for row in rows if id(row) in late]
        wanted = {}
        for key in {row["k"] for row in self.arrived}:
            ends = {end for size in self.sizes for end in self.windows(size, key)}
            ends |= {end for of, end in self.given if of == key}
            for end in ends:
                if after is None or end > after or (before is not None and end <= before - self.stay):
                    continue
                row, there = self.answer(key, end)
                number, last, was_there = self.given.get((key, end), (-1, row, False))
                if there != was_there or not alike(last, row):
                    wanted[key, end] = number + 1, row, there
        self.given |= wanted
        if after is not None:
            for size in self.sizes:
                self.forget(size, after - self.stay)
            self.given = {where: each for where, each in self.given.items() if where[1] > after - self.stay}
        return wanted

    def missed(self, size, key, mine, before):
        """Take rows; gives those that come too late."""
        kept = self.rows.setdefault((size, key), [])
        shut = None if before is None else before - self.stay
        if isinstance(size, int):
            late = [row for _, end, inside in merged(kept + mine, lambda _: size)
                    if shut is not None and end <= shut for row in inside]  # fmt: skip
            gone = {id(row) for row in late}
            kept += [row for row in mine if id(row) not in gone]
            return late
        late = []
        for row in mine:
            missed = [end for end in ends_of(size, row) if shut is not None and end <= shut]
            late += [row] if missed else []
            kept.append((row, shut))
        return late

    def windows(self, size, key):
        """The rows of each window, by its end."""
        kept = self.rows.get((size, key), [])
        if isinstance(size, int):
            return {end: inside for _, end, inside in merged(kept, lambda _: size)}
        found = {}
        for row, shut in kept:
            for end in ends_of(size, row):
                if shut is None or end > shut:
                    found.setdefault(end, []).append(row)
        return found

    def answer(self, key, end):
        row, some = {}, False
        for name, (aggregate, size) in self.queries.items():
            inside = self.windows(size, key).get(end)
            due = inside is not None or due_anyway(size, end)
            row[name] = self.words[aggregate](in_order(self.arrived, inside or [])) if due else None
            some |= inside is not None
        return row, some

    def forget(self, size, shut):
        if not isinstance(size, int):
            return
        for of, kept in self.rows.items():
            if of[0] == size:
                gone = {id(row) for _, end, inside in merged(kept, lambda _: size) if end <= shut for row in inside}
                self.rows[of] = [row for row in kept if id(row) not in gone]


def ends_of(size, row):
    kind, length, slide = size
    if kind == "cumulate":
        start = row["ts"] - row["ts"] % length
        return [end for end in range(start + slide, start + length + 1, slide) if end > row["ts"]]
    first = row["ts"] - row["ts"] % slide
    return [start + length for start in range(first, row["ts"] - length, -slide)]


def compare(answers, wanted):
    wanted = {where: each[:2] for where, each in wanted.items()}
    found = {(key, end): (number, row) for key, end, number, row in plain(answers)}
    assert len(found) == answers.num_rows
    assert {where: number for where, (number, _) in found.items()} == {
        where: number for where, (number, _) in wanted.items()
    }
    for where, (_, row) in wanted.items():
        assert alike(found[where][1], row), (where, row, found[where][1])


@usually(300)
@given(beyond(), session_queries() | mixed_queries(), st.integers(0, 10), lateness, st.sets(st.integers(0, 8)))
def test_answers_are_those_of_all_rows_so_far(pushes, asked, delay, stay, restarts):
    board = board_of(SCHEMA, asked, watermark=microseconds(delay), lateness=microseconds(stay))
    operator, oracle, watermark = board.open(), Oracle(asked, stay), None
    for place, push in enumerate(pushes):
        latest = max(row["ts"] for row in push) - delay
        after = latest if watermark is None else max(watermark, latest)
        compare(operator.push(table(push)), oracle.push(push, watermark, after))
        watermark = after
        if place in restarts:
            state, operator = operator.snapshot(), board.open()
            operator.restore(state)
    compare(operator.close(), oracle.push([], watermark, END))
    assert operator.late_count == oracle.late


@usually(80)
@given(beyond(), session_queries() | mixed_queries(), st.integers(0, 10), lateness, st.sets(st.integers(0, 8)),
       st.booleans(), st.integers(1, 2), limits)  # fmt: skip
def test_shards_give_the_same(pushes, asked, delay, stay, restarts, whole, shards, limits):
    asked = {name: ("sum" if aggregate in ORDERED else aggregate, size) for name, (aggregate, size) in asked.items()}
    board = board_of(SCHEMA, asked, watermark=microseconds(delay), lateness=microseconds(stay))
    job, oracle, latest = Job(board, shards, limits=limits, late=whole), Oracle(asked, stay), None
    before = None
    for place, push in enumerate(pushes):
        if place in restarts:
            job.restart()
        mark = None if latest is None else latest - delay  # what Spark knows of the batches before
        compare(job.batch([table(push[::2]), table(push[1::2])], mark)[0], oracle.push(push, before, mark))
        before = mark
        latest = max([row["ts"] for row in push] + ([] if latest is None else [latest]))
    compare(job.batch([], END)[0], oracle.push([], before, END))


def visits(*minutes):
    start = datetime(2026, 1, 1, 8)
    return pa.table({"ts": pa.array([start + timedelta(minutes=k) for k in minutes], pa.timestamp("us"))})


def test_a_late_row_joins_two_sessions_that_were_answered():
    board = sash.stream(visits().schema, time="ts", watermark="0 seconds", lateness="2 hours")
    live = board.query("n", sf.count(), range=sash.session("30 minutes")).open(starts=True)

    def push(*minutes):
        return [(row["window_start"] and row["window_start"].strftime("%H:%M"), row["window_end"].strftime("%H:%M"),
                 row["revision"], row["n"]) for row in live.push(visits(*minutes)).to_pylist()]  # fmt: skip

    assert push(0, 10, 50, 90) == [("08:00", "08:40", 0, 2), ("08:50", "09:20", 0, 1)]
    assert push(30) == [(None, "08:40", 1, None), ("08:00", "09:20", 1, 4)]
    assert push(-10) == [("07:50", "09:20", 2, 5)]
    assert push(75) == [(None, "09:20", 3, None)], "it joins one that is open"
    assert push(121) == [("07:50", "10:00", 0, 7)]
    assert push(300) == [("10:01", "10:31", 0, 1)]
    assert push(100) == []
    assert live.late()["reason"].to_pylist() == ["late: its windows had ended"]
