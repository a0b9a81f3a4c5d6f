"""Aggregates of the bits of integers: bit_and, bit_or, bit_xor. The answer has the type of the column."""

from __future__ import annotations

from typing import Any

from sash.algebra.aggregate import Aggregate
from sash.algebra.catalogue.declaring import EACH, Function, always


def _bitwise(name: str, combine: Any, identity: int, inverse: Any = None) -> Aggregate:
    plain = Aggregate(name, lift=lambda x: x, combine=combine, identity=identity, inverse=inverse, commutative=True,
                      exact=True, takes="integers")  # fmt: skip
    return plain.but(typed=lambda dtypes: plain.but(finish=lambda answers: answers.astype(dtypes[0])))


BIT_AND = _bitwise("bit_and", lambda a, b: a & b, -1)
BIT_OR = _bitwise("bit_or", lambda a, b: a | b, 0)
BIT_XOR = _bitwise("bit_xor", lambda a, b: a ^ b, 0, lambda s, old: s ^ old)


def _declared(aggregate: Aggregate, does: str) -> Function:
    name = aggregate.name
    return Function(name, always(aggregate), EACH, does, (f"{name}(qty)",), "Comparing", spark=True, postgres=True)


FUNCTIONS = (
    _declared(BIT_AND, "The bits set in every value."),
    _declared(BIT_OR, "The bits set in some value."),
    _declared(BIT_XOR, "The bits set in an odd number of values."),
)
