"""Nothing is quadratic: the steps of every function on every shape of frames, and how they grow with the rows.

Kernels run as plain Python on arrays that count how often they are touched; whatever NumPy makes counts by its size.
"""

import contextlib
import math
from unittest import mock

import numba  # noqa: F401, which reads NumPy's types when it is first imported, and must not find them patched
import numpy as np
import pyarrow as pa
import pytest

import sash
from sash import Window
from sash import functions as sf
from sash.algebra.catalogue import builtin
from sash.kernels.compiling import interpreted
from sash.kernels.compiling.routine import Routine
from sash.kernels.inputs import Inputs
from sash.kernels.operations.distinct_fold import _slid
from sash.kernels.structures.counters import nearby
from sash.windows.bounds import MONOTONIC, Bounds

ROWS, TIMES = 256, 4
FEWER = {"mad": 64}  # it asks for a median so many times
CONSTANTS = {  # what is few, made fewer, so that few rows show how the steps grow
    "sash.kernels.structures.small_frames.SHORT": 8,
    "sash.kernels.operations.range_tree.SHORT": 8,
    "sash.kernels.operations.range_tree.NEAR": 64,
    "sash.kernels.structures.counters.LONG": 8,
    "sash.kernels.structures.counters.FINEST": 2,
}
MADE_BY_NUMPY = ("empty", "zeros", "full", "empty_like", "zeros_like", "full_like", "arange", "repeat", "concatenate",
                 "append", "cumsum", "diff", "where", "flatnonzero", "searchsorted", "unique", "bincount", "lexsort",
                 "argsort")  # fmt: skip


class Word(np.uint64):
    """A machine word: of a negative number too, as compiled kernels have it."""

    def __new__(cls, number, made=np.uint64):
        return made(number & (2**64 - 1) if isinstance(number, int) else number)


class Steps:
    """How many steps were taken."""

    def __init__(self):
        self.taken = 0

    def counting(self, function, size=lambda made: 1):
        def run(*arguments, **named):
            made = function(*arguments, **named)
            self.taken += size(made)
            return made

        return run


class Touched:
    """An array that counts its reads and writes, and gives Python's own numbers, but for words that wrap around."""

    __slots__ = ("array", "read", "steps")

    def __init__(self, array, steps):
        self.array, self.steps = array, steps
        self.read = array.__getitem__ if array.dtype == np.uint64 else array.item

    def __len__(self):
        return len(self.array)

    def __getitem__(self, place):
        self.steps.taken += 1
        return self.read(place)

    def __setitem__(self, place, value):
        self.steps.taken += 1
        self.array[place] = value


@contextlib.contextmanager
def counted():
    """All that is done within, counted: routines and kernels as plain Python, on one thread."""
    steps, plain = Steps(), interpreted.namespace

    def call(routine, *arguments):
        given = (Touched(each, steps) if isinstance(each, np.ndarray) else each for each in arguments)
        return routine.plain(*given)

    def namespace(aggregate, frames):
        seen = plain(aggregate, frames)
        for name in ("lift", "combine", "inverse", "load", "store", "answer", "absent"):
            setattr(seen, name, steps.counting(getattr(seen, name)))
        return seen

    def exact(given):  # Python's integers are, whatever NumPy says of arrays of objects
        return given.aggregate.invertible and all(column.dtype.kind == "i" for column in given.columns)

    with contextlib.ExitStack() as stack:
        stack.enter_context(mock.patch.dict("os.environ", SASH_THREADS="1"))
        stack.enter_context(mock.patch.object(Routine, "__call__", call))
        stack.enter_context(mock.patch.object(interpreted, "namespace", namespace))
        stack.enter_context(mock.patch("sash.engine.answering.folds._exact", exact))
        stack.enter_context(mock.patch.object(np, "uint64", Word))
        stack.enter_context(mock.patch.object(np, "int64", int))  # whose comparisons add up, as compiled ones do
        for name, value in CONSTANTS.items():
            stack.enter_context(mock.patch(name, value))
        for name in MADE_BY_NUMPY:
            stack.enter_context(mock.patch.object(np, name, steps.counting(getattr(np, name), np.size)))
        stack.enter_context(np.errstate(over="ignore"))  # words wrap around
        yield steps


