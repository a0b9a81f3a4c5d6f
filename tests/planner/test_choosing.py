"""Which algorithm answers what, which refuses and why, and that all of them agree."""

import math
from unittest import mock

import numpy as np
import pyarrow as pa
import pytest

import sash
from sash import SashError, Window
from sash import functions as sf
from sash.errors import Refused
from sash.kernels.algorithm import (
    COUNT,
    DENSE,
    DISTINCT,
    DISTINCT_FOLD,
    DISTINCT_SELECT,
    ENTROPY,
    FOLD,
    MODE,
    SELECT,
    WEIGHTED,
)
from sash.kernels.structures import wavelet_matrix
from sash.planner import Task, algorithms, choose, names
from sash.planner.declared import OPERATIONS

ALGORITHMS = tuple(each for operation in OPERATIONS for each in algorithms(operation))


def table(rows):
    """Two partitions, ties in everything, and frames of each row's own that go back and forth."""
    any_of = np.random.default_rng(rows)
    return pa.table(
        {
            "k": np.arange(rows) * 3 // (2 * rows),
            "t": np.arange(rows) // 3,
            "q": any_of.integers(-rows // 4, rows // 4, rows),
            "v": any_of.integers(0, rows // 3, rows) / 4,
            "back": -any_of.integers(0, rows, rows),
            "ahead": any_of.integers(0, rows, rows),
        }
    )


BY_TIME = Window.partitionBy("k").orderBy("t")
SO_FAR = BY_TIME.rowsBetween(Window.unboundedPreceding, 0)
BACK_AND_FORTH = BY_TIME.rowsBetween(sash.col("back"), sash.col("ahead"))
LAST_700, LAST_9 = BY_TIME.rowsBetween(-699, 0), BY_TIME.rowsBetween(-8, 0)
LAST_700_OF_ALL = Window.orderBy("t").rowsBetween(-699, 0)


@pytest.mark.parametrize(
    ("call", "window", "name"),
    [
        # frames of one size, and others that only move forward
        (sf.median("v"), LAST_700, "block_sort"),
        (sf.median("v"), SO_FAR, "block_sort"),
        (sf.median("v"), LAST_9, "small_frames"),
        (sf.rank().order_by("v"), LAST_9, "small_frames"),
        (sf.rank().order_by("v"), LAST_700, "rank_bitset"),
        (sf.count_distinct("v"), LAST_700, "occurrences"),
        (sf.dense_rank().order_by("v"), LAST_700, "code_bitset"),
        (sf.mode("v"), SO_FAR, "counters"),
        (sf.entropy("v"), LAST_700, "counters"),
        (sf.sum("q"), SO_FAR, "prefix"),
        (sf.sum("v"), SO_FAR, "two_stacks"),
        (sf.sum("v"), LAST_700_OF_ALL, "sba"),
        (sf.max("q"), LAST_700, "two_stacks"),
        (sf.sum("q").distinct(), LAST_700, "occurrences"),
        (sf.sum("v").distinct(), LAST_700, "swept_segment_tree"),  # no default path subtracts floats
        # frames with holes
        (sf.median("v"), LAST_700.exclude("current row"), "rank_bitset"),
        (sf.rank().order_by("v"), LAST_700.exclude("ties"), "rank_bitset"),
        (sf.count_distinct("v"), LAST_700.exclude("group"), "occurrences"),
        (sf.sum("q"), LAST_700.exclude("group"), "prefix"),
        (sf.sum("v"), LAST_700.exclude("group"), "disjoint_table"),
        (sf.max("v"), LAST_700.exclude("group"), "sparse_table"),
        (sf.sum("q").distinct(), LAST_700.exclude("ties"), "swept_segment_tree"),
        # frames that go back and forth
        (sf.median("v"), BACK_AND_FORTH, "wavelet_matrix"),
        (sf.rank().order_by("v"), BACK_AND_FORTH, "swept_bitset"),
        (sf.count_distinct("v"), BACK_AND_FORTH, "swept_bitset"),
        (sf.dense_rank().order_by("v"), BACK_AND_FORTH, "range_tree"),
        (sf.mode("v"), BACK_AND_FORTH, "range_mode"),
        (sf.mode("v"), BACK_AND_FORTH.exclude("ties"), "blocks"),
        (sf.entropy("v"), BACK_AND_FORTH, "blocks"),
        (sf.sum("q"), BACK_AND_FORTH, "prefix"),
        (sf.sum("v"), BACK_AND_FORTH, "disjoint_table"),
        (sf.max("v"), BACK_AND_FORTH, "sparse_table"),
        # the window's own order
        (sf.rank(), BACK_AND_FORTH, "window_order"),
        (sf.dense_rank(), BACK_AND_FORTH, "window_order"),
        (sf.first_value("v"), BACK_AND_FORTH, "window_order"),
        (sf.lag("v"), LAST_9, "window_order"),
        (sf.lag("v").order_by("q"), BACK_AND_FORTH, "wavelet_matrix"),
    ],
    ids=str,
)
def test_the_cheapest_that_can_is_taken(call, window, name):
    assert sash.explain(table(3000), {"answer": call.over(window)}).chosen == {"answer": name}


@pytest.mark.parametrize(
    ("call", "window", "using", "reason"),
    [
        (sf.sum("q"), SO_FAR, "slick_deque", "needs a selective aggregate; sum keeps more than one of its inputs"),
        (sf.sum("q"), SO_FAR, "sparse_table", "needs a selective aggregate; sum keeps more than one of its inputs"),
        (sf.max("q"), SO_FAR, "subtract_on_evict", "needs an invertible aggregate; max has no inverse"),
        (sf.max("q"), SO_FAR, "prefix", "needs an invertible aggregate; max has no inverse"),
        (sf.sum("v"), SO_FAR, "prefix", "needs an exact aggregate: no default path subtracts floats"),
        (sf.sum("q"), BACK_AND_FORTH, "two_stacks", "needs frames that only move forward"),
        (sf.sum("q"), SO_FAR.exclude("ties"), "two_stacks", "needs frames without EXCLUDE"),
        (sf.median("v"), BACK_AND_FORTH, "block_sort", "needs frames that only move forward"),
        (sf.median("v"), LAST_700.exclude("ties"), "block_sort", "needs frames without EXCLUDE"),
        (sf.median("v"), BACK_AND_FORTH, "rank_bitset", "needs frames that only move forward"),
        (sf.median("v"), BY_TIME.rowsBetween(-64, 0), "small_frames", "needs frames of at most 64 rows, not 65"),
        (sf.rank().order_by("v"), SO_FAR, "small_frames", "needs frames of at most 1,024 rows, not 2,000"),
        (sf.rank().order_by("v"), SO_FAR, "window_order", "needs the window's own order"),
        (sf.first_value("v"), SO_FAR, "wavelet_matrix", "needs an order of the function's own"),
        (sf.count_distinct("v"), SO_FAR.exclude("ties"), "merge_sort_tree", "needs frames without EXCLUDE"),
        (sf.count_distinct("v"), BACK_AND_FORTH, "occurrences", "needs frames that only move forward"),
        (sf.mode("v"), BACK_AND_FORTH, "counters", "needs frames that only move forward"),
        (sf.mode("v"), SO_FAR.exclude("current row"), "range_mode", "needs frames without EXCLUDE"),
    ],
    ids=str,
)
@pytest.mark.parametrize("ask", [sash.explain, sash.withColumns])
def test_a_refusal_names_the_algorithm_and_what_it_needs(ask, call, window, using, reason):
    with pytest.raises(Refused) as refused:
        ask(table(3000), {"answer": call.over(window, using=using)})
    assert str(refused.value) == f"{using} {reason}"


def test_an_algorithm_for_another_operation_is_refused_with_those_there_are():
    with pytest.raises(Refused, match=r"^block_sort does not answer a fold; there are .*b_int, .*two_stacks"):
        sash.withColumns(table(9), {"answer": sf.sum("q").over(SO_FAR, using="block_sort")})
    with pytest.raises(Refused, match=r"^prefix does not answer a count and select; there are block_sort, "):
        sash.withColumns(table(9), {"answer": sf.lead("q").order_by("v").over(SO_FAR, using="prefix")})


def test_an_unknown_name_is_told_all_names():
    with pytest.raises(SashError) as told:
        sash.withColumns(table(9), {"answer": sf.sum("q").over(SO_FAR, using="quick_sort")})
    elsewhere = "or spark, which answers DataFrames of Spark"
    assert str(told.value) == f"using must be one of {', '.join(names())}, {elsewhere}, got 'quick_sort'"
    with pytest.raises(SashError, match="using must be the name of an algorithm, got 7"):
        sf.sum("q").over(SO_FAR, using=7)


def test_of_two_operations_the_name_goes_to_the_one_it_answers():
    count, select = (Task(operation, 100, 100, "constant", widest=2000) for operation in (COUNT, SELECT))
    assert [choice.name for choice in choose([count, select], "block_sort")] == ["rank_bitset", "block_sort"]
    assert [choice.name for choice in choose([count, select], "swept_bitset")] == ["swept_bitset", "block_sort"]
    assert [choice.name for choice in choose([count, select], "wavelet_matrix")] == ["wavelet_matrix"] * 2
    assert [choice.by_using for choice in choose([count, select], "block_sort")] == [False, True]


def test_a_choice_says_what_else_there_was():
    (forward,) = choose([Task(SELECT, 10**6, 10**6, "constant", widest=1000)])
    assert str(forward) == (
        "block_sort: sorted blocks with bitsets of live rows; about 25 ms (rank_bitset would take about 80 ms; "
        "window_order needs the window's own order; small_frames needs frames of at most 64 rows, not 1,000)"
    )
    (asked,) = choose([Task(SELECT, 10**6, 10**6, "constant", widest=1000)], "rank_bitset")
    assert str(asked) == "rank_bitset: a bitset of live ranks with a cursor; about 80 ms (as asked)"
    (few,) = choose([Task(SELECT, 10, 10, "constant", widest=5)])
    assert "; under a millisecond (" in str(few)


@pytest.mark.parametrize("operation", [operation for operation in OPERATIONS if operation != DISTINCT_SELECT])
@pytest.mark.parametrize("shape", ["constant", "monotonic", "arbitrary"])
@pytest.mark.parametrize("holes", [False, True])
@pytest.mark.parametrize("widest", [0, 1, 64, 65, 10**6])
def test_every_operation_has_an_answer_for_every_frame(operation, shape, holes, widest):
    rough = sash.Aggregate("rough", lift=lambda x: x, combine=lambda a, b: a + b)
    task = Task(operation, 10**6, 10**6, shape, holes, widest, aggregate=rough)
    (choice,) = choose([task])
    assert math.isfinite(choice.seconds)


@pytest.mark.parametrize(
    ("window", "reason"),
    [(BACK_AND_FORTH, "frames that only move forward"), (SO_FAR.exclude("ties"), "frames without EXCLUDE")],
)
def test_quantiles_of_distinct_values_need_frames_that_move_forward(window, reason):
    with pytest.raises(Refused, match=f"^a distinct select .* over these frames: rank_bitset needs {reason}$"):
        sash.explain(table(30), {"answer": sf.median("v").distinct().over(window)})


# All algorithms by name agree

EARLIEST = sash.Aggregate("earliest", lift=lambda x: x, combine=lambda a, b: a, selective=True, compiled=False)
LARGEST = sash.Aggregate(
    "largest", lift=lambda x: x, combine=lambda a, b: max(a, b), commutative=True, selective=True, compiled=False
)  # fmt: skip
CALLS = {
    FOLD: [sf.sum("q"), LARGEST("q"), EARLIEST("q")],
    SELECT: [sf.median("v"), sf.nth_value("q", 2).order_by("v desc"), sf.first_value("q"), sf.lag("q").order_by("v")],
    COUNT: [sf.rank().order_by("v"), sf.cume_dist().order_by("q"), sf.row_number(), sf.lead("q").order_by("v")],
    DISTINCT: [sf.count_distinct("q"), sf.count_distinct("q", "v")],
    DISTINCT_FOLD: [sf.sum("q").distinct()],
    DISTINCT_SELECT: [sf.median("q").distinct()],
    DENSE: [sf.dense_rank().order_by("v"), sf.dense_rank(), sf.dense_rank().filter("q > 0")],
    MODE: [sf.mode("q")],
    ENTROPY: [sf.entropy("q")],
    WEIGHTED: [sf.median("q", "ahead"), sf.percentile_disc("v", 0.3, weight="ahead")],
}
WINDOWS = [
    LAST_9,
    Window.orderBy("t").rowsBetween(-8, 0),
    BY_TIME.rowsBetween(-4, 3),
    SO_FAR,
    BY_TIME.rangeBetween(-2, 1),
    BACK_AND_FORTH,
    LAST_9.exclude("current row"),
    BY_TIME.rangeBetween(-2, 1).exclude("group"),
    BACK_AND_FORTH.exclude("ties"),
]


@pytest.mark.parametrize("algorithm", ALGORITHMS, ids=lambda algorithm: f"{algorithm.name} for a {algorithm.operation}")
def test_every_algorithm_by_name_agrees_with_the_default(algorithm):
    rows, answered = table(60), 0
    for call in CALLS[algorithm.operation]:
        for window in WINDOWS:
            asked = {"answer": call.over(window, using=algorithm.name)}
            try:
                choices = sash.explain(rows, asked).sortings[0].steps[0].choices
            except Refused:
                continue
            assert algorithm.name in [choice.name for choice in choices if choice.by_using]
            default = sash.withColumns(rows, {"answer": call.over(window)})["answer"]
            assert sash.withColumns(rows, asked)["answer"].equals(default), (call, window)
            answered += 1
    assert answered > 0


def test_calls_are_there_for_all_operations():
    assert set(CALLS) == set(OPERATIONS)


# A name reaches its kernel: see test_every_algorithm


@pytest.mark.parametrize("call", [sf.median("v"), sf.rank().order_by("v")], ids=str)
def test_a_wavelet_matrix_is_made_where_it_is_named(call):
    with mock.patch.object(wavelet_matrix, "WaveletMatrix", wraps=wavelet_matrix.WaveletMatrix) as made:
        sash.withColumns(table(30), {"answer": call.over(LAST_9)})
        assert made.call_count == 0
        sash.withColumns(table(30), {"answer": call.over(LAST_9, using="wavelet_matrix")})
        assert made.call_count == 1
