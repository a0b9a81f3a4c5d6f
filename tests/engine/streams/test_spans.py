"""Events that last, against an oracle that tests overlap event by event and window by window."""

import statistics
from datetime import datetime, timedelta
from itertools import pairwise

import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import sash
from engine.streams.test_shards import END, Job
from sash import SashError
from sash import functions as sf
from sash.planner.techniques import BY_EVENTS, BY_SLICES

START = datetime(2026, 1, 1)
SCHEMA = pa.schema({"start": pa.timestamp("us"), "end": pa.timestamp("us"), "k": pa.string(), "v": pa.int64()})
TICK = timedelta(microseconds=1)


def at(ticks):
    return START + ticks * TICK


def table(rows):
    return pa.Table.from_pylist([{"start": at(s), "end": at(e), "k": k, "v": v} for s, e, k, v in rows], SCHEMA)


def overlaps(row, lo, hi):
    start, end = row[0], max(row[1], row[0] + 1)
    return start < hi and end > lo


def share(row, lo, hi):
    start, end = row[0], max(row[1], row[0] + 1)
    return (min(end, hi) - max(start, lo)) / (end - start)


def spent(row, lo, hi):
    return share(row, lo, hi) * max(row[1] - row[0], 1)


def big(rows):
    return [row for row in rows if (row[3] or 0) > 3]


def concurrent(rows, lo, hi):
    return max(sum(overlaps(row, moment, moment + 1) for row in rows) for moment in range(lo, hi))


def covered(rows, lo, hi):
    return sum(any(overlaps(row, moment, moment + 1) for row in rows) for moment in range(lo, hi)) * TICK


def known(rows):
    return [row for row in rows if row[3] is not None]


def of_known(function):
    return lambda rows, lo, hi: function([row[3] for row in known(rows)]) if known(rows) else None


def time_avg(rows, lo, hi):
    rows = known(rows)
    return sum(row[3] * spent(row, lo, hi) for row in rows) / sum(spent(row, lo, hi) for row in rows) if rows else None


def shared(rows, lo, hi):
    return sum(row[3] * share(row, lo, hi) for row in known(rows)) if known(rows) else None


CALLS = {
    "n": (sf.count(), lambda rows, lo, hi: len(rows)),
    "values": (sf.count("v"), lambda rows, lo, hi: len(known(rows))),
    "total": (sf.sum("v"), of_known(sum)),
    "peak": (sf.max("v"), of_known(max)),
    "mean": (sf.avg("v"), of_known(statistics.fmean)),
    "big": (sf.sum("v").filter("v > 3"), of_known(lambda values: sum(v for v in values if v > 3) or None)),
    "mid": (sf.median("v"), of_known(statistics.median)),
    "kinds": (sf.count_distinct("v"), lambda rows, lo, hi: len({row[3] for row in known(rows)})),
    "least": (sf.min("v"), of_known(min)),
    "distinct": (sf.sum("v").distinct(), of_known(lambda values: sum(set(values)))),
    "share": (sf.sum("v").prorated(), shared),
    "parts": (sf.count().prorated(), lambda rows, lo, hi: sum(share(row, lo, hi) for row in rows)),
    "load": (sf.time_avg("v"), time_avg),
    "lines": (sf.max_concurrent(), concurrent),
    "covered": (sf.covered(), covered),
    "big lines": (sf.max_concurrent().filter("v > 3"), lambda rows, lo, hi: concurrent(big(rows), lo, hi)),
}  # fmt: skip

spans = st.tuples(
    st.integers(0, 30), st.integers(0, 25), st.sampled_from("ab"), st.one_of(st.none(), st.integers(0, 6))
)
events = st.lists(spans.map(lambda row: (row[0], row[0] + row[1], *row[2:])), max_size=12)
windows = st.tuples(st.integers(1, 9), st.integers(1, 6))
asked = st.dictionaries(st.sampled_from(sorted(CALLS)), windows, min_size=1, max_size=4)


