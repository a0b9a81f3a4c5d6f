"""Every technique gives what is found event by event and window by window, whatever the order of events."""

import math
from collections import Counter
from functools import reduce

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sash
from kernels.spans.levels import path
from sash.algebra.catalogue import builtin
from sash.errors import Refused
from sash.kernels.inputs import Inputs
from sash.kernels.operations.merging import state_of
from sash.kernels.spans import ANSWERS, COVERS, difference, doubling, multilevel_slicing, slicing, sweeping
from sash.kernels.spans.rings import Workload
from strategies import usually

LOGS = sash.Aggregate(
    "logs",
    lift=lambda x: (math.log(abs(x) + 1), 1),
    combine=lambda a, b: (a[0] + b[0], a[1] + b[1]),
    commutative=True,
)
BAG = sash.Aggregate(  # shows just which events were counted, and how often
    "bag",
    lift=lambda row, x: Counter({row: 1}),
    combine=lambda a, b: a + b,
    inverse=lambda s, old: s - old,
    commutative=True,
    rows=True,
    compiled=False,
)
KINDS = {
    "count": Inputs(builtin("count"), ()),
    "sum": Inputs(builtin("sum"), (np.int64,)),
    "max": Inputs(builtin("max"), (np.float64,)),
    "min": Inputs(builtin("min"), (np.int64,)),
    "logs": Inputs(LOGS, (np.int64,)),
    "bag": Inputs(BAG, (np.int64,)),
    "latest": Inputs(builtin("max").of((np.dtype(np.int64),)).but(compiled=False), (np.int64,)),
}


def able(technique, kind):
    aggregate = KINDS[kind].aggregate
    needs = {"difference": aggregate.invertible, "doubling": aggregate.selective}
    needs["sweeping"] = aggregate.invertible or aggregate.selective
    return needs.get(technique, True)


def pairs(techniques):
    return [(technique, kind) for technique in techniques for kind in KINDS if able(technique, kind)]


def plain(states, held):
    return [state if some else None for state, some in zip(states.tolist(), held.tolist(), strict=True)]


def alike(got, expected):
    """Equal, floats but for rounding."""
    for a, b in zip(got, expected, strict=True):
        if isinstance(a, tuple) and b is not None:
            assert a == pytest.approx(b, rel=1e-9, nan_ok=True)
        else:
            assert a == b or (a != a and b != b)


def lifted(inputs, columns, rows):
    """The partial of each event, as a kernel has it."""
    aggregate, given = inputs.aggregate, [column.tolist() for column in columns]
    inner = [[column[row] for column in given] for row in range(rows)]
    return [
        aggregate.lift(row, *values) if aggregate.rows else aggregate.lift(*values) for row, values in enumerate(inner)
    ]


def folded(inputs, partials):
    return reduce(inputs.aggregate.combine, partials) if partials else None


@st.composite
def cells(draw, most=12):
    """Runs of cells of several keys, one after the other: the first cell of each, and the end of all."""
    lengths = draw(st.lists(st.integers(1, most), min_size=1, max_size=3))
    return np.cumsum([draw(st.integers(0, 3)), *lengths]).tolist()


@st.composite
def stretches(draw, runs, most, least=1):
    """Stretches [begin, end) of cells, each in one run."""
    found = []
    for _ in range(draw(st.integers(0, most))):
        run = draw(st.integers(0, len(runs) - 2))
        begin = draw(st.integers(runs[run], runs[run + 1] - least))
        found.append((begin, draw(st.integers(begin + least, runs[run + 1]))))
    return found


def columns_of(draw, inputs, rows):
    """A column of doubles with ties and NaN, or of integers."""
    few = {"f": st.sampled_from((0.0, 1.0, 2.5, -3.0, math.inf, -math.inf, math.nan)), "i": st.integers(-9, 9)}
    return tuple(
        np.array(draw(st.lists(few[dtype.kind], min_size=rows, max_size=rows)), dtype) for dtype in inputs.dtypes
    )


@st.composite
def streams(draw, inputs):
    """Events in some order, windows, and how long these must be kept open."""
    runs = draw(cells())
    events, windows = draw(stretches(runs, 25)), draw(stretches(runs, 12))
    if draw(st.booleans()):
        events.sort(key=lambda event: event[1])
    windows.sort(key=lambda window: (window[1], window[0]))
    clock, postpone = -1, 0
    for begin, end in events:
        clock = max(clock, end - 1)
        postpone = max([postpone, *(clock - hi + 1 for lo, hi in windows if begin < hi and end > lo)])
    first, last = (np.array([event[k] for event in events], np.int64) - k for k in (0, 1))
    lo, hi = (np.array([window[k] for window in windows], np.int64) for k in (0, 1))
    return columns_of(draw, inputs, len(events)), first, last, lo, hi, postpone + draw(st.integers(0, 3))


def by_hand(inputs, columns, first, last, lo, hi):
    partials = lifted(inputs, columns, len(first))
    overlaps = [(first < end) & (last >= start) for start, end in zip(lo, hi, strict=True)]
    return [folded(inputs, [partials[i] for i in np.flatnonzero(some)]) for some in overlaps]


