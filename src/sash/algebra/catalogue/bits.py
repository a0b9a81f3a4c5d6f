"""Aggregates of the bits of integers: bit_and, bit_or, bit_xor."""

from __future__ import annotations

from sash.algebra.aggregate import Aggregate
from sash.algebra.catalogue.declaring import Table, constants

BIT_AND = Aggregate("bit_and", lift=lambda x: x, combine=lambda a, b: a & b, identity=-1, commutative=True)
BIT_OR = Aggregate("bit_or", lift=lambda x: x, combine=lambda a, b: a | b, identity=0, commutative=True)
BIT_XOR = Aggregate(
    "bit_xor",
    lift=lambda x: x,
    combine=lambda a, b: a ^ b,
    identity=0,
    inverse=lambda s, old: s ^ old,
    commutative=True,
)

AGGREGATES: Table = constants(BIT_AND, BIT_OR, BIT_XOR)