def answers(rows, asked, until=None):
    """Key and end of each window that holds an event, and what each query whose window ends there answers."""
    found = {}
    for length, slide in asked.values():
        for row in rows:
            for start in range(-10, 80):
                if start % slide == 0 and overlaps(row, start, start + length):
                    found[row[2], start + length] = {}
    for (k, end), answer in found.items():
        for name, (length, slide) in asked.items():
            if (end - length) % slide == 0:
                held = [row for row in rows if row[2] == k and overlaps(row, end - length, end)]
                answer[name] = CALLS[name][1](held, end - length, end)
    return {(k, at(end)): answer for (k, end), answer in found.items() if until is None or end <= until}


def board_of(source, asked, **settings):
    board = sash.stream(source, span=("start", "end"), key="k", **settings)
    for name, (length, slide) in asked.items():
        board = board.query(name, CALLS[name][0], range=length * TICK, slide=slide * TICK)
    return board


def check(found, wanted, asked):
    rows = {(row.pop("k"), row.pop("window_end")): row for row in found.to_pylist()}
    assert len(rows) == found.num_rows
    assert set(rows) == set(wanted)
    for place, row in rows.items():
        for name in asked:
            value = wanted[place].get(name)
            assert row[name] == (pytest.approx(value) if isinstance(value, float) else value), (place, name)


@given(events, asked)
@example([(0, 12, "a", 1), (3, 4, "a", 2), (20, 20, "a", 4)], {"n": (5, 2), "mid": (5, 5)})
def test_a_table(rows, asked):
    check(board_of(table(rows), asked).results(), answers(rows, asked), asked)


@given(events, asked, st.integers(0, 6), st.lists(st.integers(0, 12), max_size=4), st.booleans())
def test_batches_in_any_order_within_the_watermark(rows, asked, delay, cuts, restarts):
    board = board_of(SCHEMA, asked, watermark=delay * TICK, postpone=25 * TICK)
    operator, found = board.open(), []
    rows = sorted(rows, key=lambda row: row[1])
    edges = sorted({0, len(rows), *(cut for cut in cuts if cut < len(rows))})
    for start, stop in pairwise(edges):
        found.append(operator.push(table(rows[start:stop])))
        latest = max(row[1] for row in rows[:stop])
        done = pa.concat_tables(found)
        check(done, answers(rows[:stop], asked, latest - delay - 25), asked)
        if restarts:
            state = operator.snapshot()
            operator = board.open()
            operator.restore(state)
    found.append(operator.close())
    check(pa.concat_tables(found), answers(rows, asked), asked)
    assert operator.late().num_rows == 0


@given(events, asked, st.integers(0, 6), st.lists(st.integers(0, 12), max_size=4), st.integers(1, 3))
def test_shards(rows, asked, delay, cuts, shards):
    job = Job(board_of(SCHEMA, asked, watermark=delay * TICK, postpone=25 * TICK), shards)
    found, watermark = [], None
    rows = sorted(rows, key=lambda row: row[1])
    edges = sorted({0, len(rows), *(cut for cut in cuts if cut < len(rows))})
    for start, stop in pairwise(edges):
        part = rows[start:stop]
        answers_now, _, late = job.batch([table(part[::2]), table(part[1::2])], watermark)
        assert late == 0
        found.append(answers_now)
        watermark = ticks(max(row[1] for row in rows[:stop]) - delay)
        job.restart()
    found.append(job.batch([], END * 10)[0])
    check(pa.concat_tables(found), answers(rows, asked), asked)


def ticks(moment):
    return int((at(moment) - datetime(1970, 1, 1)) / TICK)


