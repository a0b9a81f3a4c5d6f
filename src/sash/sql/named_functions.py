"""Functions by the names that queries call them by: built-in ones, of their declarations, and users' own."""

from __future__ import annotations

import re
from typing import NamedTuple

from sash.algebra import Aggregate
from sash.algebra.catalogue import FUNCTIONS
from sash.algebra.catalogue.declaring import Function, Synonym
from sash.errors import SashError

REGISTERED: dict[str, Aggregate] = {}


def register(aggregate: Aggregate) -> Aggregate:
    """Let queries call an aggregate by its name, in any case; a later one of the same name takes its place.

    >>> import math, sash
    >>> geomean = sash.register(sash.Aggregate(
    ...     "geomean",
    ...     lift=lambda x: (math.log(x), 1),
    ...     combine=lambda a, b: (a[0] + b[0], a[1] + b[1]),
    ...     lower=lambda s: math.exp(s[0] / s[1]),
    ... ))
    >>> query = "select geomean(price) over (order by at rows 9 preceding) from trades"  # for sash.sql
    """
    if not isinstance(aggregate, Aggregate):
        raise SashError(f"register takes a sash.Aggregate, got {aggregate!r} of type {type(aggregate).__name__}")
    name = aggregate.name
    if not re.fullmatch(r"[^\W\d]\w*", name):
        raise SashError(f"register takes an aggregate whose name is one word, got {name!r}")
    if name.lower() in NAMES:
        raise SashError(f"register takes an aggregate with a name of its own, got {name!r}, which is built in")
    REGISTERED[name.lower()] = aggregate
    return aggregate


class NamedFunction(NamedTuple):
    """A function, and the synonym by which it is called, if it is."""

    function: Function
    synonym: Synonym | None = None

    @property
    def in_spark(self) -> bool:
        """Whether Spark has it by this name, and answers it as Sash does."""
        return self.function.spark and self.synonym is None


def _names(spans: bool) -> dict[str, NamedFunction]:
    some = [each for each in FUNCTIONS.values() if each.in_sql and each.spans == spans]
    others = {synonym.name: NamedFunction(each, synonym) for each in some for synonym in each.synonyms}
    return {each.name: NamedFunction(each) for each in some} | others


NAMES = _names(spans=False)
OF_SPANS = _names(spans=True)  # in continuous queries alone
