"""What sash.check finds, how small it makes it, and that the built-ins keep their promises."""

import json
import math
import operator

import numpy as np
import pyarrow as pa
import pytest

import sash
from every_function import AGGREGATES
from sash import Aggregate, SashError
from sash.algebra.laws import try_laws
from sash.checking import taken
from sash.errors import NotCompilable
from sash.kernels.compiling.trial import trial

FINITE = [0.0, -0.0, 1.0, -1.0, 2.5, 1e-3, 3.3, -7.25e5, 1e8 + 1, 1e8 + 2]
WILD = [*FINITE, math.inf, -math.inf, math.nan]
POSITIVE = [1.0, 2.0, 0.5, 1e-8, 1e9, 3.7]
INTEGERS = [0, 1, -1, 2, 7, -(2**62), 2**62, -(2**63), 2**63 - 1]
PAIRS = [(x, y) for x in (0.0, 1.0, -2.5, 1e6, 1e6 + 1) for y in (0.5, -1.0, 3.0, 1e-3)]


def laws(aggregate, samples, **options):
    """The laws alone, without compiling."""
    definition, _, rows = taken(aggregate, samples)
    return try_laws(definition, rows, **options)


def broken(aggregate, samples, **options):
    return laws(aggregate, samples, **options).counterexamples


def total(**changes):
    return Aggregate("total", lift=lambda x: x, combine=lambda a, b: a + b).but(**changes)


# An affine map x -> s[0] * x + s[1]: combined by composition, which is associative and does not commute.
AFFINE = Aggregate("affine", lift=lambda x: (x, 1), combine=lambda a, b: (a[0] * b[0], a[1] * b[0] + b[1]))


# Each law's violation is found and shrunk.


def test_an_operation_that_is_not_associative_is_shown_on_single_rows():
    difference = total(name="difference", combine=lambda a, b: a - b)
    assert broken(difference, [9, 5, 1]) == {
        "associative": "combine(combine(a, b), c) = -1 but combine(a, combine(b, c)) = 1 for a = b = c = fold of [1]"
    }


def test_a_mean_of_means_is_not_associative():
    found = broken(total(combine=lambda a, b: (a + b) / 2), [5.0, 0.0, 7.25, 1.0])
    assert found["associative"].endswith("for a = b = fold of [0.0], c = fold of [1.0]")


def test_a_violation_that_needs_several_rows_is_shrunk_to_those_it_needs():
    capped = Aggregate(  # goes wrong from the fourth row on, in the newer operand only
        "capped", lift=lambda x: (x, 1), combine=lambda a, b: (a[0] + b[0] if b[1] < 4 else a[0], a[1] + b[1])
    )
    found = broken(capped, [3, 1, 2, 10, 11, 12, 13, 14, 15, 16])["associative"]
    assert found.endswith("for a = fold of [1], b = c = fold of [1, 1]")


def test_an_identity_that_changes_something_is_found_on_either_side():
    assert broken(total(identity=1), [0, 5]) == {"identity": "combine(identity, a) = 1 but a = 0 for a = fold of [0]"}
    right_only = total(combine=lambda a, b: a, identity=0)
    assert broken(right_only, [7])["identity"] == "combine(identity, a) = 0 but a = 7 for a = fold of [7]"
    left_only = total(combine=lambda a, b: b, identity=0)
    assert broken(left_only, [7])["identity"] == "combine(a, identity) = 0 but a = 7 for a = fold of [7]"


def test_an_identity_of_another_shape_is_found():
    assert broken(AFFINE.but(identity=1), [2])["identity"].startswith("identity = 1 but lift gives (number, number)")


def test_an_inverse_that_removes_the_newer_operand_is_found_where_order_matters():
    def newer_away(s, old):
        return (s[0] / old[0], (s[1] - old[1]) / old[0])

    def older_away(s, old):
        return (s[0] / old[0], s[1] - old[1] * (s[0] / old[0]))

    assert set(broken(AFFINE.but(inverse=newer_away), [1.0, 2.0, 4.0])) == {"inverse"}
    assert laws(AFFINE.but(inverse=older_away), [1.0, 2.0, 4.0])


def test_commutativity_is_tried_where_promised_and_hinted_at_where_not():
    found = broken(AFFINE.but(commutative=True), [1, 2, 3])
    assert found == {
        "commutative": "combine(a, b) = (2, 3) but combine(b, a) = (2, 2) for a = fold of [1], b = fold of [2]"
    }
    assert "commutative: not promised\n" in str(laws(AFFINE, [1, 2, 3]))
    assert "commutative: not promised; looks true\n" in str(laws(total(), [1, 2, 3]))


