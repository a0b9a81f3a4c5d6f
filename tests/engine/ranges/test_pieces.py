"""Rows cut into pieces, copied to where they are needed and answered piece by piece: as if answered at once."""

import pickle
from dataclasses import replace
from datetime import date, datetime, timedelta
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sash
from sash import SashError, Window
from sash import functions as sf
from sash.engine.encoding import combined, equality_key
from sash.engine.evaluating import evaluate
from sash.engine.ranges import KeyOrder, Sample, cut, expected, reach, route, sample, together
from sash.windows.frame import CLOSED, UNBOUNDED

NAN, INF = float("nan"), float("inf")
DAYS = [
    date(2024, 1, 29),
    date(2024, 2, 29),
    date(2024, 3, 1),
    date(2024, 3, 30),
    date(2024, 3, 31),
    date(9999, 12, 31),
]
TIMES = [datetime(day.year, day.month, day.day, hour) for day in DAYS[:5] for hour in (0, 10, 12, 23)]
CLOCKS = [datetime(2024, 10, 26, 23, 50) + timedelta(minutes=20 * n) for n in range(11)]  # in UTC; set back at 1:00
CLOCKS += [clock - timedelta(days=1) for clock in CLOCKS] + [clock - timedelta(days=31) for clock in CLOCKS]
COLUMNS = {
    "k": (["a", "b", "a longer key"], pa.string()),
    "j": ([NAN, 0.0, -0.0], pa.float64()),
    "t": ([*range(12), 2**63 - 1, -(2**63)], pa.int64()),
    "u": ([0, 1, 2, 250, 255], pa.uint8()),
    "x": ([NAN, INF, -INF, -0.0, 0.0, 0.5, 1.0, 2.5, 1e308, -1e308], pa.float64()),
    "f": ([NAN, INF, -INF, 0.1, 0.2, 0.3, 0.4, 1e38, -3e38], pa.float32()),
    "s": (["", "a", "b", "ä", "longer than a word", "longer than a words"], pa.string()),
    "d": (DAYS, pa.date32()),
    "c": (TIMES, pa.timestamp("us")),
    "z": (CLOCKS, pa.timestamp("ms", "Europe/Berlin")),
    "n": ([Decimal(n) / 4 for n in range(-4, 5)] + [Decimal("9999.99"), Decimal("-9999.99")], pa.decimal128(6, 2)),
    "e": ([timedelta(minutes=n) for n in range(6)], pa.duration("s")),
    "v": (list(range(-3, 9)), pa.int64()),
}
OFFSETS = {
    "t": [1, 2, 3, 2.5, 2**62],
    "u": [1, 3, Decimal("1.5"), 300],
    "x": [0.5, 1, 1e300],
    "f": [0.1, Decimal("0.2"), 1, 1e30, 1e300],
    "d": [1, 2, "1 month", "2 days", "1 month -40 days"],
    "c": ["12 hours", "1 month", "1 day 2 hours", "1 month -29 days"],
    "z": ["1 day", "1 hour", "1 month", "1 month 1 day"],
    "n": [1, Decimal("0.3"), 0.255, 10000],
    "e": ["1 minute", "90 seconds"],
}
CALLS = [
    sf.sum("v"),
    sf.count("v").filter("v > 1"),
    sf.max("v"),
    sf.avg("v"),
    sf.collect_list("s"),
    sf.first("s"),
    sf.last_value("s").ignore_nulls(),
    sf.nth_value("v", 2).order_by("s desc"),
    sf.median("v").filter("v < 5"),
    sf.percentile_disc("s", 0.3),
    sf.mode("v"),
    sf.count_distinct("v"),
    sf.sum("v").distinct(),
    sf.rank().order_by("x"),
    sf.dense_rank().order_by("s desc").filter("v > 0"),
    sf.cume_dist().order_by("n nulls last"),
    sf.rank("v").order_by("t"),
    sf.lead("s", 2).order_by("v"),
    sf.lag("v", 3),
    sf.lead("s", 2, "none"),
    sf.lag("s", -1),
]  # fmt: skip


@st.composite
def tables(draw, most=40):
    """Rows by chance, with few different values in a table."""
    count, chance = draw(st.integers(0, most)), np.random.default_rng(draw(st.integers(0, 2**16)))
    rows = {}
    for name, (values, kind) in COLUMNS.items():
        some = chance.permutation(len(values) + 1)[: chance.integers(1, len(values) + 2)]
        rows[name] = pa.array([[*values, None][place] for place in chance.choice(some, count)], kind)
    return pa.table(rows)


@st.composite
def orders(draw, names):
    way, nulls = draw(st.sampled_from(["asc", "desc"])), draw(st.sampled_from(["first", "last"]))
    return f"{draw(st.sampled_from(names))} {way} nulls {nulls}"


def negative(offset):
    if not isinstance(offset, str):
        return -offset
    words = offset.split()
    return " ".join(f"{-int(word)}" if place % 2 == 0 else word for place, word in enumerate(words))


@st.composite
def framed(draw, window, key):
    """The window with a frame around the current row, or beside it."""
    kinds = ["rows", "groups", "range"] if key in OFFSETS else ["rows", "groups"]
    kind = draw(st.sampled_from(kinds))
    if kind == "range":
        sizes = draw(st.permutations([0, *OFFSETS[key]]))
        first, second = sizes[:2]
        start, end = draw(st.sampled_from([(negative(first), second), (negative(first), 0), (0, second)]))
        window = window.rangeBetween(start, end).closed(draw(st.sampled_from(["both", "both", *CLOSED])))
    else:
        start, end = sorted(draw(st.tuples(st.integers(-4, 4), st.integers(-4, 4))))
        window = window.rowsBetween(start, end) if kind == "rows" else window.groupsBetween(start, end)
    return window.exclude(draw(st.sampled_from(["no others", "no others", "current row", "group", "ties"])))