@given(events, asked, st.integers(0, 5))
def test_a_span_that_is_too_long_is_late_for_the_windows_that_were_answered(rows, asked, postpone):
    """What is not late counts everywhere, and what is late counts in the windows that were open."""
    board = board_of(SCHEMA, asked, watermark=0 * TICK, postpone=postpone * TICK)
    operator, found = board.open(), []
    seen, late = [], 0
    wanted = {}
    for row in sorted(rows, key=lambda row: row[1]):
        passed = max((before[1] for before in seen), default=-100) - postpone
        missed = [end for _, end in answers([row], asked) if end <= at(passed)]
        late += bool(missed)
        found.append(operator.push(table([row])))
        seen.append(row)
        upto = max(before[1] for before in seen) - postpone
        wanted |= {place: answer for place, answer in answers(seen, asked, upto).items() if place[1] > at(passed)}
    found.append(operator.close())
    if seen:
        upto = max(before[1] for before in seen) - postpone
        wanted |= {place: answer for place, answer in answers(seen, asked).items() if place[1] > at(upto)}
    check(pa.concat_tables(found), wanted, asked)
    reasons = operator.late()["reason"].to_pylist()
    assert len(reasons) == late == operator.late_count
    assert all(reason.startswith("late") and "(end" in reason for reason in reasons)


@pytest.mark.parametrize("using", [*BY_SLICES, "multilevel_slicing(3)"])
@given(events, windows)
def test_techniques(using, rows, window):
    calls = {"slicing": ("n", "total", "peak", "mean"), "multilevel_slicing": ("n", "total", "peak", "mean"),
             "difference": ("n", "total"), "doubling": ("peak",)}[using.partition("(")[0]]  # fmt: skip
    asked = dict.fromkeys(calls, window)
    board = sash.stream(table(rows), span=("start", "end"), key="k")
    for name, (length, slide) in asked.items():
        board = board.query(name, CALLS[name][0], range=length * TICK, slide=slide * TICK, using=using)
    check(board.results(), answers(rows, asked), asked)


def test_rows_that_are_no_spans_are_set_aside():
    rows = pa.table({"start": [at(0), None, at(9), at(0)], "end": [None, at(5), at(8), at(2)], "v": [1, 2, 3, 4]})
    board = sash.stream(rows, span=("start", "end")).query("n", sf.count(), range=5 * TICK)
    assert board.results()["n"].to_pylist() == [1]
    assert board.late()["reason"].to_pylist() == [
        "`end` is NULL, and no longest was given", "start is NULL", "`end` is before start",
    ]  # fmt: skip
    board = sash.stream(rows, span=("start", "end"), longest=7 * TICK).query("n", sf.count(), range=5 * TICK)
    assert board.results()["n"].to_pylist() == [2, 1]
    board = sash.stream(rows, span=("start", "end"), longest=1 * TICK).query("n", sf.count(), range=5 * TICK)
    assert "longer than 0.000001 seconds" in board.late()["reason"].to_pylist()


