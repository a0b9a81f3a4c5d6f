"""Every algorithm that is named runs as named, or is refused: for all operations, shapes of frames and EXCLUDEs."""

from functools import cache
from itertools import product

import numpy as np
import pyarrow as pa
import pytest

import sash
from algorithms_run import watched
from frames_oracle import Call, answers
from frames_oracle import Window as Plain
from sash import Window
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
from sash.planner import algorithms
from sash.planner.declared import OPERATIONS

RANDOM = np.random.default_rng(7)
ROWS = 48
TABLE = pa.table(
    {
        "k": np.arange(ROWS) * 3 // (2 * ROWS),
        "t": np.arange(ROWS) // 3,
        "i": np.arange(ROWS),
        "q": RANDOM.integers(-5, 6, ROWS),
        "v": RANDOM.integers(0, 9, ROWS) / 4,
        "back": -RANDOM.integers(0, ROWS, ROWS),
        "ahead": RANDOM.integers(0, ROWS, ROWS),
    }
)
LISTED = TABLE.to_pylist()

SUM = (lambda x: x, lambda a, b: a + b, lambda s: s)
AVG = (lambda x: (x, 1), lambda a, b: (a[0] + b[0], a[1] + b[1]), lambda s: s[0] / s[1])
OWN = (("v", False, None),)

# What is asked of each operation: the expression, and what the oracle takes it for.
ASKED = {
    FOLD: [
        (sf.sum("q"), Call("sum", ("q",), fold=SUM)),
        (sf.max("q"), Call("max", ("q",))),
        (sf.avg("v"), Call("avg", ("v",), fold=AVG)),
    ],
    SELECT: [
        (sf.median("v"), Call("median", ("v",))),
        (sf.first_value("q").order_by("v"), Call("first_value", ("q",), order=OWN)),
        (sf.first_value("q"), Call("first_value", ("q",))),
    ],
    COUNT: [(sf.rank().order_by("v"), Call("rank", order=OWN)), (sf.rank(), Call("rank"))],
    DISTINCT: [(sf.count_distinct("q"), Call("count_distinct", ("q",)))],
    DISTINCT_FOLD: [
        (sf.sum("q").distinct(), Call("sum", ("q",), distinct=True, fold=SUM)),
        (sf.sum("v").distinct(), Call("sum", ("v",), distinct=True, fold=SUM)),
    ],
    DISTINCT_SELECT: [(sf.median("q").distinct(), Call("median", ("q",), distinct=True))],
    WEIGHTED: [(sf.median("v", sash.col("i") % 3), Call("median", ("v",), weight=lambda row: row["i"] % 3))],
    DENSE: [(sf.dense_rank().order_by("v"), Call("dense_rank", order=OWN)), (sf.dense_rank(), Call("dense_rank"))],
    MODE: [(sf.mode("q"), Call("mode", ("q",)))],
    ENTROPY: [(sf.entropy("q"), Call("entropy", ("q",)))],
}
BY, ALL = Window.partitionBy("k").orderBy("t"), Window.orderBy("t")
EACH_ROWS_OWN, SO_FAR = (sash.col("back"), sash.col("ahead")), (Window.unboundedPreceding, 0)
FRAMES = {  # the window, and the oracle's partition and bounds
    "of one size, one partition": (ALL.rowsBetween(-6, 0), (), (-6, 0)),
    "of one size, several partitions": (BY.rowsBetween(-6, 0), ("k",), (-6, 0)),
    "around the row": (BY.rowsBetween(-3, 2), ("k",), (-3, 2)),
    "of varying size, one partition": (ALL.rowsBetween(*SO_FAR), (), (None, 0)),
    "of varying size, several partitions": (BY.rowsBetween(*SO_FAR), ("k",), (None, 0)),
    "back and forth, one partition": (ALL.rowsBetween(*EACH_ROWS_OWN), (), ("back", "ahead")),
    "back and forth": (BY.rowsBetween(*EACH_ROWS_OWN), ("k",), ("back", "ahead")),
}
EXCLUDED = ("no others", "current row", "group", "ties")
NAMED = [(operation, each.name) for operation in OPERATIONS for each in algorithms(operation)]


def alike(got, expected):
    """Equal, floats but for rounding."""
    if isinstance(expected, float) and isinstance(got, (int, float)):
        return got == pytest.approx(expected, rel=1e-9, abs=1e-9)
    return got == expected


@cache
def by_the_oracle(operation, number, shape, exclude):
    """The answers straight from the rows of each frame."""
    _, plain = ASKED[operation][number]
    _, partition, (start, end) = FRAMES[shape]
    return answers(LISTED, Plain(partition, (("t", False, None),), "rows", start, end, exclude), plain)


def refusal(ask, asked):
    """The reason that it is refused, or None."""
    try:
        ask(TABLE, asked)
    except Refused as refused:
        return str(refused)
    return None


@pytest.mark.parametrize(("operation", "name"), NAMED, ids=lambda each: each)
def test_what_is_named_runs_or_is_refused(operation, name):
    answered = 0
    for number, shape, exclude in product(range(len(ASKED[operation])), FRAMES, EXCLUDED):
        case = call, *_ = ASKED[operation][number][0], shape, exclude
        asked = {"answer": call.over(FRAMES[shape][0].exclude(exclude), using=name)}
        if reason := refusal(sash.explain, asked):
            assert reason.startswith(f"{name} needs "), case
            assert refusal(sash.withColumns, asked) == reason, case
            continue
        assert sash.explain(TABLE, asked).chosen == {"answer": name}
        with watched() as ran:
            got = sash.withColumns(TABLE, asked)["answer"].to_pylist()
        assert {(each.operation, each.name) for each in ran} == {(operation, name)}, case
        assert all(map(alike, got, by_the_oracle(operation, number, shape, exclude))), case
        answered += 1
    assert answered > 0


@pytest.mark.parametrize("operation", OPERATIONS)
def test_what_is_explained_runs(operation):
    for (call, _), shape, exclude in product(ASKED[operation], FRAMES, EXCLUDED):
        asked = {"answer": call.over(FRAMES[shape][0].exclude(exclude))}
        if refusal(sash.explain, asked):
            assert operation == DISTINCT_SELECT
            continue
        (choices,) = (step.choices for each in sash.explain(TABLE, asked).sortings for step in each.steps)
        with watched() as ran:
            sash.withColumns(TABLE, asked)
        assert list(dict.fromkeys(ran)) == [choice.algorithm for choice in choices], (call, shape, exclude)


def test_sba_runs_as_sba_where_frames_vary_and_partitions_end():
    from sash.kernels.fifo import boundary, two_stacks

    assert boundary.SBA.kernel is boundary.sba
    assert boundary.sba.make is not two_stacks.two_stacks.make
    for shape in ("of one size, several partitions", "of varying size, several partitions"):
        with watched() as ran:
            sash.withColumns(TABLE, {"answer": sf.max("q").over(FRAMES[shape][0], using="sba")})
        assert ran == [boundary.SBA]


def test_range_mode_is_refused_where_rows_are_cut_out():
    asked = {"answer": sf.mode("q").over(FRAMES["back and forth"][0].exclude("current row"), using="range_mode")}
    for ask in (sash.explain, sash.withColumns):
        with pytest.raises(Refused, match=r"^range_mode needs frames without EXCLUDE$"):
            ask(TABLE, asked)
