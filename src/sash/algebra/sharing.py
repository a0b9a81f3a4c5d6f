"""Which aggregates can be answered from the partials of others, so that queries share what is kept.

Aggregates with the same lift and combine have the same partial: stddev and variance differ only in
how they lower it. Beyond that, ``RULES`` declares what a partial can be made of: avg of sum and count.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Any

from sash.algebra.aggregate import Aggregate, State
from sash.algebra.catalogue import extremes, moments, pairs, positions, sums

PartialKey = tuple[Any, Any]  # what makes a partial: lift and combine


def partial_key(aggregate: Aggregate) -> PartialKey:
    """What partials two aggregates must agree on to share them."""
    return aggregate.lift, aggregate.combine


@dataclass(frozen=True)
class Rule:
    """A partial can be made of others: ``make(*their partials)``."""

    target: Aggregate
    sources: tuple[Aggregate, ...]
    make: Callable[..., State]


def _of_halves(total: Any, n: Any) -> State:
    return (total[0] + total[1] * 4294967296.0, n)


RULES = (
    Rule(sums.AVG, (sums.SUM_OF_FLOATS, sums.COUNT), lambda total, n: (total, n)),
    Rule(sums.AVG, (sums.SUM_OF_INTEGERS, sums.COUNT), _of_halves),
    Rule(sums.COUNT, (sums.AVG,), lambda s: s[1]),
    Rule(sums.SUM_OF_FLOATS, (sums.AVG,), lambda s: s[0]),
    Rule(sums.COUNT, (moments.VAR_POP,), lambda s: int(s[0])),
    Rule(sums.COUNT, (moments.SKEWNESS,), lambda s: int(s[0])),
    Rule(moments.VAR_POP, (moments.SKEWNESS,), lambda s: (s[0], s[1], s[2])),
    Rule(extremes.RANGE, (extremes.MIN, extremes.MAX), lambda least, most: (least, most)),
    Rule(extremes.MIN, (extremes.RANGE,), lambda s: s[0]),
    Rule(extremes.MAX, (extremes.RANGE,), lambda s: s[1]),
    Rule(extremes.MIN, (extremes.MIN_COUNT,), lambda s: s[0]),
    Rule(extremes.MAX, (extremes.MAX_COUNT,), lambda s: s[0]),
    Rule(positions.FIRST, (positions.COLLECT,), lambda s: s[0]),
    Rule(positions.LAST, (positions.COLLECT,), lambda s: s[1] - 1),
    Rule(sums.COUNT, (pairs.COVAR_POP,), lambda s: int(s[0])),
)


@dataclass(frozen=True)
class Answer:
    """How one aggregate is answered: the partials it takes, by number, and what makes its own of them."""

    sources: tuple[int, ...]
    make: Callable[..., State]


@dataclass(frozen=True)
class Shared:
    """The partials to keep, each with its place, and how each aggregate asked for is answered of them."""

    partials: tuple[tuple[Aggregate, Hashable], ...]
    answers: tuple[Answer, ...]


def share(wanted: Sequence[tuple[Aggregate, Hashable]], derive: bool = True) -> Shared:
    """The fewest partials that answer all of these aggregates; without ``derive``, none is made of others.

    Each comes with its place: whatever must agree for two partials to be of the same rows, such as its
    columns and filter. Aggregates are to be given for their types (``aggregate.of``).

    >>> from sash.algebra.catalogue import builtin
    >>> plan = share([(builtin(name), "load") for name in ("variance", "stddev", "count")])
    >>> [aggregate.name for aggregate, _ in plan.partials]
    ['variance']
    """
    partials: dict[tuple[PartialKey, Hashable], Aggregate] = {}
    for aggregate, place in wanted:
        partials.setdefault((partial_key(aggregate), place), aggregate)
    gone: list[tuple[PartialKey, Hashable]] = []
    needy = sorted(partials, key=lambda key: len(_sources(key[0])), reverse=True) if derive else []
    for key in needy:  # what most can stand for, first
        others = [other for other in partials if other != key]
        if all(_rule(each, others) for each in (*gone, key)):
            del partials[key]
            gone.append(key)
    numbers = {key: number for number, key in enumerate(partials)}
    answers = []
    for aggregate, place in wanted:
        key = (partial_key(aggregate), place)
        if key in numbers:
            answers.append(Answer((numbers[key],), lambda partial: partial))
            continue
        rule = _rule(key, list(partials))
        assert rule is not None
        answers.append(Answer(tuple(numbers[partial_key(source), place] for source in rule.sources), rule.make))
    return Shared(tuple((partials[key], key[1]) for key in numbers), tuple(answers))


def _sources(target: PartialKey) -> list[Rule]:
    return [rule for rule in RULES if partial_key(rule.target) == target]


def _rule(key: tuple[PartialKey, Hashable], others: list[tuple[PartialKey, Hashable]]) -> Rule | None:
    """A rule that makes a partial of others that are kept at the same place."""
    for rule in _sources(key[0]):
        if all((partial_key(source), key[1]) in others for source in rule.sources):
            return rule
    return None