def options(technique, height):
    return {"height": height} if technique == "multilevel_slicing" else {}


@pytest.mark.parametrize(("technique", "kind"), pairs(COVERS))
@usually(25)
@given(data=st.data(), height=st.integers(1, 20))
def test_events_are_folded_into_the_cells_they_cover(technique, kind, data, height):
    inputs = KINDS[kind]
    runs = data.draw(cells(most=40))
    batches = [data.draw(stretches(runs, 15, least=0)) for _ in range(2)]
    states, held = np.zeros(runs[-1], state_of(inputs)), np.zeros(runs[-1], np.uint8)
    expected = [[] for _ in range(runs[-1])]
    for events in batches:  # the second is folded onto what the first has left
        columns = columns_of(data.draw, inputs, len(events))
        begin, end = (np.array([event[k] for event in events], np.int64) for k in (0, 1))
        COVERS[technique].cover(inputs, columns, begin, end, states, held, **options(technique, height))
        for (start, stop), partial in zip(events, lifted(inputs, columns, len(events)), strict=True):
            for cell in range(start, stop):
                expected[cell].append(partial)
    alike(plain(states, held), [folded(inputs, partials) for partials in expected])


@pytest.mark.parametrize(("technique", "kind"), pairs(ANSWERS))
@usually(30)
@given(data=st.data(), height=st.integers(1, 20))
def test_windows_are_answered(technique, kind, data, height):
    inputs = KINDS[kind]
    columns, first, last, lo, hi, postpone = data.draw(streams(inputs))
    more = options(technique, height)
    states, held = ANSWERS[technique].answers(inputs, columns, first, last, lo, hi, postpone, **more)
    alike(plain(states, held), by_hand(inputs, columns, first, last, lo, hi))


@pytest.mark.parametrize(("technique", "kind"), [("tuple_buckets", "bag"), ("sweeping", "latest")])
@given(data=st.data(), links=st.integers(1, 5))
def test_lists_that_run_out_of_links_get_more(technique, kind, data, links):
    inputs = KINDS[kind]
    columns, first, last, lo, hi, postpone = data.draw(streams(inputs))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ANSWERS[technique], "LINKS", links)
        got = ANSWERS[technique].answers(inputs, columns, first, last, lo, hi, postpone)
    alike(plain(*got), by_hand(inputs, columns, first, last, lo, hi))


def calls(rng, events=4000, spread=3000, longest=60):
    """Events that end about when they arrive, and some late ones."""
    last = np.sort(rng.integers(0, spread, events)) - rng.integers(0, 5, events)
    first = np.maximum(last - rng.integers(0, longest, events), 0)
    return first, np.maximum(last, 0)


def of_sizes(spread, *sizes):
    """Windows of several sizes that slide by one cell, sorted by end."""
    windows = sorted((end, max(end - size, 0)) for end in range(1, spread + 1, 7) for size in sizes)
    return np.array([lo for _, lo in windows]), np.array([hi for hi, _ in windows])


@pytest.mark.parametrize(
    ("kind", "falling"), [("count", False), ("sum", False), ("max", False), ("max", True), ("logs", False)]
)
def test_long_streams_are_answered_alike_by_all(kind, falling):
    """Thousands of events, so that rings come round often and lists need more links than there are at first.

    Of values that fall, each may be the largest of a window once those before it have ended.
    """
    rng, inputs = np.random.default_rng(3), KINDS[kind]
    first, last = calls(rng)
    columns = tuple(rng.integers(-1000, 1000, len(first)).astype(dtype) for dtype in inputs.dtypes)
    columns = tuple(np.sort(column)[::-1].copy() for column in columns) if falling else columns
    lo, hi = of_sizes(3000, 3, 50, 200)
    expected = by_hand(inputs, columns, first, last, lo, hi)
    for technique in ANSWERS:
        if able(technique, kind):
            for more in map(options, [technique] * 3, (1, 7, 64)):
                for postpone in (70, 10**9):
                    got = ANSWERS[technique].answers(inputs, columns, first, last, lo, hi, postpone, **more)
                    alike(plain(*got), expected)


@pytest.mark.parametrize("kind", ["count", "sum", "max"])
def test_long_events_are_covered_alike_by_all(kind):
    rng, inputs = np.random.default_rng(4), KINDS[kind]
    end = rng.integers(1, 5001, 3000)
    begin = np.maximum(end - rng.integers(0, 1500, len(end)), 0)
    columns = tuple(rng.integers(-1000, 1000, len(end)).astype(dtype) for dtype in inputs.dtypes)
    found = []
    for technique in COVERS:
        if able(technique, kind):
            states, held = np.zeros(5000, state_of(inputs)), np.zeros(5000, np.uint8)
            COVERS[technique].cover(inputs, columns, begin, end, states, held, **options(technique, 30))
            found.append(plain(states, held))
    assert len(found) == 3
    assert found[0] == found[1] == found[2]
    if kind == "count":
        steps = np.bincount(begin[begin < end], minlength=5001) - np.bincount(end[begin < end], minlength=5001)
        assert [count or 0 for count in found[0]] == np.cumsum(steps)[:5000].tolist()