def test_selectivity_is_tried_where_promised_and_hinted_at_where_not():
    found = broken(total(selective=True), [0, 1, 2])
    assert found == {"selective": "combine(a, b) = 2 is neither a = 1 nor b = 1 for a = b = fold of [1]"}
    assert "selective: not promised; looks true\n" in str(laws(total(combine=lambda a, b: a), [1, 2]))


def test_states_must_keep_their_shape():
    torn = total(lift=lambda x: x if x < 3 else (x, 1))
    assert broken(torn, [1, 2, 3])["lift"] == (
        "lift gives 1 for 1 but (3, 1) for 3: a state must always have the same shape"
    )
    listed = total(lift=lambda x: [x])
    assert broken(listed, [1])["lift"].startswith("lift gives [1] for 1: a state must be a number or a tuple")
    flat = AFFINE.but(combine=lambda a, b: a[0] + b[0])
    assert broken(flat, [1]) == {"combine": "combine gives 2 for (1, 1) and (1, 1), but lift gives (number, number)"}


def test_a_function_that_raises_is_a_finding_and_the_rest_is_still_tried():
    logs = total(lift=lambda x: math.log(x), combine=lambda a, b: a - b)
    found = broken(logs, [1.0, 2.0, -1.0])
    assert found["lift"] == "lift raised ValueError on -1.0: math domain error"
    assert "associative" in found
    picky = total(lower=lambda s: 1 // (s - 3))
    assert broken(picky, [2, 1])["lower"].startswith("lower raised ZeroDivisionError on 3: ")
    nothing = laws(total(lift=lambda x: x / 0), [1, 2])
    assert list(nothing.counterexamples) == ["lift"]
    assert "associative: could not be tried, since lift failed" in str(nothing)


def test_an_answer_that_no_array_can_hold_is_a_finding():
    assert broken(total(lower=lambda s: "yes"), [1])["lower"].startswith("lower gives 'yes', which is no number")


def test_a_plain_python_state_may_be_anything_but_is_not_to_be_changed():
    union = Aggregate("union", lift=lambda x: {x}, combine=lambda a, b: a | b, commutative=True, compiled=False)
    report = sash.check(union, ["a", "b", "a long one"])
    assert report
    assert "compiled" not in str(report)

    def extend(a, b):
        a.extend(b)
        return a

    assert (
        "changed what it was given" in broken(total(lift=lambda x: [x], combine=extend, compiled=False), [1])["combine"]
    )


# What counts as equal.


def test_floats_are_compared_within_the_tolerance_and_integers_exactly():
    assert laws(total(inverse=lambda s, old: s - old), [0.1, 0.2, 0.3, 1e16])
    assert broken(total(inverse=lambda s, old: s - old), [0.1, 0.2, 0.3], tolerance=0)
    off_by_one = total(inverse=lambda s, old: s - old + (s > 10**12))
    assert broken(off_by_one, [1, 10**15])


def test_cancellation_is_no_violation_but_a_missing_term_is():
    def without_shift(s, old):
        return (s[0] - old[0], s[1] - old[1], s[2] - old[2])

    variance = AGGREGATES["var_pop"]()
    assert laws(variance, [1e8 + k for k in range(9)])
    assert set(broken(variance.but(inverse=without_shift), [1e8 + k for k in range(9)])) == {"inverse"}


def test_nan_equals_nan():
    assert laws(total(), [math.nan, 1.0, math.inf, -math.inf])


# What samples may be.


@pytest.mark.parametrize(
    "samples",
    [
        [1.0, 2.5],
        (1.0, None, 2.5),
        np.array([1.0, 2.5]),
        np.array([1, 2], np.int32),
        np.array([True, False]),
        pa.array([1.0, None, 2.5]),
        pa.chunked_array([[1], [2]]),
        range(5),
    ],
    ids=lambda samples: type(samples).__name__,
)
def test_samples_may_be_sequences_and_arrays_without_their_nulls(samples):
    assert laws(AGGREGATES["max"](), samples)


def test_samples_keep_their_type_and_are_cast_as_the_aggregate_asks():
    definition, columns, rows = taken(AGGREGATES["min"](), np.array([3, 4], np.uint8))
    assert definition.identity == 255
    assert (columns[0].dtype, rows) == (np.uint8, [(3,), (4,)])
    assert taken(AGGREGATES["avg"](), [1, 2])[2] == [(1.0,), (2.0,)]
    assert taken(AGGREGATES["corr"](), np.array([[1, 2], [3, 4]]))[2] == [(1.0, 2.0), (3.0, 4.0)]
    assert len(taken(total(), range(10**6))[2]) == 10_000


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((total(), []), r"samples must hold at least one row that is not NULL, got \[\]"),
        ((total(), [None]), r"samples must hold at least one row that is not NULL, got \[None\]"),
        ((total(), [(1, 2)]), r"samples must have 1 value a row, as lift of total takes, got \(1, 2\) with 2"),
        (
            (AGGREGATES["corr"](), [1.0]),
            r"samples must have 2 values a row, as lift of corr takes, got \(1.0,\) with 1",
        ),
        ((total(), 5), r"samples must be a sequence or an array of values, got 5"),
        ((total(), "abc"), r"samples must be a sequence or an array of values, got 'abc'"),
        ((total(), ["abc"]), r"samples of a compiled aggregate must be numbers .* got 'abc' of type str"),
        ((AGGREGATES["avg"](), ["abc"]), r"samples must convert to float64, which avg computes with, got .*'abc'"),
        ((max, [1]), r"aggregate must be a sash.Aggregate, got <built-in function max>"),
    ],
)
def test_wrong_arguments_are_refused_by_name(arguments, message):
    with pytest.raises(SashError, match=message):
        sash.check(*arguments)