def test_how_long_windows_wait_is_learned():
    board = sash.stream(SCHEMA, span=("start", "end"), watermark="0 seconds", postpone="auto")
    operator = board.query("n", sf.count(), range="1 hour", slide="10 minutes").open()
    minute = 60_000_000
    for hour in range(100):
        rows = [(hour * 60 * minute + m * minute, (hour * 60 + m + 30) * minute, "a", 1) for m in range(60)]
        operator.push(table(rows))
    wait = operator.postpone
    assert timedelta(minutes=30) <= wait <= timedelta(minutes=34)
    restored = board.query("n", sf.count(), range="1 hour", slide="10 minutes").open()
    restored.restore(operator.snapshot())
    assert restored.postpone == wait
    operator.push(table([(0, 6000 * minute, "a", 1)]))
    assert operator.longer == 1
    assert operator.late().num_rows == 1


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: stream(span="start"), 'span must be two columns, such as \\("start", "end"\\), got \'start\''),
        (lambda: stream(span=("start", "stop")), "there is no column 'stop'"),
        (lambda: stream(span=("start", "v")), "span must be two columns of timestamps or dates, got v of type int64"),
        (lambda: stream(span=("start", "end"), time="start"), "time must not be given with span"),
        (lambda: stream(time="start", postpone="1 hour"), "postpone is for events that last, got '1 hour'"),
        (lambda: stream(span=("start", "end"), postpone="-1 hour"), "postpone must not be below zero"),
        (lambda: stream(span=("start", "end"), postpone="soon"), "postpone takes whole numbers of year"),
        (lambda: stream(span=("start", "end"), longest="0 hours"), "longest must be more than zero"),
        (lambda: stream(span=("start", "end"), pair="k"), "longest must be given with pair"),
        (lambda: stream(span=("start", "end"), slicer="cutty"), "cutty needs events of one moment"),
        (lambda: stream(span=("start", "end"), pair=["k", "v"], longest="1 hour"), "pair must be one column"),
        (lambda: stream(span=("start", "end"), postpone="autos"), 'or "auto"'),
        (lambda: query(sf.count(), range=5), "range must be by time for events that last"),
        (lambda: query(sf.sum("v"), using="doubling"), "doubling needs a selective aggregate"),
        (lambda: query(sf.max("v"), using="difference"), "difference needs an invertible aggregate"),
        (lambda: query(sf.avg("v"), using="difference"), "difference needs exact partials"),
        (lambda: query(sf.median("v"), using="slicing"), "slicing"),
        (lambda: query(sf.max_concurrent(), using="segment_tree"), "sweeps over starts and ends"),
        (lambda: sf.sum("v").prorated().distinct(), "cannot be distinct"),
        (lambda: query(sf.sum("w")), "there is no column 'w'; there are start, end, k, v$"),
        (lambda: sash.stream(SCHEMA.append(pa.field("__sash_first", pa.int64())), span=("start", "end")), "rename it"),
        (lambda: query(sf.sum("v"), using="multilevel_slicing(0)"), "a height of 1 to 64 levels"),
        (lambda: query(sf.avg("v").prorated()), "avg\\(v\\) cannot be prorated: sum and count\\(\\) can"),
        (lambda: points(sf.max_concurrent()), "max_concurrent\\(\\) is for events"),
        (lambda: points(sf.max("v"), using="slicing"), "slicing is for events"),
        (lambda: sf.covered().over(sash.Window.orderBy("v")), "covered\\(\\) is for events that last"),
    ],
)  # fmt: skip
def test_bad_input_is_named(make, sentence):
    with pytest.raises(SashError, match=sentence):
        make()


def stream(**settings):
    return sash.stream(SCHEMA, **settings)


def points(call, **how):
    return stream(time="start").query("q", call, range="1 hour", **how)


def query(call, range="1 hour", **how):
    return stream(span=("start", "end")).query("q", call, range=range, **how)


@given(events, windows, st.randoms(), st.booleans())
def test_starts_and_ends_in_rows_of_their_own(rows, window, chance, at_once):
    """Any order of the halves, in one batch or one by one, makes the spans that they are of."""
    halves = []
    for place, (start, end, k, v) in enumerate(rows):
        halves += [{"id": place, "start": at(start), "end": None, "k": k, "v": None},
                   {"id": place, "start": None, "end": at(end), "k": None, "v": v}]  # fmt: skip
    chance.shuffle(halves)
    schema = pa.schema([("id", pa.int64()), *SCHEMA])
    table_of = lambda part: pa.Table.from_pylist(part, schema)  # noqa: E731
    asked = {"n": window, "total": window, "mid": window}
    source = table_of(halves) if at_once else [table_of([half]) for half in halves] or [table_of([])]
    found = board_of(source, asked, pair="id", longest=1000 * TICK).results()
    found = found if at_once else pa.concat_tables([board_of(table([]), asked).results(), *found])
    check(found, answers(rows, asked), asked)


def test_halves_that_stay_alone():
    rows = pa.table({"id": [1, 2, None], "start": [at(0), None, at(3)], "end": [None, at(7), None]})
    board = sash.stream(rows, span=("start", "end"), pair="id", longest=4 * TICK).query("n", sf.count(), range=9 * TICK)
    assert board.results()["n"].to_pylist() == [1]
    assert board.late()["reason"].to_pylist() == ["id is NULL", "no start came for its id"]


