"""Partials are shared: what is answered from others' partials is what its own would give."""

from functools import reduce

import numpy as np
import pytest

from oracle import oracle
from sash.algebra.agreement import same
from sash.algebra.catalogue import builtin
from sash.algebra.sharing import RULES, share


def folded(aggregate, values):
    columns = [values] * aggregate.inputs
    partials = [
        aggregate.lift(row, *inputs) if aggregate.rows else aggregate.lift(*inputs)
        for row, inputs in enumerate(zip(*columns, strict=True) if columns else [()] * len(values))
    ]
    return reduce(aggregate.combine, partials)


@pytest.mark.parametrize("rule", RULES, ids=lambda r: f"{r.target.name} of {' and '.join(s.name for s in r.sources)}")
def test_each_rule_makes_the_partial_it_says(rule):
    values = np.random.default_rng(0).integers(1, 50, 20).tolist()
    made = rule.make(*(folded(source, values) for source in rule.sources))
    assert same(made, folded(rule.target, values))


@pytest.mark.parametrize(
    ("names", "kept"),
    [
        (("avg", "sum", "count"), {"avg"}),
        (("avg", "count"), {"avg"}),
        (("stddev_samp", "variance", "count"), {"stddev_samp"}),
        (("stddev_samp", "avg"), {"stddev_samp", "avg"}),  # a mean that is merged is NaN where a sum is infinite
        (("kurtosis", "stddev_pop", "count"), {"kurtosis"}),
        (("min", "max"), {"min", "max"}),
        (("range", "min", "max"), {"range"}),
        (("collect", "first", "last", "first_n"), {"collect"}),
        (("corr", "covar_pop", "covar_samp"), {"corr"}),
    ],
)
def test_what_is_kept_for_several_queries(names, kept):
    wanted = [builtin(name, *((2,) if name == "first_n" else ())) for name in names]
    plan = share([(aggregate, "x") for aggregate in wanted])
    assert {aggregate.name for aggregate, _ in plan.partials} == kept
    values = np.random.default_rng(0).integers(1, 50, 20).tolist()
    partials = [folded(aggregate, values) for aggregate, _ in plan.partials]
    for aggregate, answer in zip(wanted, plan.answers, strict=True):
        made = aggregate.lower(answer.make(*(partials[number] for number in answer.sources)))
        columns = [values] * aggregate.inputs
        assert made == pytest.approx(oracle(aggregate, columns, [(0, 20)], rows=20)[0])


def test_partials_of_other_columns_are_not_shared():
    plan = share([(builtin("avg"), "x"), (builtin("sum"), "y"), (builtin("count"), "y")])
    assert [(aggregate.name, place) for aggregate, place in plan.partials] == [
        ("avg", "x"),
        ("sum", "y"),
        ("count", "y"),
    ]
