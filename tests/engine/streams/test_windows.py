"""Any stream gives what its windows hold, recomputed from all events: by any path, in any order, after any restart."""

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sash
from engine.streams.stream_oracle import ANSWERS, count_answers, same, time_answers
from sash import functions as sf

DIGITS = sash.Aggregate(
    "digits",
    lift=lambda x: (x % 1009, 31),
    combine=lambda a, b: ((a[0] * b[1] + b[0]) % 1009, (a[1] * b[1]) % 1009),
    lower=lambda s: s[0],
)
CALLS = {
    "count": sf.count(),
    "count_v": sf.count("v"),
    "sum": sf.sum("v"),
    "avg": sf.avg("v"),
    "max": sf.max("v"),
    "stddev": sf.stddev("v"),
    "positive": sf.sum("v").filter("v > 0"),
    "median": sf.median("v"),
    "distinct": sf.count_distinct("v"),
    "mode": sf.mode("v"),
    "first": sf.first("w"),
    "last": sf.last("w"),
    "best": sf.max_by("w", "v"),
    "list": sf.collect_list("v"),
    "top": sf.top_k("v", 2),
    "digits": DIGITS("v"),
    "max_text": sf.max("w"),
}
SCHEMA = pa.schema({"ts": pa.timestamp("us"), "k": pa.string(), "v": pa.int64(), "w": pa.string()})


def table(rows):
    columns = {name: [row[name] for row in rows] for name in SCHEMA.names}
    columns["ts"] = pa.array(columns["ts"], pa.int64()).cast(pa.timestamp("us"))
    return pa.table(columns, schema=SCHEMA)


def microseconds(count):
    return f"{count} microseconds"


def time_board(source, queries, offset=0, **settings):
    board = sash.stream(source, time="ts", key="k", offset=microseconds(offset), **settings)
    for name, (aggregate, length, slide) in queries.items():
        board = board.query(name, CALLS[aggregate], range=microseconds(length), slide=microseconds(slide))
    return board


def by_key_and_end(answers):
    found = {}
    for row in answers.to_pylist():
        end = row.pop("window_end")
        where = row.pop("k"), end if isinstance(end, int) else round(end.timestamp() * 1e6) + 0
        assert where not in found, f"{where} was answered twice"
        found[where] = row
    return found


def check(answers, expected):
    answers = answers.set_column(
        answers.column_names.index("window_end"), "window_end", answers["window_end"].cast(pa.int64())
    )
    found = by_key_and_end(answers)
    assert set(found) == set(expected)
    for where, row in expected.items():
        for name, value in row.items():
            assert same(found[where][name], value), (where, name, found[where][name], value)


rows = st.fixed_dictionaries(
    {
        "ts": st.integers(-30, 60),
        "k": st.sampled_from(["a", "b", None]),
        "v": st.one_of(st.none(), st.integers(-5, 5)),
        "w": st.one_of(st.none(), st.sampled_from(["x", "y", "zz"])),
    }
)
sizes = st.integers(1, 12)
names = st.sampled_from(list(ANSWERS))


@st.composite
def queries(draw, among=names):
    count = draw(st.integers(1, 4))
    return {f"q{k}": (draw(among), draw(sizes), draw(sizes)) for k in range(count)}


@given(st.lists(rows, max_size=25), queries(), st.integers(-5, 5), st.sampled_from([None, "panes", "pairs"]))
def test_a_table_gives_what_its_windows_hold(events, asked, offset, slicer):
    check(time_board(table(events), asked, offset, slicer=slicer).results(), time_answers(events, asked, offset))


@given(st.lists(rows, max_size=25), queries())
def test_cutty_gives_the_same_where_rows_are_in_order(events, asked):
    events = sorted(events, key=lambda row: row["ts"])
    check(time_board(table(events), asked, slicer="cutty").results(), time_answers(events, asked))
    pushed = time_board(SCHEMA, asked, slicer="cutty", watermark="0 seconds").open()
    answers = [pushed.push(table([event])) for event in events]
    check(pa.concat_tables([*answers, pushed.close()]), time_answers(events, asked))
    assert pushed.late_count == 0


@st.composite
def disordered(draw):
    """Events as they arrive, none later than some time behind another, and where the stream is cut."""
    delay = draw(st.integers(0, 15))
    events = draw(st.lists(st.tuples(rows, st.integers(0, delay)), max_size=25))
    events.sort(key=lambda pair: pair[0]["ts"] + pair[1])
    cuts = draw(st.lists(st.tuples(st.integers(0, len(events)), st.booleans()), max_size=8))
    every = draw(st.booleans())
    edges = [(k, False) for k in range(len(events))] if every else sorted(cuts)
    return [event for event, _ in events], delay, edges


def pushed(make, events, edges):
    """All answers of a stream that is cut at some places, restarted from its bytes at some of them."""
    operator, answers, at = make(), [], 0
    for edge, restart in [*edges, (len(events), True)]:
        answers.append(operator.push(table(events[at:edge])))
        at = edge
        if restart:
            state = operator.snapshot()
            operator = make()
            operator.restore(state)
    answers.append(operator.close())
    assert operator.late_count == 0
    return pa.concat_tables(answers)


@given(disordered(), queries())
def test_disorder_splits_and_restarts_change_nothing(stream, asked):
    events, delay, edges = stream
    board = time_board(SCHEMA, asked, watermark=microseconds(delay))
    check(pushed(board.open, events, edges), time_answers(events, asked))


@given(disordered(), queries(), st.booleans())
def test_windows_by_count(stream, asked, ordered):
    events, delay, edges = stream
    settings = {"time": "ts", "watermark": microseconds(delay)} if ordered else {}
    board = sash.stream(SCHEMA, key="k", **settings)
    for name, (aggregate, length, slide) in asked.items():
        board = board.query(name, CALLS[aggregate], range=length, slide=slide)
    expected = count_answers(events, asked, ordered)
    check(pushed(board.open, events, edges), expected)


@pytest.mark.parametrize("using", ["recalc", "two_stacks", "daba", "flatfat", "b_int", "flatfit", "slide_side", "sba"])
def test_every_algorithm_by_name(using):
    events = [{"ts": 3 * k % 50, "k": "ab"[k % 2], "v": k * k % 17, "w": None} for k in range(60)]
    board = sash.stream(table(events), time="ts", key="k")
    board = board.query("q", sf.max("v"), range=microseconds(12), slide=microseconds(5), using=using)
    check(board.results(), time_answers(events, {"q": ("max", 12, 5)}))
    assert board.explain().chosen == {"q": using}