def halves(starts, ends, id=1):
    return pa.table({
        "id": pa.array([id] * (len(starts) + len(ends)), pa.int64()),
        "start": pa.array([*map(at, starts), *[None] * len(ends)], pa.timestamp("us")),
        "end": pa.array([*[None] * len(starts), *map(at, ends)], pa.timestamp("us")),
    })  # fmt: skip


def half_board(source, **settings):
    board = sash.stream(source, span=("start", "end"), pair="id", longest=4 * TICK, **settings)
    return board.query("n", sf.count(), range=1 * TICK)


def moments(answers):
    return [int((row["window_end"] - START) / TICK) - 1 for row in answers.to_pylist()]


def test_an_end_goes_with_the_last_start_before_it():
    rows = halves([0, 10, 20], [11, 21])
    assert moments(half_board(rows).results()) == [0, 1, 2, 3, 10, 20]
    parts = [halves([8], [5]), halves([3], [9])]
    assert moments(pa.concat_tables(half_board(parts, watermark=20 * TICK).results())) == [3, 4, 8]


def test_a_start_that_stays_alone_is_not_late_where_windows_wait_as_long_as_a_span_may_last():
    operator = half_board(halves([], []).schema, watermark=0 * TICK, postpone=4 * TICK).open()
    found = [operator.push(halves([0], []))]
    state = operator.snapshot()
    operator = half_board(halves([], []).schema, watermark=0 * TICK, postpone=4 * TICK).open()
    operator.restore(state)
    found += [operator.push(halves([30], [31], id=2)), operator.advance(ticks(90)), operator.close()]
    assert moments(pa.concat_tables(found)) == [0, 1, 2, 3, 30]
    assert operator.late().num_rows == 0


def test_an_end_that_is_not_known_does_not_move_the_watermark():
    schema = pa.schema({"start": pa.timestamp("us"), "end": pa.timestamp("us")})
    board = sash.stream(schema, span=("start", "end"), longest=40 * TICK, watermark=0 * TICK, postpone=9 * TICK)
    operator = board.query("n", sf.count(), range=5 * TICK).open()
    operator.push(pa.table({"start": [at(0)], "end": [None]}, schema))
    operator.push(pa.table({"start": [at(2)], "end": [at(3)]}, schema))
    assert operator.late().num_rows == 0


def test_spans_longer_than_time_can_be_counted_are_set_aside():
    kind = pa.timestamp("ns")
    rows = pa.table({"start": pa.array([datetime(1700, 1, 1), datetime(2026, 1, 1)], kind),
                     "end": pa.array([datetime(2200, 1, 1), datetime(2026, 1, 2)], kind)})  # fmt: skip
    for settings in ({}, {"longest": "2 days"}):
        board = sash.stream(rows, span=("start", "end"), **settings).query("n", sf.count(), range="1 day")
        assert board.results()["n"].to_pylist() == [1]
        assert board.late()["reason"].to_pylist() == ["out of reach"]


def test_spans_that_are_far_apart_cost_no_more_than_near_ones():
    rows = pa.table({"start": [datetime(1970, 1, 1), datetime(2026, 1, 1)],
                     "end": [datetime(1970, 1, 1, 0, 0, 1), datetime(2026, 1, 1, 0, 0, 1)]})  # fmt: skip
    board = sash.stream(rows, span=("start", "end")).query("n", sf.count(), range="2.5 seconds", slide="1 second")
    assert board.results()["n"].to_pylist() == [1] * 6


def test_of_a_long_span_only_open_windows_are_kept():
    board = sash.stream(SCHEMA, span=("start", "end"), watermark="0 seconds", postpone="1 hour")
    queries = {"n": sf.count(), "share": sf.sum("v").prorated(), "peak": sf.max("v")}
    operator = board.query(queries, range="1 minute", slide="10 seconds").open()
    year = 365 * 86400 * 10**6
    operator.push(table([(40 * year - 10, 40 * year, "a", 1)]))
    operator.push(table([(0, 40 * year, "a", 8)]))
    assert len(operator.state.cells) < 400
    last = operator.close().to_pylist()[-6]
    assert (last["n"], last["peak"]) == (2, 8)
    assert last["share"] == pytest.approx(1 + 8 * 60 * 10**6 / (40 * year))


