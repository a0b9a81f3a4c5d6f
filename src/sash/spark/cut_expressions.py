"""Cuts as Spark expressions: to which piece a row belongs, and which pieces need a copy, found by the JVM.

Each is a binary search over arrays of constants, one step a projection, so that what Spark compiles stays small
however many pieces there are.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce

import pyarrow as pa
from pyarrow import types
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from sash.engine.ranges import Cuts, PieceEdges
from sash.errors import SashError


@dataclass(frozen=True)
class Search:
    """How many of some edges a row has passed: those at or before it, or with ``strictly`` those before it."""

    edges: PieceEdges
    which: range
    keys: Sequence[Column]
    ways: Sequence[tuple[bool, bool]]  # descending, NULLs first
    strictly: bool = False

    def step(self, passed: Column, size: int) -> Column:
        """One step of the search: so many edges more, if the row has passed the last of them."""
        last = passed + F.lit(size - 1)
        beyond = (last < F.lit(len(self.which))) & ~self._before(last)
        return F.when(beyond, passed + F.lit(size)).otherwise(passed)

    def _before(self, edge: Column) -> Column:
        """Whether the row is before an edge, in those of the keys that it has values for."""

        def join(rest: Column | None, at: int) -> Column:
            lower = self._value_before(at, edge)
            same = self.keys[at].eqNullSafe(F.get(self._values[at], edge))
            compared = lower if rest is None and not self.strictly else lower | (same if rest is None else same & rest)
            if all(int(self.edges.counts[each]) > at for each in self.which):
                return compared
            return F.when(F.get(self._counts, edge) > at, compared).otherwise(F.lit(self.strictly))

        before = reduce(join, reversed(range(len(self.keys))), None)
        return F.lit(self.strictly) if before is None else before

    def _value_before(self, at: int, edge: Column) -> Column:
        """Whether the row's value of a key is before the edge's."""
        key, value = self.keys[at], F.get(self._values[at], edge)
        descending, nulls_first = self.ways[at]
        known = F.coalesce(key > value if descending else key < value, F.lit(nulls_first))
        if not self.edges.keys.column(at).null_count:
            return known
        return F.when(value.isNull(), F.lit(False) if nulls_first else key.isNotNull()).otherwise(known)

    @cached_property
    def _counts(self) -> Column:
        return _array([str(int(self.edges.counts[edge])) for edge in self.which])

    @cached_property
    def _values(self) -> list[Column]:
        columns = [column.combine_chunks() for column in self.edges.keys.columns]
        return [_array([_literal(column[edge]) for edge in self.which]) for column in columns]


def _array(items: list[str]) -> Column:
    """An array of constants; one text, since every call of a function of Spark is a message to the JVM."""
    return F.expr(f"array({', '.join(items)})")


def searches(keys: Sequence[Column], cuts: Cuts) -> tuple[Search, Search, Search]:
    """The searches for a row's own piece, and for the first and the last piece that need it."""
    ways = list(zip(cuts.order.descending, cuts.order.nulls_first, strict=True))
    later, earlier = range(1, cuts.pieces), range(cuts.pieces - 1)
    return (
        Search(cuts.low, later, keys, ways),
        Search(cuts.stop, earlier, keys, ways, strictly=cuts.inclusive),
        Search(cuts.begin, later, keys, ways),
    )


def searched(frame: DataFrame, routes: Mapping[str, Search]) -> DataFrame:
    """The frame with what each search finds, in a column of its name."""
    most = max(len(search.which) for search in routes.values())
    frame = frame.withColumns({name: F.lit(0) for name in routes})
    for bit in reversed(range(most.bit_length())):
        frame = frame.withColumns({name: search.step(F.col(name), 1 << bit) for name, search in routes.items()})
    return frame


def _literal(value: pa.Scalar) -> str:
    """A constant of exactly that value, as SQL."""
    dtype, plain = value.type, value.as_py() if not types.is_temporal(value.type) else None
    if not value.is_valid:
        return "null"
    if types.is_boolean(dtype):
        return str(plain)
    if types.is_integer(dtype):
        return f"bigint('{plain}')"
    if types.is_floating(dtype):
        return f"double('{plain!r}')"
    if types.is_decimal(dtype):
        return f"cast('{plain:f}' as decimal({dtype.precision}, {dtype.scale}))"
    if isinstance(plain, bytes):
        return f"X'{plain.hex()}'"
    if isinstance(plain, str):
        return f"string(X'{plain.encode().hex()}')"
    if types.is_date32(dtype):
        return f"date_from_unix_date({value.value})"
    micros = f"bigint('{value.value}')"
    if types.is_timestamp(dtype) and dtype.unit == "us":
        zoned = dtype.tz is not None
        epoch = "timestamp_ntz'1970-01-01 00:00:00'"
        return f"timestamp_micros({micros})" if zoned else f"timestampadd(MICROSECOND, {micros}, {epoch})"
    if types.is_duration(dtype) and dtype.unit == "us":
        days, rest = divmod(value.value, 86_400_000_000)
        return f"make_dt_interval({days}, 0, 0, cast('{rest // 10**6}.{rest % 10**6:06}' as decimal(18, 6)))"
    raise SashError(f"rows cannot be cut by keys of type {dtype}")
