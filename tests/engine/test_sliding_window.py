"""Windows managed by hand, against plain lists of rows; and the figures and rules of the 2015 paper."""

import re
from dataclasses import replace
from datetime import date, timedelta
from decimal import Decimal
from functools import reduce
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from sash import Aggregate, SashError, Window, col
from sash import functions as sf
from sash.engine import SlidingWindow
from sash.engine.sliding_state import SPARE, LiveRows
from sash.errors import Overflow

PRIME = 10007
DIGITS = Aggregate(  # 7, 3, 2, 9 is 7329
    "digits",
    lift=lambda x: (x, 10),
    combine=lambda a, b: ((a[0] * b[1] + b[0]) % PRIME, (a[1] * b[1]) % PRIME),
    lower=lambda s: s[0],
)
SCHEMA = pa.schema({"x": pa.int64(), "who": pa.string()})
CALLS = {"digits": DIGITS("x").filter("x <> 5"), "last": sf.last("who")}

numbers = st.none() | st.integers(0, 9)
rows = st.lists(st.tuples(numbers, st.none() | st.text("abc", max_size=2)), max_size=12)


def digits(values):
    """The digits of numbers that are not NULL, in order, from the definition."""
    partials = [DIGITS.lift(x) for x in values if x is not None]
    return DIGITS.lower(reduce(DIGITS.combine, partials)) if partials else None


def expected(found):
    """The answers of CALLS for rows in order."""
    return {"digits": digits([x for x, _ in found if x != 5]), "last": found[-1][1] if found else None}


def batch(found):
    return pa.table({"x": [x for x, _ in found], "who": [who for _, who in found]}, schema=SCHEMA)


class ByHand(RuleBasedStateMachine):
    """A window does as a dict of rows does; and so does its twin, which goes on from a snapshot at any time."""

    def __init__(self):
        super().__init__()
        self.window, self.twin = SlidingWindow(CALLS, SCHEMA), SlidingWindow(CALLS, SCHEMA)
        self.rows = {}
        self.arrived = 0

    def some_ids(self, data):
        return data.draw(st.lists(st.sampled_from(sorted(self.rows)), unique=True), "ids")

    @rule(found=rows)
    def insert(self, found):
        ids = list(range(self.arrived, self.arrived + len(found)))
        assert self.window.insert(batch(found)).tolist() == self.twin.insert(batch(found)).tolist() == ids
        self.rows |= dict(zip(ids, found, strict=True))
        self.arrived += len(found)

    @precondition(lambda self: self.rows)
    @rule(data=st.data())
    def evict(self, data):
        ids = self.some_ids(data)
        self.window.evict(ids)
        self.twin.evict(ids)
        for each in ids:
            del self.rows[each]

    @precondition(lambda self: self.rows)
    @rule(data=st.data())
    def update(self, data):
        ids = self.some_ids(data)
        found = [(data.draw(numbers), f"new {each}") for each in ids]
        self.window.update(ids, batch(found))
        self.twin.update(ids, batch(found))
        self.rows |= dict(zip(ids, found, strict=True))

    @rule()
    def begin_a_twin(self):
        snapshot = self.window.snapshot()
        self.twin = SlidingWindow(CALLS, SCHEMA)
        self.twin.restore(snapshot)
        assert self.twin.snapshot() == snapshot

    @rule(data=st.data())
    def look_up(self, data):
        first, last = (data.draw(st.integers(-1, self.arrived + 1)) for _ in range(2))
        for window in (self.window, self.twin):
            assert window.prefix(last) == self.of(-1, last)
            assert window.suffix(first) == self.of(first, self.arrived)
            assert window.range(first, last) == self.of(first, last)

    def of(self, first, last):
        return expected([row for each, row in sorted(self.rows.items()) if first <= each <= last])

    @invariant()
    def agrees(self):
        for window in (self.window, self.twin):
            assert window.query() == self.of(0, self.arrived)
            assert len(window) == len(self.rows)
        assert self.window.capacity == self.twin.capacity