@pytest.mark.parametrize("tolerance", [-1, math.nan, math.inf, "1e-9", True])
def test_a_wrong_tolerance_is_refused(tolerance):
    with pytest.raises(SashError, match="tolerance must be a number, at least 0, got"):
        sash.check(total(), [1], tolerance=tolerance)


# Positions.


def test_rows_have_distinct_and_increasing_positions():
    seen = []

    def adjacent(a, b):
        seen.append((a, b))
        return (a[0], b[1])

    assert laws(AGGREGATES["collect"]().but(combine=adjacent), ["x", "y"])
    assert all(a[0] < a[1] == b[0] < b[1] for a, b in seen)


def test_positions_are_shown_with_the_samples():
    oldest_is_0 = Aggregate("wrong", lift=lambda row, x: (row, x), combine=lambda a, b: a if a[0] else b, rows=True)
    assert broken(oldest_is_0.but(combine=lambda a, b: (a[0] - b[0], a[1])), [5])["associative"].endswith(
        "for a = fold of [(0, 5)], b = fold of [(1, 5)], c = fold of [(2, 5)]"
    )


def test_commutativity_is_not_hinted_at_where_partials_know_their_place():
    assert "commutative" not in str(laws(AGGREGATES["first"](), [1, 2]))
    assert "commutative" in broken(AGGREGATES["first"]().but(commutative=True), [1, 2])


# The report.


def test_a_report_is_true_where_there_is_no_counterexample_and_reads_well():
    fine, wrong = laws(total(identity=0), [1, 2]), laws(total(identity=1, selective=True), [1, 2])
    assert (bool(fine), fine.counterexamples) == (True, {})
    assert str(fine).splitlines() == [
        "total: no counter-example found",
        "lift: gives a number for each of 2 different samples",
        "combine: keeps that shape in 2000 trials",
        "associative: held in 2000 trials",
        "identity: held in 2000 trials",
        "inverse: not given",
        "commutative: not promised; looks true",
        "selective: not promised",
        "lower: raised nothing in 2000 trials",
    ]
    assert not wrong
    assert list(wrong.counterexamples) == ["identity", "selective"]
    assert str(wrong).splitlines()[0] == "total: counter-example found for identity, selective"
    assert f"identity: FAILS: {wrong.counterexamples['identity']}" in str(wrong)


def test_the_search_is_the_same_on_every_run():
    assert str(laws(AFFINE.but(commutative=True), WILD)) == str(laws(AFFINE.but(commutative=True), WILD))


# The built-ins.

PARAMETERS = {
    "first_n": (2,),
    "last_n": (2,),
    "ith_youngest": (2,),
    "ith_smallest": (3,),
    "top_k": (3,),
    "concat": (", ",),
    "moment_quantile": (0.5,),
    "ewm_avg": (2,),
    "histogram": ((1.0, 30.0, 60.0),),
    "kll_percentile": (0.5,),
    "frequent_items": (3,),
    "bloom_filter": (512, 4),
}