# Tables that are hard on something

DATA = {
    "all equal": lambda rows, any_of: np.zeros(rows, np.int64),
    "rising": lambda rows, any_of: np.arange(rows),
    "falling": lambda rows, any_of: np.arange(rows)[::-1].copy(),
    "all different": lambda rows, any_of: any_of.permutation(rows),
    "two by turns": lambda rows, any_of: np.arange(rows) % 2,
    "few": lambda rows, any_of: any_of.integers(0, math.isqrt(rows), rows),
}
PARTITIONS = {
    "one partition": lambda at: at * 0,
    "tiny partitions": lambda at: at // 4,
    "one large and many tiny": lambda at: np.maximum(at - len(at) // 2, 0) // 2,
}
EACH = {  # frames of each row's own: where they begin and stop, of n rows
    "alternating": lambda at, n, any_of: (np.where(at % 2, at, 0), np.where(at % 2, at + 1, n)),
    "anywhere": lambda at, n, any_of: np.sort(any_of.integers(0, n + 1, (2, n)), axis=0),
    "zigzag": lambda at, n, any_of: (np.where(at % 2, n // 2, 0), np.where(at % 2, n, n // 2)),
    "shrinking": lambda at, n, any_of: (np.minimum(at, n - at), np.maximum(at, n - at)),
    "to the end": lambda at, n, any_of: (any_of.permutation(n), np.full(n, n)),
    "striped": lambda at, n, any_of: (at, np.where(at // 4 % 2, at + 1, n)),  # a stripe is a block of Mo's order
}


def table(rows, data, partitions):
    any_of, at = np.random.default_rng(rows), np.arange(rows)
    columns = {"part": PARTITIONS[partitions](at), "at": at, "v": DATA[data](rows, any_of)}
    columns["x"] = columns["v"] / 2
    columns["share"] = np.where(at % 2, 0.01, 0.99)
    columns["odd"] = at % 2 == 1
    columns["all"] = at * 0
    columns["half"] = np.clip(at, rows // 4, rows - rows // 4)  # one group of peers in the midst of single rows
    columns["third"] = at // math.ceil(rows ** (2 / 3))
    for name, frames in EACH.items():
        start, stop = frames(at, rows, any_of)
        columns[f"{name} start"], columns[f"{name} end"] = start - at, stop - 1 - at
    return pa.table(columns)


def rows_between(start, end, order="at", exclude="no others"):
    """A window for so many rows; a float is a share of them."""

    def window(rows):
        edges = (int(edge * rows) if isinstance(edge, float) else edge for edge in (start, end))
        return Window.partitionBy("part").orderBy(order).rowsBetween(*edges).exclude(exclude)

    return window


def each(name, order="at", exclude="no others"):
    return rows_between(sash.col(f"{name} start"), sash.col(f"{name} end"), order, exclude)


FIRST, LAST = Window.unboundedPreceding, Window.unboundedFollowing
FRAMES = {
    "the whole partition": rows_between(FIRST, LAST),
    "so far": rows_between(FIRST, 0),
    "still to come": rows_between(0, LAST),
    "half of the rows before": rows_between(-0.5, 0),
    "a quarter around": rows_between(-0.25, 0.25),
    **{name: each(name) for name in EACH},
    "all but the row": rows_between(FIRST, LAST, exclude="current row"),
    "so far but the row": rows_between(FIRST, 0, exclude="current row"),
    "anywhere but the row": each("anywhere", exclude="current row"),
    "all but one giant group": rows_between(-0.25, 0.25, "all", "group"),
    "anywhere but ties, all rows being": each("anywhere", "all", "ties"),
    "all but half of the rows": rows_between(FIRST, LAST, "half", "group"),
    "alternating but half of the rows": each("alternating", "half", "group"),
    "anywhere but ties, half of the rows being": each("anywhere", "half", "ties"),
    "all but large groups": rows_between(FIRST, LAST, "third", "group"),
    "anywhere but large groups": each("anywhere", "third", "group"),
    "zigzag but large ties": each("zigzag", "third", "ties"),
    "striped but the row": each("striped", exclude="current row"),
}
HARD = ("alternating", "anywhere", "anywhere but large groups")

TOTAL = sash.Aggregate(
    "total", lift=lambda x: x, combine=lambda a, b: a + b, inverse=lambda s, old: s - old,
    commutative=True, compiled=False,
)  # fmt: skip
MAX, AVG = (builtin(name).but(compiled=False, typed=None) for name in ("max", "avg"))
FUNCTIONS = {
    "rank": sf.rank().order_by("v"),
    "rank of a value": sf.rank(sash.col("v") + 1).order_by("v"),
    "rank in the window's order": sf.rank(),
    "dense_rank": sf.dense_rank().order_by("v"),
    "row_number": sf.row_number().order_by("v desc"),
    "cume_dist": sf.cume_dist().order_by("v"),
    "ntile": sf.ntile(7).order_by("v"),
    "first_value": sf.first_value("v").order_by("v"),
    "last_value": sf.last_value("v"),
    "nth_value": sf.nth_value("v", 5, from_last=True).order_by("v desc"),
    "lead": sf.lead("v", 3).order_by("v"),
    "lag": sf.lag("v").order_by("v"),
    "median": sf.median("v"),
    "median of distinct": sf.median("v").distinct(),
    "median of some": sf.median("v").filter("odd"),
    "a jumping share": sf.percentile_disc("v", sash.col("share")),
    "mad": sf.mad("v"),
    "count_distinct": sf.count_distinct("v"),
    "sum of integers": TOTAL("v"),
    "sum of doubles": TOTAL("x"),
    "max": MAX("v"),
    "sum of distinct": TOTAL("v").distinct(),
    "avg of distinct": AVG("x").distinct(),
    "mode": sf.mode("v"),
    "entropy": sf.entropy("v"),
    "collect_set": sf.collect_set("v"),
}


def allowed(function, frame):
    """How many steps a function may take over such frames, but for a constant, by the number of rows."""
    if function not in ("mode", "entropy"):
        return lambda rows: rows * math.log2(rows) ** 2
    if " but " in frame:
        return lambda rows: rows ** (5 / 3) * math.log2(rows)
    return lambda rows: rows**1.5


def taken(rows, function, frame, data, partitions, using=None):
    """The steps that a function takes on so many rows."""
    given = table(rows, data, partitions)
    with counted() as steps:
        sash.withColumns(given, {"answer": FUNCTIONS[function].over(FRAMES[frame](rows), using=using)})
    return steps.taken


def growth(function, *how, **named):
    rows = FEWER.get(function, ROWS)
    return taken(TIMES * rows, function, *how, **named) / taken(rows, function, *how, **named)


def limit(function, frame):
    rows, steps = FEWER.get(function, ROWS), allowed(function, frame)
    return steps(TIMES * rows) / steps(rows)


def cases():
    """Each function on the hard frames and every fourth of the others, with all data and partitions by turns.

    Half of the others take their turn with the long tests.
    """
    for f, function in enumerate(FUNCTIONS):
        for k, frame in enumerate(FRAMES):
            often = function in ("mode", "entropy")
            if function == "median of distinct" and (frame in EACH or " but " in frame):
                continue  # refused
            if frame in HARD or often or (f + k) % 4 == 0:
                data = tuple(DATA)[(f + k) % len(DATA)]
                partitions = tuple(PARTITIONS)[max((f + 2 * k) % 5 - 2, 0)]  # mostly one: large frames are hard
                if often and frame in EACH:
                    partitions = "one partition"
                if function == "collect_set":  # whose lists are as long as there are values
                    data = ("all equal", "two by turns")[k % 2]
                marks = () if frame in HARD or often or (f + k) % 8 == 0 else pytest.mark.long
                yield pytest.param(function, frame, data, partitions, marks=marks)


@pytest.mark.parametrize(("function", "frame", "data", "partitions"), list(cases()))
def test_steps_grow_no_faster_than_they_may(function, frame, data, partitions):
    assert growth(function, frame, data, partitions) <= limit(function, frame)


NAMED = [
    ("median", "merge_sort_tree", "anywhere but large groups"),
    ("median", "sorted_segment_tree", "alternating"),
    ("median", "wavelet_matrix", "the whole partition"),
    ("median", "rank_bitset", "all but half of the rows"),
    ("median", "order_statistic_tree", "half of the rows before"),
    ("a jumping share", "block_sort", "so far"),
    ("rank", "merge_sort_tree", "anywhere"),
    ("rank", "sorted_segment_tree", "zigzag"),
    ("rank", "rank_bitset", "all but half of the rows"),
    ("rank", "swept_bitset", "anywhere but ties, half of the rows being"),
    ("rank", "wavelet_matrix", "shrinking"),
    ("rank", "order_statistic_tree", "still to come"),
    ("count_distinct", "merge_sort_tree", "alternating"),
    ("count_distinct", "incremental", "a quarter around"),
    ("count_distinct", "swept_bitset", "all but large groups"),
    ("dense_rank", "range_tree", "all but half of the rows"),
    ("sum of integers", "segment_tree", "all but large groups"),
    ("sum of integers", "subtract_on_evict", "half of the rows before"),
    ("sum of integers", "prefix", "anywhere but large groups"),
    *(("max", name, "a quarter around") for name in ("daba", "flatfat", "b_int", "flatfit", "slick_deque", "sba")),
]


@pytest.mark.parametrize(("function", "using", "frame"), NAMED)
def test_nor_do_algorithms_that_are_asked_for(function, using, frame):
    assert growth(function, frame, "few", "one partition", using=using) <= limit(function, frame)


@pytest.mark.parametrize("function", ["sum of integers", "max"])
def test_the_count_sees_what_is_quadratic(function):
    assert growth(function, "so far", "few", "one partition", using="recalc") > 2 * limit(function, "so far")


@pytest.mark.parametrize("function", FUNCTIONS)
def test_what_is_counted_is_what_answers(function):
    """As plain Python every kernel finds what it finds compiled."""
    given = table(64, "few", "one large and many tiny")
    frames = ("so far", "still to come" if function == "median of distinct" else "anywhere but large groups")
    asked = {frame: FUNCTIONS[function].over(FRAMES[frame](64)) for frame in frames}
    compiled = sash.withColumns(given, asked)
    with counted():
        assert sash.withColumns(given, asked).equals(compiled)


@pytest.mark.parametrize("data", DATA)
@pytest.mark.parametrize("back", [1, 0.5, 1.0])
def test_distinct_values_come_and_go_in_linear_time(data, back):
    """The sum of distinct integers over frames that move forward, which is only taken where compiled."""

    def steps(rows):
        at, values = np.arange(rows), DATA[data](rows, np.random.default_rng(0))
        order = np.lexsort((at, values))
        again = np.flatnonzero(values[order][1:] == values[order][:-1])
        previous, following = np.full(rows, -1), np.full(rows, rows)
        previous[order[again + 1]], following[order[again]] = order[again], order[again + 1]
        before = back if isinstance(back, int) else int(back * rows)
        bounds = Bounds(np.maximum(at - before, 0), at + 1, rows, MONOTONIC)
        with counted() as counted_steps:
            _slid(Inputs(TOTAL, (values.dtype,)), (values,), previous, following, bounds)
        return counted_steps.taken

    assert steps(TIMES * ROWS) <= 1.1 * TIMES * steps(ROWS)


@pytest.mark.parametrize("frames", EACH)
def test_the_way_from_frame_to_frame_is_short(frames):
    """Mode and entropy walk from one frame to the next in an order of their own."""
    rows = 1 << 14
    lo, hi = EACH[frames](np.arange(rows), rows, np.random.default_rng(0))
    with mock.patch("sash.kernels.structures.counters.FINEST", 2):
        order, _ = nearby(Bounds(lo.astype(np.int32), hi.astype(np.int32), rows))
    way = np.abs(np.diff(lo[order])).sum() + np.abs(np.diff(hi[order])).sum()
    assert way <= 2 * rows**1.5