def test_queries_are_added_where_slices_stay():
    stream = sash.stream(SCHEMA, span=("start", "end"), key="k", watermark=0 * TICK, postpone=9 * TICK)
    board = stream.query("n", sf.count(), range=10 * TICK)
    job = Job(board, 1)
    job.batch([table([(2, 15, "a", 1)])], None)
    job.asked(board.query("m", sf.count(), range=20 * TICK, slide=10 * TICK))
    job.batch([table([(6, 8, "a", 1)])], None)
    job.asked(board.query("m", sf.count(), range=20 * TICK, slide=10 * TICK).query("x", sf.count(), range=5 * TICK))
    with pytest.raises(SashError, match="x cut slices elsewhere, which spans that are in them cannot follow"):
        job.batch([], None)


def test_a_row_that_is_late_is_told_when_windows_wait_longer_than_before():
    def board(wait):
        stream = sash.stream(SCHEMA, span=("start", "end"), watermark=0 * TICK, postpone=wait * TICK)
        return stream.query("n", sf.count(), range=5 * TICK)

    job = Job(board(0), 1, late=True)
    job.batch([table([(0, 1, "a", 1), (20, 21, "a", 1)])], None)
    job.batch([], ticks(21))
    job.asked(board(30))
    assert job.batch([table([(2, 3, "a", 1)])], ticks(21))[1:][1] == 1


def test_events_by_techniques_that_take_them_one_by_one():
    rows = [(0, 12, "a", 1), (3, 4, "a", 2), (20, 20, "a", 4), (5, 30, "b", None), (6, 9, "b", 3)]
    for using in BY_EVENTS:
        asked = {"n": (5, 2), "total": (5, 2), "peak": (5, 2)}
        board = sash.stream(table(rows), span=("start", "end"), key="k")
        for name in asked:
            board = board.query(name, CALLS[name][0], range=5 * TICK, slide=2 * TICK, using=using)
        check(board.results(), answers(rows, asked), asked)
        assert set(board.explain().chosen.values()) == {using}


def test_months():
    days = [(1, 40), (31, 32), (62, 63), (5, 5)]
    first = datetime(2026, 1, 1)
    rows = pa.table({"start": [first + timedelta(days=low - 1) for low, _ in days],
                     "end": [first + timedelta(days=high - 1) for _, high in days], "v": [1, 2, 3, 4]})  # fmt: skip
    board = sash.stream(rows, span=("start", "end")).query({"n": sf.count(), "v": sf.sum("v")}, range="1 month")
    board = board.query("two", sf.max("v"), range="2 months", slide="1 month")
    found = [(row["window_end"].month, row["n"], row["v"], row["two"]) for row in board.results().to_pylist()]
    assert found == [(2, 3, 7, 4), (3, 1, 1, 4), (4, 1, 3, 3), (5, 0, None, 3)]


def test_the_median_length():
    rows = [(0, 3, "a", 1), (1, 9, "a", 1), (2, 4, "a", 1)]
    board = sash.stream(table(rows), span=("start", "end"))
    board = board.query("m", sf.percentile_disc(sash.col("end") - sash.col("start"), 0.5), range=100 * TICK)
    assert board.results()["m"].to_pylist() == [3 * TICK]


def test_a_span_in_too_many_slices_is_named():
    rows = pa.table({"start": [datetime(1970, 1, 1)], "end": [datetime(2026, 1, 1)]})
    for seconds in ("1 second", "10 seconds"):
        board = sash.stream(rows, span=("start", "end")).query("n", sf.count(), range=seconds)
        with pytest.raises(SashError, match=r"1 spans of a batch may be in 16,777,216 slices, got 1,?7"):
            board.results()