def builtins():
    """Each built-in once, under the first of its names, with the samples that suit it."""
    known = set()
    for name, make in AGGREGATES.items():
        aggregate = make(*PARAMETERS.get(name, ()))
        functions = aggregate.lift, aggregate.combine, aggregate.lower, aggregate.finish
        if functions in known:
            continue
        known.add(functions)
        for kind, samples in suitable(name, aggregate).items():
            yield pytest.param(aggregate, samples, id=f"{name}-{kind}")


def suitable(name, aggregate):
    if aggregate.inputs == 2:
        return {"pairs": PAIRS}
    if name.startswith("bit_") or name == "bloom_filter":
        return {"integers": INTEGERS}
    if name == "geometric_mean":  # the logarithm of 0 is infinite, and what is infinite cannot be taken away
        return {"positive": POSITIVE}
    if name == "sum":
        return {"finite": FINITE, "integers": INTEGERS}
    if aggregate.cast == "bool":
        return {"booleans": [True, False]}
    if aggregate.rows and not aggregate.inputs:
        return {"strings": ["a", "b", ""]}
    if name in ("min", "max", "top_k", "ith_smallest"):
        return {"wild": WILD, "integers": INTEGERS, "narrow": np.array(WILD, np.float32)}
    return {"finite": FINITE} if aggregate.invertible else {"wild": WILD}


@pytest.mark.parametrize(("aggregate", "samples"), [*builtins()])
def test_every_builtin_keeps_its_promises(aggregate, samples):
    report = laws(aggregate, samples)
    assert report, str(report)


def test_floats_that_are_not_finite_cannot_be_taken_away():
    assert set(broken(AGGREGATES["sum"](), WILD)) == {"inverse"}


# Compiled.


def test_a_compiled_aggregate_is_tried_both_ways():
    report = sash.check(AGGREGATES["var_samp"](), WILD[:-3])
    assert report, str(report)
    assert str(report).endswith("\ncompiled: gives what plain Python gives")


def test_a_difference_between_compiled_and_plain_is_shown():
    product = total(name="product", combine=lambda a, b: a * b)
    assert sash.check(product, [2**62, 2, 1]).counterexamples == {
        "compiled": f"compiled, the fold of [{2**62}, 2] is {-(2**63)}, but {2**63} as plain Python"
    }


def test_rows_positions_nulls_and_narrow_floats_agree():
    for name, samples in (
        ("ith_youngest", ["a", "b", "c"]),
        ("max_by", [1.0, math.nan, 3.0]),
        ("count", [1, 2, 3]),
        ("var_samp", np.array([1e3, 1e3 + 1, 5], np.float32)),
    ):
        definition, columns, rows = taken(AGGREGATES[name](*PARAMETERS.get(name, ())), samples)
        assert trial(definition, columns, len(rows)) is None


LINE = r"\(test_checking\.py, line \d+\)"


@pytest.mark.parametrize(
    ("aggregate", "message"),
    [
        (total(lift=lambda x: [x]), rf"total: lift {LINE} cannot be compiled: it makes a list"),
        (total(combine=lambda a, b: sorted([a, b])[0]), rf"total: combine {LINE} cannot be compiled: it makes a list"),
        (total(lift=lambda x: "a"), rf"total: lift {LINE} must return a number .*, got a string"),
        (total(lower=lambda s: "yes"), rf"total: lower {LINE} must return a number .*, got a string"),
        (total(lower=lambda s: {"s": s}), rf"total: lower {LINE} cannot be compiled: it makes a list, a dictionary"),
        (
            total(lift=lambda x: json.loads(x)),
            rf"total: lift {LINE} cannot be compiled: Numba does not know json.loads",
        ),
        (
            AFFINE.but(combine=lambda a, b: a[0] + b[0]),
            rf"affine: combine {LINE} must return a state like lift's, got int64 where lift gives \(int64, int64\)",
        ),
    ],
)
def test_what_numba_cannot_compile_is_named_with_its_line(aggregate, message):
    from sash.kernels.compiling import numba_backend

    with pytest.raises(NotCompilable, match=message + ".*compiled=False"):
        numba_backend.typed(aggregate, (np.dtype(np.int64),), "bounds")


def test_an_aggregate_that_does_not_compile_is_reported():
    for aggregate in (total(lift=lambda x: [x]), total(combine=operator.add)):
        found = sash.check(aggregate, [1, 2]).counterexamples["compiled"]
        assert found.startswith("total")
        assert "compiled=False" in found


def test_the_line_of_an_error_is_that_of_the_statement():
    def lift(x):
        double = 2 * x
        return [double]

    found = sash.check(total(lift=lift), [1]).counterexamples["compiled"]
    assert f"line {lift.__code__.co_firstlineno + 2})" in found