@pytest.mark.parametrize("technique", ANSWERS)
def test_no_events_and_no_windows(technique):
    none, some = np.zeros(0, np.int64), np.array([2, 3])
    for kind in ("count", "max"):
        inputs = KINDS[kind]
        nothing = tuple(np.zeros(0, dtype) for dtype in inputs.dtypes)
        states, held = ANSWERS[technique].answers(inputs, nothing, none, none, some, some + 1)
        assert len(states) == 2
        assert not held.any()
        columns = tuple(np.ones(2, dtype) for dtype in inputs.dtypes)
        states, held = ANSWERS[technique].answers(inputs, columns, some, some, none, none)
        assert len(states) == len(held) == 0


@pytest.mark.parametrize(("technique", "kind"), pairs(COVERS))
def test_no_events_cover_nothing(technique, kind):
    none, inputs = np.zeros(0, np.int64), KINDS[kind]
    nothing = tuple(np.zeros(0, dtype) for dtype in inputs.dtypes)
    for cells in (0, 3):
        states, held = np.zeros(cells, state_of(inputs)), np.zeros(cells, np.uint8)
        COVERS[technique].cover(inputs, nothing, none, none, states, held)
        assert not held.any()


def test_what_is_kept_does_not_grow_with_the_stream():
    sizes = set()
    for spread in (1000, 100_000):
        first, last = calls(np.random.default_rng(0), spread=spread)
        asked = Workload(first, last, *of_sizes(spread, 20, 50), 70)
        sizes.add((asked.cells, asked.windows))
    assert sizes == {(50 + 70 + 1, 2 * 18 + 1)}  # of each size, 18 windows end within 120 cells


class Counted:
    """An aggregate that counts its combines."""

    def __init__(self):
        self.combines = 0
        count = builtin("count").but(combine=self.combine, compiled=False)
        self.inputs = Inputs(count, ())

    def combine(self, a, b):
        self.combines += 1
        return a + b


@pytest.mark.parametrize("height", [1, 2, 3, 4, 10, 20])
def test_an_event_of_n_cells_takes_n_by_d_combines(height):
    """The window is elsewhere, and the places of the third event hold something already."""
    for size in (1, 2, 3, 7, 8, 40):
        last = np.full(3, 99)
        counts = []
        for rows in (2, 3):
            counted = Counted()
            given = last[:rows] - size + 1, last[:rows], np.array([0]), np.array([1])
            multilevel_slicing.answers(counted.inputs, (), *given, postpone=100, height=height)
            counts.append(counted.combines)
        assert counts[1] - counts[0] == math.ceil(size / height) == len(path(0, size - 1, height))


def refusals(technique, aggregate, *columns):
    inputs, none = Inputs(aggregate, columns), np.zeros(0, np.int64)
    values, state = tuple(np.zeros(0, dtype) for dtype in inputs.dtypes), np.zeros(0, np.int64)
    for name, arrays in (("cover", (none, none, state, none)), ("answers", (none, none, none, none))):
        if hasattr(technique, name):
            with pytest.raises(Refused) as refused:
                getattr(technique, name)(inputs, values, *arrays)
            yield str(refused.value)


@pytest.mark.parametrize("technique", {**COVERS, **ANSWERS})
def test_what_is_not_commutative_is_refused_by_name(technique):
    module = {**COVERS, **ANSWERS}[technique]
    letters = sash.Aggregate("letters", lift=lambda x: x, combine=lambda a, b: a * 10 + b)
    said = set(refusals(module, letters, np.int64))
    assert said == {f"{technique} needs a commutative aggregate; letters is not"}


def test_what_cannot_be_taken_out_or_selected_is_refused_by_name():
    (said,) = refusals(difference, builtin("max"), np.float64)
    assert said == "difference needs an invertible aggregate; max has no inverse"
    (said,) = refusals(doubling, builtin("sum"), np.float64)
    assert said == "doubling needs a selective aggregate; sum keeps more than one of its inputs"
    (said,) = refusals(sweeping, builtin("product"), np.float64)
    assert said == "sweeping needs an invertible or a selective aggregate; product is neither"


def test_bad_arguments_are_named():
    one = np.array([0])
    with pytest.raises(sash.SashError, match=r"^height must be a whole number, at least 1, got 0$"):
        multilevel_slicing.answers(KINDS["count"], (), one, one, one, one + 1, height=0)
    with pytest.raises(sash.SashError, match=r"^postpone must be a whole number, at least 0, got -1$"):
        slicing.answers(KINDS["count"], (), one, one, one, one + 1, postpone=-1)
    with pytest.raises(sash.SashError, match=r"^first and last must be of one length, got 1 and 2$"):
        slicing.answers(KINDS["count"], (), one, np.array([0, 1]), one, one + 1)
