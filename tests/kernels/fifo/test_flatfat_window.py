"""Windows that are not FIFO, against a plain list of rows; and the costs that the paper promises."""

import itertools
from math import ceil, log2

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from oracle import oracle
from sash import Aggregate, SashError
from sash.algebra.catalogue.positions import COLLECT, FIRST, LAST
from sash.errors import Refused
from sash.kernels.fifo.flatfat_window import FlatFat

AFFINE = Aggregate(
    "affine",
    lift=lambda x: (x % 7 + 1, x),
    combine=lambda a, b: ((a[0] * b[0]) % 10007, (a[1] * b[0] + b[1]) % 10007),
)
CONCAT = Aggregate("concat", lift=lambda x: x, combine=lambda a, b: a + b, compiled=False)

integers = st.integers(-1000, 1000)


def listed(answered):
    """Answers as a list, None for NULL."""
    return [value if ok else None for value, ok in zip(answered.values.tolist(), answered.valid, strict=True)]


def whole(window):
    """The answer of the whole window, None for NULL."""
    value, ok = window.query()
    return getattr(value, "item", lambda: value)() if ok else None


class AnyOrder(RuleBasedStateMachine):
    """Do as a list of (id, rows merged into it) does; between two steps the window is moved by its state."""

    compiled = True

    def __init__(self):
        super().__init__()
        self.aggregate = AFFINE.but(compiled=self.compiled)
        self.window = FlatFat(self.aggregate, np.int64)
        self.rows = {}
        self.arrived = 0

    def ids(self, data, least=0, unique=True):
        return data.draw(st.lists(st.sampled_from(sorted(self.rows)), min_size=least, unique=unique), "ids")

    def expected(self, frames):
        """The oracle's answers of ranges of ids, both ends included."""
        flat = [(i, value) for i, values in sorted(self.rows.items()) for value in values]
        bounds = [(sum(i < lo for i, _ in flat), sum(i <= hi for i, _ in flat)) for lo, hi in frames]
        return oracle(self.aggregate, [[value for _, value in flat]], bounds)

    def leave(self, ids):
        self.window.evict(ids)
        for i in ids:
            del self.rows[i]

    @initialize(values=st.lists(integers, min_size=2, max_size=12))
    def begin(self, values):
        self.insert(values)

    @rule(values=st.lists(integers, max_size=12))
    def insert(self, values):
        ids = self.window.insert(np.array(values, np.int64))
        assert ids.tolist() == list(range(self.arrived, self.arrived + len(values)))
        self.rows |= {i: [value] for i, value in zip(ids.tolist(), values, strict=True)}
        self.arrived += len(values)

    @precondition(lambda self: self.rows)
    @rule(data=st.data())
    def evict(self, data):
        self.leave(self.ids(data))

    @precondition(lambda self: self.rows)
    @rule(step=st.integers(2, 5))
    def punch_holes(self, step):
        self.leave(sorted(self.rows)[1::step])

    @precondition(lambda self: self.window.capacity <= 32)
    @rule(beyond=st.integers(-1, 2), value=integers)
    def fill_up(self, beyond, value):
        """Insert until the buffer is full, or just not: what compacts it, or doubles it."""
        held = self.window.state()["marks"][3]
        self.insert([value + k for k in range(self.window.capacity - held + beyond)])

    @precondition(lambda self: self.rows)
    @rule(data=st.data())
    def evict_the_oldest(self, data):
        self.leave(sorted(self.rows)[: data.draw(st.integers(1, len(self.rows)), "how many")])

    @precondition(lambda self: self.rows)
    @rule(data=st.data())
    def slide(self, data):
        """Evict the oldest and insert as many: what wraps the buffer around."""
        values = data.draw(st.lists(integers, min_size=1, max_size=len(self.rows)), "values")
        self.leave(sorted(self.rows)[: len(values)])
        self.insert(values)

    @precondition(lambda self: self.rows)
    @rule(data=st.data())
    def update(self, data):
        ids = self.ids(data, unique=False)
        values = data.draw(st.lists(integers, min_size=len(ids), max_size=len(ids)), "values")
        self.window.update(ids, np.array(values, np.int64))
        self.rows |= {i: [value] for i, value in zip(ids, values, strict=True)}

    @precondition(lambda self: self.rows)
    @rule(data=st.data())
    def merge(self, data):
        ids = self.ids(data, unique=False)
        values = data.draw(st.lists(integers, min_size=len(ids), max_size=len(ids)), "values")
        self.window.merge(ids, np.array(values, np.int64))
        for i, value in zip(ids, values, strict=True):
            self.rows[i].append(value)

    @rule(data=st.data())
    def ranges(self, data):
        ids = st.integers(-2, self.arrived + 2)
        frames = data.draw(st.lists(st.tuples(ids, ids), max_size=20), "frames")
        answered = self.window.ranges([lo for lo, _ in frames], [hi for _, hi in frames])
        assert listed(answered) == self.expected(frames)

    @precondition(lambda self: len(self.rows) < self.arrived)
    @rule(data=st.data())
    def refuse_what_has_left(self, data):
        gone = data.draw(st.sampled_from(sorted(set(range(self.arrived)) - set(self.rows))), "gone")
        before = self.window.state()
        for change in (self.window.evict, lambda ids: self.window.update(ids, np.zeros(len(ids), np.int64))):
            with pytest.raises(SashError, match=rf"got {gone}$"):
                change([*self.rows, gone])
        after = self.window.state()
        assert all(np.array_equal(before[name], after[name]) for name in before)

    @invariant()
    def agrees_with_the_oracle(self):
        state = self.window.state()
        self.window = FlatFat(self.aggregate, np.int64)
        self.window.restore(state)
        assert len(self.window) == len(self.rows)
        assert [whole(self.window)] == self.expected([(0, self.arrived)])
        ids = list(range(-1, self.arrived + 1))
        some = ids if self.compiled else ids[:: max(1, len(ids) // 12)]
        assert listed(self.window.prefix(some)) == self.expected([(0, i) for i in some])
        assert listed(self.window.suffix(some)) == self.expected([(i, self.arrived) for i in some])

    @invariant()
    def is_neither_too_large_nor_too_small(self):
        capacity = self.window.capacity
        assert capacity == 4 or 4 * len(self.window) >= capacity
        assert len(self.window) <= capacity
        assert capacity & (capacity - 1) == 0


class AnyOrderInPython(AnyOrder):
    compiled = False


TestCompiled = AnyOrder.TestCase
TestCompiled.settings = settings(stateful_step_count=40)
TestInPython = AnyOrderInPython.TestCase
TestInPython.settings = settings(stateful_step_count=40, max_examples=min(40, settings.default.max_examples))


@given(st.data())
def test_a_bulk_has_the_capacity_of_its_rows_one_by_one(data):
    bulk, single = FlatFat(AFFINE, np.int64), FlatFat(AFFINE, np.int64)
    live = []
    for _ in range(data.draw(st.integers(1, 8))):
        if data.draw(st.booleans()):
            values = np.arange(data.draw(st.integers(0, 40)))
            live += bulk.insert(values).tolist()
            for value in values:
                single.insert([value])
        else:
            leaving = data.draw(st.lists(st.sampled_from(live), unique=True)) if live else []
            live = [i for i in live if i not in leaving]
            bulk.evict(leaving)
            for i in leaving:
                single.evict([i])
        assert bulk.capacity == single.capacity
        assert whole(bulk) == whole(single)
        single.restore(bulk.state())


class Counting:
    """A window of strings or numbers, in plain Python, that counts how often it combines."""

    def __init__(self, *values, capacity=4, commutative=False):
        self.calls = 0

        def combine(a, b):
            self.calls += 1
            return a + b

        self.window = FlatFat(CONCAT.but(combine=combine, commutative=commutative), object, capacity=capacity)
        self.window.insert(list(values))

    def cost(self, method, *arguments):
        """How many combines a call takes."""
        before = self.calls
        getattr(self.window, method)(*arguments)
        return self.calls - before


def inverted(capacity, rows, turned, **making):
    """A window of so many rows whose first slot is ``turned``."""
    counted = Counting(*range(turned), capacity=capacity, **making)
    keep = counted.window.insert([0]) if turned else []
    counted.window.evict(range(turned))
    counted.window.insert(list(range(rows - len(keep))))
    assert len(counted.window) == rows
    assert counted.window.capacity == capacity
    assert counted.window.state()["marks"][2] == turned
    return counted


def bound(changed, capacity):
    return changed * (1 + ceil(log2(capacity / changed)))


def test_a_bulk_change_of_any_eight_leaves_costs_what_theorem_4_2_says():
    for chosen in range(1, 256):
        ids = [i for i in range(8) if chosen >> i & 1]
        counted = Counting(*range(8), capacity=8)
        assert counted.cost("update", ids[::-1], ids) <= bound(len(ids), 8)
        assert counted.cost("merge", ids, ids) <= len(ids) + bound(len(ids), 8)
        assert counted.cost("evict", ids) <= bound(len(ids), 8)
    for rows in range(1, 9):
        assert Counting(capacity=8).cost("insert", list(range(rows))) <= bound(rows, 8)
        for turned in range(8):
            assert inverted(8, 1, turned).cost("insert", list(range(rows - 1))) <= bound(max(rows - 1, 1), 8)


@settings(max_examples=30)
@given(st.sampled_from([64, 256, 1024]), st.data())
def test_a_bulk_change_costs_what_theorem_4_2_says(capacity, data):
    ids = data.draw(st.lists(st.integers(0, capacity - 1), min_size=1, unique=True))
    counted = Counting(*range(capacity), capacity=capacity)
    assert counted.cost("update", ids, ids) <= bound(len(ids), capacity)
    assert counted.cost("evict", ids) <= bound(len(ids), capacity)


def test_evenly_spread_changes_cost_the_most_and_keep_the_bound():
    for capacity, changed in itertools.product([64, 1024], [1, 2, 16, 32, 64]):
        counted = Counting(*range(capacity), capacity=capacity)
        ids = range(0, capacity, capacity // changed)
        # Paths from leaves so far apart only meet where a level has no more nodes than that.
        assert counted.cost("update", ids, ids) == changed * int(log2(capacity // changed)) + changed - 1


def test_building_combines_each_pair_once():
    for rows in range(1, 40):
        assert Counting(*range(rows), capacity=1).calls == rows - 1
        grown = Counting(*range(rows), capacity=4)
        assert grown.calls <= rows - 1


@pytest.mark.parametrize("evicted", [[], [0, 1, 2], [9, 20, 21], [0, 30, 31]])
def test_looking_up_an_unwrapped_window(evicted):
    counted = Counting(*range(32), capacity=32)
    counted.window.evict(evicted)
    assert counted.cost("query") == 0
    assert max(counted.cost("prefix", [i]) for i in range(32)) <= 5
    assert max(counted.cost("suffix", [i]) for i in range(32)) <= 5
    assert max(counted.cost("ranges", [i], [j]) for i in range(32) for j in range(i, 32)) <= 2 * 5


def test_looking_up_an_inverted_window():
    for turned, rows in itertools.product(range(32), [25, 31, 32]):
        counted = inverted(32, rows, turned)
        limit = 2 * 5 - 1 if turned + rows > 32 else 0  # the README's count: two log2 n and one to join them
        assert counted.cost("query") <= limit
        ids = np.arange(turned, turned + rows)
        assert max(counted.cost("prefix", [i]) for i in ids) <= 2 * 5
        assert max(counted.cost("suffix", [i]) for i in ids) <= 2 * 5


def test_the_root_answers_where_the_order_of_rows_does_not_matter():
    for turned, rows in itertools.product(range(1, 32), [2, 25, 31, 32]):
        counted = inverted(32, rows, turned, commutative=True)
        assert whole(counted.window) == sum(range(rows - 1))
        assert counted.cost("query") == 0
        counted.window.evict([turned + rows - 1])
        assert whole(counted.window) == sum(range(rows - 2))


@settings(max_examples=30)
@given(st.lists(st.booleans(), max_size=300), st.randoms(use_true_random=False))
def test_one_row_at_a_time_costs_log_n_amortised(inserts, random):
    counted, live, most = Counting(), [], 4
    steps = [True] * 100 + inserts
    for insert in steps:
        if insert or not live:
            live += counted.window.insert([1]).tolist()
        else:
            counted.window.evict([live.pop(random.randrange(len(live)))])
        most = max(most, counted.window.capacity)
    # 5.1.1: a compaction is paid by a quarter of the capacity in evictions, a resize by an eighth.
    assert counted.calls <= len(steps) * (log2(most) + 3 + 2)


def test_figure_3():
    counted = Counting(*"abcdefgh", capacity=8)
    assert counted.calls == 7
    assert listed(counted.window.prefix([6])) == ["abcdefg"]
    assert counted.calls == 7 + 2  # T(e) ⊕ T(c) ⊕ a[7]


def test_figure_4():
    counted = Counting(*"abcdefgh", capacity=8)
    assert counted.cost("update", [0, 1, 3, 6], list("ABDG")) == 6
    assert whole(counted.window) == "ABcDefGh"


def test_figure_5():
    window = FlatFat(CONCAT, object, capacity=4)
    events = [
        # what happens, contents, slots, front, back
        ("4", "4", "4...", 0, 0),
        ("7", "47", "47..", 0, 1),
        ("3", "473", "473.", 0, 2),
        ("2", "4732", "4732", 0, 3),
        (0, "732", ".732", 1, 3),
        ("9", "7329", "9732", 1, 0),
    ]
    for event, contents, slots, front, back in events:
        if isinstance(event, str):
            window.insert([event])
        else:
            window.evict([event])
        state = window.state()
        _, _, first, held = state["marks"].tolist()
        shown = [str(leaf) if live else "." for leaf, live in zip(state["nodes"][4:], state["live"][4:], strict=True)]
        assert "".join(shown) == slots
        assert (first, (first + held - 1) % 4) == (front, back)
        assert whole(window) == contents
    assert window.state()["nodes"][1] == "9732"  # what the root alone would answer, inverted
    assert listed(window.prefix([1, 2, 3, 4])) == ["7", "73", "732", "7329"]
    assert listed(window.suffix([1, 2, 3, 4])) == ["7329", "329", "29", "9"]


def test_a_fifo_window_uses_its_space_again():
    counted = Counting(*"abcd", capacity=4)
    for i in range(100):
        assert counted.cost("evict", [i]) <= 2
        assert counted.cost("insert", [chr(97 + (i + 4) % 26)]) <= 2
        assert whole(counted.window) == "".join(chr(97 + k % 26) for k in range(i + 1, i + 5))
    assert counted.window.capacity == 4


def test_an_emptied_window_begins_anew():
    counted = Counting(*"abc", capacity=4)
    counted.window.evict([0, 2, 1])
    counted.window.insert(list("defg"))
    assert counted.cost("query") == 0
    assert whole(counted.window) == "defg"


@pytest.mark.parametrize(("evicted", "capacity"), [([3], 16), ([3, 5], 8), ([3, 4, 5, 6], 8)])
def test_a_full_buffer_is_compacted_up_to_three_quarters_and_doubled_above(evicted, capacity):
    counted = Counting(*"abcdefgh", capacity=8)
    counted.window.evict(evicted)
    assert counted.window.capacity == 8
    cost = counted.cost("insert", ["i"])
    left = [k for k in range(9) if k not in evicted]
    assert counted.window.capacity == capacity
    assert cost == len(left) - 1
    state = counted.window.state()
    assert state["ids"][: len(left)].tolist() == left
    assert state["live"][capacity:].tolist() == [1] * len(left) + [0] * (capacity - len(left))
    assert listed(counted.window.prefix(left)) == [
        "".join("abcdefghi"[k] for k in left[: n + 1]) for n in range(len(left))
    ]


def test_less_than_a_quarter_is_halved():
    counted = Counting(*"abcdefghi", capacity=4)
    assert counted.window.capacity == 16
    counted.window.evict([1, 3, 5, 6, 7])
    assert counted.window.capacity == 16
    assert counted.cost("evict", [4]) <= 2
    state = counted.window.state()
    assert counted.window.capacity == 8
    assert state["ids"][:3].tolist() == [0, 2, 8]
    assert state["live"][8:].tolist() == [1, 1, 1, 0, 0, 0, 0, 0]
    assert whole(counted.window) == "aci"
    counted.window.evict([0, 2, 8])
    assert counted.window.capacity == 4
    assert whole(counted.window) is None
    assert counted.window.insert(["z"]).tolist() == [9]


def test_a_window_is_never_smaller_than_asked():
    window = FlatFat(AFFINE, np.int64, capacity=50)
    assert window.capacity == 64
    window.evict(window.insert(np.arange(300)))
    assert window.capacity == 64


def test_an_out_of_order_event_joins_an_older_slice():
    window = FlatFat(CONCAT, object)
    window.insert(["a", "b", "c"])
    window.merge([1, 0, 1], ["x", "y", "z"])
    assert whole(window) == "aybxzc"


def test_rows_are_lifted_with_their_ids():
    first, last = FlatFat(FIRST), FlatFat(LAST)
    for window in (first, last):
        window.insert(rows=9)
        window.evict([0, 1, 8])
        window.insert(rows=20)
        window.evict([28])
    assert (whole(first), whole(last)) == (2, 27)
    assert listed(last.ranges([3, 8, 8], [6, 9, 8])) == [6, 9, None]


def test_an_answer_may_be_null():
    odd = Aggregate("odd", lift=lambda x: x, combine=lambda a, b: a + b, lower=lambda s: s if s % 2 else None)
    window = FlatFat(odd, np.int64)
    window.insert([1, 1, 1])
    assert listed(window.prefix([0, 1, 2])) == [1, None, 3]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda w: w.evict([1, 7, 9]), "ids must be of rows in the window, got 7, 9"),
        (lambda w: w.evict([2, 1, 2]), "ids must name a row once to evict it, got 2 again"),
        (lambda w: w.evict(range(3, 30)), "got 3, 4, 5, 6, 7, 8, 9, 10, 11, 12 and 17 more"),
        (lambda w: w.evict([0.5]), "ids must be whole numbers, one a row, got float64 in 1 dimensions"),
        (lambda w: w.update([0, 5], [1, 1]), "got 5"),
        (lambda w: w.merge([-1], [1]), "got -1"),
        (lambda w: w.merge([0, 1], [1]), r"merge needs one number of rows, got \[1, 2\]"),
        (lambda w: w.insert([1], [2]), "insert takes 1 columns, got 2"),
        (lambda w: w.ranges([1], [2, 3]), "first_ids and last_ids must be of one length, got 1 and 2"),
        (lambda w: w.restore(FlatFat(FIRST).state()), "state must be of a window of the same aggregate"),
        (lambda w: w.restore(w.state() | {"ids": np.zeros(3, np.int64)}), "and unchanged"),
    ],
)
def test_what_is_wrong_is_named_and_changes_nothing(call, message):
    window = FlatFat(AFFINE, np.int64)
    window.insert([1, 2, 3])
    before = window.state()
    with pytest.raises(SashError, match=message):
        call(window)
    after = window.state()
    assert all(np.array_equal(before[name], after[name]) for name in before)


def test_what_cannot_be_is_refused():
    with pytest.raises(SashError, match="capacity must be a whole number of rows, at least 1, got 0"):
        FlatFat(AFFINE, np.int64, capacity=0)
    with pytest.raises(SashError, match="affine takes 1 columns, got the types of 2"):
        FlatFat(AFFINE, np.int64, np.int64)
    with pytest.raises(SashError, match="insert needs one number of rows, got none"):
        FlatFat(FIRST).insert()
    with pytest.raises(SashError, match="rows must be a whole number, at least 0, got -1"):
        FlatFat(FIRST).insert(rows=-1)
    with pytest.raises(Refused, match="collect is answered by rows that follow each other"):
        FlatFat(COLLECT)
    with pytest.raises(Refused, match="merge has no positions for its rows, which first takes"):
        FlatFat(FIRST).merge([])