TestByHand = ByHand.TestCase
FEW = max(settings.default.max_examples // 2, 1)
TestByHand.settings = settings(stateful_step_count=25, max_examples=min(25, FEW))


def slots(window):
    """What is in the slots of the tree, the first slot of the window, and the last."""
    (fold,) = window._folds.values()
    state = fold.tree.state()
    _, _, front, held = state["marks"].tolist()
    capacity = window.capacity
    nodes = fold.tree._nodes[capacity:]
    leaves = [int(node["f1"]) if live else None for node, live in zip(nodes, state["live"][capacity:], strict=True)]
    return leaves, front, (front + held - 1) % capacity


def test_figure_5():
    window = SlidingWindow(DIGITS("x"), {"x": "int64"})
    assert window.capacity == 4
    events = [
        # what happens, the answer, the slots, front, back
        ("arrives", 4, 4, [4, None, None, None], 0, 0),
        ("arrives", 7, 47, [4, 7, None, None], 0, 1),
        ("arrives", 3, 473, [4, 7, 3, None], 0, 2),
        ("arrives", 2, 4732, [4, 7, 3, 2], 0, 3),
        ("leaves", 0, 732, [None, 7, 3, 2], 1, 3),
        ("arrives", 9, 7329, [9, 7, 3, 2], 1, 0),  # inverted: the root of the tree is 9732
    ]
    for event, what, answer, leaves, front, back in events:
        if event == "arrives":
            window.insert({"x": [what]})
        else:
            window.evict(what)
        assert slots(window) == (leaves, front, back)
        assert window.query() == answer
    assert window.capacity == 4
    assert [window.prefix(k) for k in (1, 2, 3, 4)] == [7, 73, 732, 7329]
    assert [window.suffix(k) for k in (1, 2, 3, 4)] == [7329, 329, 29, 9]
    assert window.range(2, 3) == 32


@pytest.mark.parametrize(
    ("leave", "capacity", "leaves"),
    [
        ([2], 16, [1, 2, 4, 5, 6, 7, 8, 9]),  # seven of eight are left: doubled
        ([2, 5], 8, [1, 2, 4, 5, 7, 8, 9]),  # six: compacted
        ([2, 5, 6], 8, [1, 2, 4, 5, 8, 9]),
        ([0, 1], 8, None),  # from the front: there is room already
    ],
)
def test_a_full_buffer_is_compacted_up_to_three_quarters_and_doubled_above(leave, capacity, leaves):
    window = SlidingWindow(DIGITS("x"), {"x": "int64"})
    window.insert({"x": [1, 2, 3, 4, 5, 6, 7, 8]})
    assert window.capacity == 8
    window.evict(leave)
    before = window.query()
    assert window.capacity == 8
    window.insert({"x": [9]})
    assert window.capacity == capacity
    assert window.query() == (before * 10 + 9) % PRIME
    found, front, _ = slots(window)
    if leaves is None:
        assert (found, front) == ([9, None, 3, 4, 5, 6, 7, 8], 2)
    else:
        assert (found, front) == (leaves + [None] * (capacity - len(leaves)), 0)


def test_less_than_a_quarter_is_halved():
    window = SlidingWindow(DIGITS("x"), {"x": "int64"})
    window.insert({"x": [1, 2, 3, 4, 5, 6, 7, 8, 9]})
    assert window.capacity == 16
    window.evict([1, 3, 4, 5, 7])
    assert (window.capacity, window.query()) == (16, 1379)
    window.evict(6)
    assert (window.capacity, window.query()) == (8, 139)
    assert slots(window) == ([1, 3, 9, None, None, None, None, None], 0, 2)
    window.evict([0, 2, 8])
    assert (window.capacity, window.query(), len(window)) == (4, None, 0)
    assert window.insert({"x": [5]}).tolist() == [9]


def test_a_row_that_is_not_counted_holds_its_place():
    window = SlidingWindow(DIGITS("x").filter("x < 8"), {"x": "int64"})
    ids = window.insert({"x": [None, 1, 9, 2, None]})
    assert (len(window), window.capacity, window.query()) == (5, 8, 12)
    window.update(ids[[0, 2, 4]], {"x": [3, 4, 5]})
    assert window.query() == 31425 % PRIME
    window.update(ids[1:4], {"x": [None, None, 9]})
    assert window.query() == 35
    window.evict(ids[1])
    window.evict(ids[[0, 4]])
    assert (len(window), window.query()) == (2, None)
    window.update(ids[3], {"x": [6]})
    assert window.query() == 6


def test_lift_is_not_asked_for_rows_that_are_not_counted():
    shares = Aggregate("shares", lift=lambda x: 12 // x, combine=lambda a, b: a + b, compiled=False)
    window = SlidingWindow(shares("x").filter("x <> 0"), SCHEMA)
    window.insert({"x": [None, 0]})
    assert window.query() is None
    window.insert({"x": [3, None, 4, 0]})
    assert window.query() == 7


def python_only(call):
    """The same call, run as plain Python: there is nothing to compile for a test of types."""
    function = call.aggregate
    return replace(call, aggregate=function.but(compiled=False)) if isinstance(function, Aggregate) else call


TABLE = pa.table(
    {
        "i": pa.array([3, None, -7, 12, 5, 12], pa.int32()),
        "b": pa.array([True, False, None, True, True, False]),
        "f": pa.array([1.5, 2.5, None, -1.0, 4.0, 0.25], pa.float32()),
        "d": pa.array([Decimal("1.50"), Decimal("-9.25"), None, Decimal("7.00"), Decimal("7.00"), None]),
        "u": pa.array([2**63 + 1, 5, 2**64 - 1, 8, None, 6], pa.uint64()),
        "on": pa.array([date(2024, 1, k) for k in (5, 9, 2, 9, 1, 7)]),
        "at": pa.array([5, None, 9, 1, 1, 2], pa.timestamp("us", "UTC")),
        "for": pa.array([timedelta(seconds=k) for k in (5, 9, 2, 9, 1, 7)]),
        "who": pa.array(["ann", None, "bob", "cleo", "dan", "eve"]),
        "kind": pa.array(["a", "b", "a", None, "c", "c"]).dictionary_encode(),
    }
)


def known(found, name):
    """The values of a column that are not NULL."""
    return [row[name] for row in found if row[name] is not None]


def most(found, of, by, pick=max):
    """The value of a column in the first row where another is largest."""
    some = [row for row in found if row[by] is not None]
    return pick(some, key=lambda row: row[by])[of] if some else None


TYPED = [
    (sf.count("i"), lambda found: len(known(found, "i"))),
    (sf.count().filter("i > 4"), lambda found: sum(i > 4 for i in known(found, "i"))),
    (sf.sum("i"), lambda found: sum(known(found, "i"))),
    (sf.sum(col("i") * col("f")), lambda found: sum(r["i"] * r["f"] for r in found if None not in (r["i"], r["f"]))),
    (sf.avg("i"), lambda found: sum(known(found, "i")) / len(known(found, "i"))),
    (sf.max("i").distinct(), lambda found: max(known(found, "i"))),
    (sf.min("f"), lambda found: min(known(found, "f"))),
    (sf.bool_and("b"), lambda found: all(known(found, "b"))),
    (sf.max("b"), lambda found: max(known(found, "b"))),
    (sf.top_k("i", 2), lambda found: sorted(known(found, "i"), reverse=True)[:2]),
    (sf.max("d"), lambda found: max(known(found, "d"), default=None)),
    (sf.min("u"), lambda found: min(known(found, "u"))),
    (sf.max("u"), lambda found: max(known(found, "u"))),
    (sf.max_by("who", "i"), lambda found: most(found, "who", "i")),
    (sf.min_by("on", "f"), lambda found: most(found, "on", "f", min)),
    (sf.max_by("d", "on"), lambda found: most(found, "d", "on")),
    (sf.min_by("who", "d"), lambda found: most(found, "who", "d", min)),
    (sf.max_by("kind", "i").filter("f > 0"), lambda found: most([r for r in found if (r["f"] or 0) > 0], "kind", "i")),
    (sf.first("who"), lambda found: found[0]["who"]),
    (sf.last("d"), lambda found: found[-1]["d"]),
    (sf.last("who", True), lambda found: known(found, "who")[-1]),
    (sf.last_value("kind"), lambda found: found[-1]["kind"]),
    (sf.any_value("u"), lambda found: found[0]["u"]),
]


@pytest.mark.parametrize("gone", [[], [0, 3], [1], [5, 2, 0], [0, 1, 2, 3, 4]])
def test_answers_are_of_the_types_of_their_columns(gone):
    window = SlidingWindow({str(call): python_only(call) for call, _ in TYPED}, TABLE.schema)
    ids = np.append(window.insert(TABLE.slice(0, 2)), window.insert(TABLE.slice(2).to_batches()[0]))
    window.evict(ids[gone])
    left = [row for place, row in enumerate(TABLE.to_pylist()) if place not in gone]
    answers, wanted = window.query(), {str(call): answer(left) for call, answer in TYPED}
    assert answers == wanted
    assert {name: type(each) for name, each in answers.items()} == {name: type(each) for name, each in wanted.items()}


def test_decimals_and_times_are_answered_as_such():
    window = SlidingWindow({"mean": sf.avg("d"), "since": sf.min("at")}, TABLE.schema)
    window.insert(TABLE.slice(0, 3))
    assert window.query() == {"mean": Decimal("-3.875000"), "since": TABLE["at"][0].as_py()}
    assert window.range(1, 1) == {"mean": Decimal("-9.250000"), "since": None}
    assert window.range(3, 9) == {"mean": None, "since": None}


def test_a_sum_that_does_not_fit_is_no_answer():
    window = SlidingWindow(python_only(sf.sum("x")), SCHEMA)
    ids = window.insert({"x": [2**62, 2**62, 1]})
    with pytest.raises(Overflow, match="does not fit 64 bits"):
        window.query()
    window.evict(ids[1])
    assert window.query() == 2**62 + 1


def test_a_snapshot_of_types_that_are_not_plain_numbers():
    calls = {"by": sf.max_by("who", "d"), "last": sf.last("kind")}
    window, twin = SlidingWindow(calls, TABLE.schema), SlidingWindow(calls, TABLE.schema)
    window.evict(window.insert(TABLE)[[0, 3]])
    twin.restore(window.snapshot())
    for each in (window, twin):
        each.insert(TABLE.slice(0, 1))
        assert each.query() == {"by": "dan", "last": "a"}
        each.evict([1, 4])
        assert each.query() == {"by": "ann", "last": "a"}


@given(st.data())
def test_a_damaged_snapshot_is_found_out(data):
    window = SlidingWindow(DIGITS("x"), SCHEMA)
    window.insert({"x": range(5)})
    snapshot = bytearray(window.snapshot())
    place = data.draw(st.integers(0, len(snapshot) - 1))
    if data.draw(st.booleans()):
        snapshot[place] ^= 1 << data.draw(st.integers(0, 7))
    else:
        del snapshot[place:]
    with pytest.raises(SashError, match=r"^snapshot must be "):
        window.restore(bytes(snapshot))
    assert (len(window), window.query()) == (5, 1234)


def test_a_snapshot_of_another_window_is_refused():
    window = SlidingWindow(DIGITS("x"), SCHEMA)
    snapshot = window.snapshot()
    with pytest.raises(
        SashError, match=r"of a window of digits\(y\) over y int64, got one of digits\(x\) over x int64"
    ):
        SlidingWindow(DIGITS("y"), {"y": "int64"}).restore(snapshot)
    with pytest.raises(SashError, match=r"snapshot must be bytes that begin with .*, got str"):
        window.restore("text")
    alike = DIGITS.but(combine=lambda a, b: (b[0] * a[1] + a[0], a[1] * b[1]))
    with pytest.raises(SashError, match="of the same aggregate"):
        SlidingWindow(alike("x"), SCHEMA).restore(snapshot)
    slow = SlidingWindow(python_only(DIGITS("x")), SCHEMA)
    with pytest.raises(SashError, match=r"of a window of digits\(x\) in plain Python over x int64, got one of"):
        slow.restore(snapshot)
    with pytest.raises(SashError, match=r"digits\(x\) has no snapshot: with compiled=False"):
        slow.snapshot()


@pytest.mark.parametrize(
    ("calls", "message"),
    [
        (sf.collect_list("x"), "takes rows that follow each other"),
        (sf.ith_youngest("x", 2), "takes rows that follow each other"),
        (sf.median("x"), "median(x) has no place in a sliding window"),
        (sf.rank().order_by("x"), "rank is no aggregate of partials"),
        (sf.nth_value("x", 2), "nth_value is no aggregate"),
        (sf.count_distinct("x"), "count_distinct is no aggregate"),
        (sf.sum("x").distinct(), "what is distinct is not known of partials"),
        (sf.first("x").order_by("who"), "its rows are in order of arrival"),
        (sf.max("who"), "max(who) in a sliding window takes a column of numbers or times, got string"),
        (sf.max_by("x", "who"), "takes a column of numbers or times, got string"),
        (sf.sum("who"), "sum takes columns of numbers, got string"),
        (sf.sum("y"), "there is no column 'y'; there are x, who"),
        (sf.count().filter("y > 1"), "there is no column 'y'"),
        (sf.count().filter("x + 1"), "a filter must be boolean"),
        (sf.max("x").over(Window.orderBy("x")), 'calls must be such as sf.max("load")'),
        ("x", "calls must be such as"),
        ({}, "calls must hold at least one call"),
        ({1: sf.count()}, "each under a name, got {1: count()}"),
    ],
)
def test_what_cannot_be_kept_is_refused_by_name(calls, message):
    with pytest.raises(SashError, match=re.escape(message)):
        SlidingWindow(calls, SCHEMA)


@pytest.mark.parametrize(
    ("schema", "message"),
    [
        (["x"], "schema must be an Arrow schema or a dict of types, got list"),
        ({"x": "number"}, "schema must give 'x' a type of Arrow or NumPy, got 'number'"),
        (pa.schema([("x", pa.int64()), ("x", pa.int64())]), "schema must name each column once, got x, x"),
    ],
)
def test_a_schema_is_checked(schema, message):
    with pytest.raises(SashError, match=message):
        SlidingWindow(sf.count("x"), schema)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda w: w.insert([1, 2]), "batch must be an Arrow table or record batch, or a dict of columns, got list"),
        (lambda w: w.insert({"y": [1]}), "batch must have one column 'x', got none"),
        (lambda w: w.insert({"x": ["one"]}), "batch must have int64 in its column 'x', got others"),
        (lambda w: w.insert({"x": 1}), "batch must have int64 in its column 'x'"),
        (lambda w: w.insert({"x": [2**70]}), "batch must have int64 in its column 'x'"),
        (lambda w: w.insert(pa.table({"x": [1.5]})), "batch must have int64 in its column 'x', got double"),
        (lambda w: w.insert({"x": pa.array([1.5])}), "batch must have int64 in its column 'x', got double"),
        (lambda w: w.insert({"x": [1], "who": ["a", "b"]}), r"batch must have columns of one length, got \[1, 2\]"),
        (lambda w: w.evict([0, 3, 7]), "ids must be of rows in the window, got 3, 7"),
        (lambda w: w.evict([1, 0, 1]), "ids must name each row once, got 1 again"),
        (lambda w: w.evict([True, False]), "ids must be arrival numbers as insert gives them, got"),
        (lambda w: w.evict([[0]]), "ids must be arrival numbers"),
        (lambda w: w.evict([[0], [1, 2]]), "ids must be arrival numbers"),
        (lambda w: w.evict("0"), "ids must be arrival numbers as insert gives them, got '0'"),
        (lambda w: w.update([3], {"x": [1], "who": ["a"]}), "ids must be of rows in the window, got 3"),
        (lambda w: w.update([1, 1], {"x": [1, 2], "who": ["a", "b"]}), "ids must name each row once, got 1 again"),
        (lambda w: w.update([1], {"x": [1, 2], "who": ["a", "b"]}), "batch must have a row for each of 1 ids, got 2"),
        (lambda w: w.prefix(1.5), "id must be an arrival number as insert gives it, got 1.5"),
        (lambda w: w.range(0, None), "last must be an arrival number as insert gives it, got None"),
    ],
)
def test_what_is_wrong_is_named_and_changes_nothing(change, message):
    window = SlidingWindow(CALLS, SCHEMA)
    window.insert({"x": [1, 2, 3], "who": ["a", "b", "c"]})
    before = window.snapshot()
    with pytest.raises(SashError, match=message):
        change(window)
    assert window.snapshot() == before