@st.composite
def windows(draw):
    """A window and one more of the same order, each with a frame, and the columns of their keys."""
    partition = draw(st.sampled_from([(), (), ("k",), ("j", "k")]))
    if draw(st.booleans()):
        order = [draw(orders(list(OFFSETS)))]
    else:
        order = draw(st.lists(orders(list(COLUMNS)), min_size=1, max_size=3))
    names = [each.split()[0] for each in order]
    window = Window.partitionBy(*partition).orderBy(*order)
    both = [draw(framed(window, names[0] if len(names) == 1 else None)) for _ in range(2)]
    return both, [*partition, *names]


def sampled(keys, order, size, tasks, near=(0, 0)):
    task = np.arange(keys.num_rows) * 7 % tasks
    parts = [sample(keys.filter(pa.array(task == each)), order, size, each, near) for each in range(tasks)]
    return Sample(pa.concat_tables(parts), order)


def keys_of(table, names):
    return pa.Table.from_arrays([table[name] for name in names], [f"c{place}" for place in range(len(names))])


def routed(table, names, window, reaches, pieces, size, tasks):
    keys = keys_of(table, names)
    known = sampled(keys, KeyOrder.of(window), size, tasks, (reaches.before.rows, reaches.after.rows))
    cuts = pickle.loads(pickle.dumps(cut(known, pieces, reaches)))
    return cuts, route(keys, cuts), known


def answered(table, overs, routes):
    """The answers of all pieces, in the order of the rows."""
    own, first, last = routes
    widths = last - first + 1
    source = np.repeat(np.arange(len(own)), widths)
    piece = np.arange(len(source)) - np.repeat(np.cumsum(widths) - widths, widths) + first[source]
    copies = table.take(pa.array(source)).append_column("piece", pa.array(piece, pa.int32()))
    apart = {
        name: replace(over, window=over.window.partitionBy("piece", *over.window.partition))
        for name, over in overs.items()
    }
    return evaluate(copies, apart).filter(pa.array(piece == own[source])).select(list(overs))


@given(
    data=st.data(),
    table=tables(),
    chosen=windows(),
    pieces=st.integers(1, 9),
    size=st.integers(1, 12),
    tasks=st.integers(1, 4),
)
def test_pieces_answer_like_the_whole(data, table, chosen, pieces, size, tasks):
    both, names = chosen
    overs = {f"a{n}": data.draw(st.sampled_from(CALLS)).over(window) for n, window in enumerate(both)}
    cuts, routes, known = routed(table, names, both[0], together(map(reach, overs.values())), pieces, size, tasks)
    own, first, last = routes
    assert (first <= own).all()
    assert (own <= last).all()
    assert cuts.pieces <= max(1, min(pieces, len(known)))
    for piece in range(cuts.pieces):
        here = (first <= piece) & (piece <= last)
        before, after = cuts.promised(piece)
        assert np.count_nonzero(here & (own < piece)) >= before
        assert np.count_nonzero(here & (own > piece)) >= after
    whole = evaluate(table, overs).select(list(overs)).to_pydict()
    assert repr(answered(table, overs, routes).to_pydict()) == repr(whole)


@given(table=tables(), chosen=windows(), pieces=st.integers(2, 9), size=st.integers(2, 12), tasks=st.integers(1, 3))
def test_rows_beyond_a_halo_are_in_the_frames_of_all_rows_of_the_piece(table, chosen, pieces, size, tasks):
    (window, _), names = chosen
    up_to = replace(window.exclude("no others"), given=replace(window.given, start=UNBOUNDED))
    overs = {"n": sf.count().over(up_to)}
    _, routes, _ = routed(table, names, up_to, reach(overs["n"]), pieces, size, tasks)
    own, _, last = routes
    part = combined([np.zeros(len(own), np.uint64), *(equality_key(table[str(name)]) for name in window.partition)])
    carried = [np.count_nonzero((last < piece) & (part == mine)) for piece, mine in zip(own, part, strict=True)]
    whole = evaluate(table, overs)["n"].to_pylist()
    assert [a + b for a, b in zip(answered(table, overs, routes)["n"].to_pylist(), carried, strict=True)] == whole


@pytest.mark.parametrize("frame", [(-50, 0), (0, 50), (-50, 50)])
def test_a_piece_is_about_its_share_of_the_rows_and_takes_few_more(frame):
    keys = pa.table({"t": np.random.default_rng(0).permutation(100_000)})
    window = Window.orderBy("t").rowsBetween(*frame)
    known = sampled(keys, KeyOrder.of(window), 400, 4, (-frame[0], frame[1]))
    cuts = cut(known, 8, reach(sf.sum("t").over(window)))
    own, first, last = route(keys, cuts)
    assert cuts.pieces == 8
    assert np.abs(np.bincount(own) - 12_500).max() < 2000
    assert (last - first).sum() < 7 * 1.5 * 4 * (frame[1] - frame[0])  # as many in each of 4 tasks, where one knows
    assert np.abs(expected(known, cuts) - np.bincount(own)).max() < 1000
    assert len(pickle.dumps(cuts)) < 10_000


def test_rows_with_bounds_of_their_own_are_not_cut():
    window = Window.orderBy("t").rowsBetween(sash.col("v"), 0)
    over = sf.sum("v").over(window)
    known = sampled(pa.table({"t": [1, 2, 3]}), KeyOrder.of(window), 3, 1)
    with pytest.raises(SashError, match="a bound of a frame is a column"):
        cut(known, 2, reach(over))