def test_an_aggregate_of_ones_own_may_have_the_name_of_a_built_in():
    own = Aggregate("first_value", lift=lambda x: x, combine=lambda a, b: a + b, compiled=False)
    window = SlidingWindow(own("x"), SCHEMA)
    window.insert({"x": [1, 2, 3]})
    assert window.query() == 6


def test_batches_come_in_many_forms():
    window = SlidingWindow(python_only(sf.sum(col("x") * 2)), {"x": np.int64, "unused": pa.string()})
    for each in (
        pa.table({"other": ["a"], "x": [1]}),
        pa.record_batch({"x": [2]}),
        {"x": np.array([3], np.int8)},
        {"x": pa.chunked_array([[4], [5]])},
        {"x": []},
    ):
        window.insert(each)
    assert window.query() == 30
    rows = SlidingWindow(python_only(sf.count()), {})
    rows.insert({"anything": ["a", "b"]})
    rows.insert(pa.table({"anything": [1]}))
    assert rows.query() == 3
    with pytest.raises(SashError, match="batch must have a column to say how many rows there are"):
        rows.insert({})


def test_an_answer_by_row_must_be_a_row_of_the_window():
    before = Aggregate("before", lift=lambda row: row, combine=lambda a, b: b, lower=lambda row: row - 1, rows=True,
                       returns="row", compiled=False)  # fmt: skip
    window = SlidingWindow(before("who"), SCHEMA)
    window.insert({"x": [1, 2], "who": ["a", "b"]})
    assert window.query() == "a"
    window.evict(0)
    with pytest.raises(SashError, match="lower must give the row of a partial, got 0, which is not in the window"):
        window.query()


@given(st.lists(st.tuples(st.sampled_from("pud"), st.integers(1, 40)), max_size=30), st.randoms(use_true_random=False))
def test_live_rows_are_few_tables_of_few_dead_rows(steps, random):
    live, rows, arrived = LiveRows(), {}, 0
    for step, count in steps:
        chosen = random.sample(sorted(rows), min(count, len(rows)))
        if step == "p":
            chosen, arrived = list(range(arrived, arrived + count)), arrived + count
        if step == "d":
            live.drop(np.array(chosen, np.int64))
            for each in chosen:
                del rows[each]
        else:
            values = [str(random.random()) for _ in chosen]
            live.put(np.array(chosen, np.int64), pa.table({"v": values}))
            rows |= dict(zip(chosen, values, strict=True))
        assert {each: live.value("v", each) for each in rows} == rows
        assert live.length <= 2 * len(rows) + SPARE
        sizes = [table.num_rows for table in live.tables]
        assert all(longer >= 2 * shorter for longer, shorter in pairwise(sizes))
        assert sum(sizes) == live.length
