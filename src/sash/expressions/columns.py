"""Columns: expressions over the columns of a table, as immutable trees that Python's operators build.

A tree's ``key`` is Spark SQL text: it reads well, equal trees have equal keys, and Spark itself can take it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal
from typing import Any

from sash.errors import SashError
from sash.expressions.intervals import Months
from sash.expressions.literals import checked, negative, render
from sash.expressions.methods import Methods
from sash.expressions.naming import parts, quoted
from sash.expressions.spark_names import type_name
from sash.libraries import is_pyspark

# How tightly SQL binds: what stands inside an operator and binds less tightly needs parentheses.
_OR, _AND, _NOT, _COMPARED, _SUM, _PRODUCT, _SIGNED, _WORD = range(8)
_INFIX = {"or": _OR, "and": _AND, "+": _SUM, "-": _SUM, "*": _PRODUCT, "/": _PRODUCT, "%": _PRODUCT, "div": _PRODUCT}
_COMPARISONS = frozenset({"=", "<>", "<", "<=", ">", ">=", "<=>", "like"})


class Column(Methods["Column"]):
    """An expression over the columns of a table.

    >>> from sash.expressions import col
    >>> (col("qty") * col("price") > 1000) & ~col("side").isin("buy", "sell")
    qty * price > 1000 AND NOT side IN ('buy', 'sell')
    """

    __slots__ = ()
    __array_ufunc__ = None  # a NumPy number on the left leaves the operation to us

    @property
    def key(self) -> str:
        """The expression as Spark SQL; equal for equal expressions, and for no others."""
        return self._sql()[0]

    @property
    def paths(self) -> frozenset[tuple[str, ...]]:
        """The names used, each as its parts: ``a.b`` is ("a", "b")."""
        return frozenset().union(*(child.paths for child in self.children()))

    @property
    def names(self) -> frozenset[str]:
        """The names of the columns used."""
        return frozenset(".".join(path) for path in self.paths)

    def rebuilt(self, change: Callable[[Column], Column]) -> Column:
        """The same expression with every direct part changed."""
        return self

    def children(self) -> tuple[Column, ...]:
        """The expressions that it is directly made of."""
        return ()

    def _sql(self) -> tuple[str, int]:
        raise NotImplementedError

    def __repr__(self) -> str:
        return self.key

    def __bool__(self) -> bool:
        raise SashError(
            f"a column has no truth value of its own, got {self.key}; write & for and, | for or, ~ for not, "
            "with parentheses around comparisons"
        )

    __hash__ = object.__hash__  # by identity; for equality of meaning compare keys

    def _told(self) -> type:
        """The class; PySpark, which looks at nothing else of what it is handed, is told what to write instead."""
        if str(sys._getframe(1).f_globals.get("__name__")).startswith("pyspark.sql."):
            raise SashError(
                f"PySpark cannot take {self}, which does not mix with its columns: write F.col(...) for a column of "
                "the frame; an answer is added by sash.withColumns(df, {name: …}) or sash.select(df, ….alias(name)), "
                "and what PySpark is to compute of it is a step after that, of F.col(name)"
            )
        return type(self)

    __class__ = property(_told)

    def _get_object_id(self) -> Any:
        """What PySpark asks of an operand of its own columns."""
        raise SashError(f"a PySpark column does not mix with sash.col; write F.col(...) for {self.key}")

    def asc(self) -> Order:
        """As an order: ascending, NULLs first."""
        return Order(self)

    def desc(self) -> Order:
        """As an order: descending, NULLs last."""
        return Order(self, descending=True, nulls_first=False)

    def __add__(self, other: Any) -> Column:
        return Operation("+", (self, operand(other)))

    def __radd__(self, other: Any) -> Column:
        return Operation("+", (operand(other), self))

    def __sub__(self, other: Any) -> Column:
        return Operation("-", (self, operand(other)))

    def __rsub__(self, other: Any) -> Column:
        return Operation("-", (operand(other), self))

    def __mul__(self, other: Any) -> Column:
        return Operation("*", (self, operand(other)))

    def __rmul__(self, other: Any) -> Column:
        return Operation("*", (operand(other), self))

    def __truediv__(self, other: Any) -> Column:
        return Operation("/", (self, operand(other)))

    def __rtruediv__(self, other: Any) -> Column:
        return Operation("/", (operand(other), self))

    def __mod__(self, other: Any) -> Column:
        return Operation("%", (self, operand(other)))

    def __rmod__(self, other: Any) -> Column:
        return Operation("%", (operand(other), self))

    def __neg__(self) -> Column:
        return Operation("negate", (self,))

    def __pos__(self) -> Column:
        return self

    def __eq__(self, other: object) -> Column:  # type: ignore[override]
        return Operation("=", (self, operand(other)))

    def __ne__(self, other: object) -> Column:  # type: ignore[override]
        return Operation("<>", (self, operand(other)))

    def __lt__(self, other: Any) -> Column:
        return Operation("<", (self, operand(other)))

    def __le__(self, other: Any) -> Column:
        return Operation("<=", (self, operand(other)))

    def __gt__(self, other: Any) -> Column:
        return Operation(">", (self, operand(other)))

    def __ge__(self, other: Any) -> Column:
        return Operation(">=", (self, operand(other)))

    def __and__(self, other: Any) -> Column:
        return Operation("and", (self, operand(other)))

    def __rand__(self, other: Any) -> Column:
        return Operation("and", (operand(other), self))

    def __or__(self, other: Any) -> Column:
        return Operation("or", (self, operand(other)))

    def __ror__(self, other: Any) -> Column:
        return Operation("or", (operand(other), self))

    def __invert__(self) -> Column:
        return Operation("not", (self,))

    def is_null(self) -> Column:
        """Whether there is no value."""
        return Operation("is null", (self,))

    def is_not_null(self) -> Column:
        """Whether there is a value."""
        return Operation("is not null", (self,))

    isNull = is_null
    isNotNull = is_not_null

    def isin(self, *values: Any) -> Column:
        """Whether the value is among those given, as arguments or as one collection."""
        if len(values) == 1 and isinstance(values[0], list | tuple | set | frozenset):
            values = tuple(values[0])
        return Operation("in", (self, *map(operand, values))) if values else Literal(False)

    def between(self, low: Any, high: Any) -> Column:
        """Whether the value is at least ``low`` and at most ``high``."""
        return (self >= low) & (self <= high)

    def __pow__(self, other: Any) -> Column:
        return self.pow(other)

    def __abs__(self) -> Column:
        return self.abs()

    def cast(self, to: str) -> Column:
        """The value as another type, by its Spark name: ``"double"``, ``"decimal(10,2)"``."""
        return Cast(self, type_name(to))

    def alias(self, name: str) -> Column:
        """The same expression under a name, for ``sash.select``.

        >>> col("price").alias("p")
        price AS p
        """
        if not isinstance(name, str) or not name:
            raise SashError(f"alias takes a name, got {name!r}")
        return Alias(self, name)

    def _applied(self, name: str, *others: Any, first: bool = True) -> Column:
        operands = tuple(map(operand, others))
        return Operation(name, (self, *operands) if first else (*operands, self))


@dataclass(frozen=True, eq=False, repr=False, slots=True)
class Name(Column):
    """A column of the table, or a field inside one."""

    path: tuple[str, ...]

    @property
    def paths(self) -> frozenset[tuple[str, ...]]:
        """The one name used."""
        return frozenset({self.path})

    def _sql(self) -> tuple[str, int]:
        return ".".join(map(quoted, self.path)), _WORD


@dataclass(frozen=True, eq=False, repr=False, slots=True)
class Literal(Column):
    """One value, the same for every row."""

    value: Any

    def __neg__(self) -> Column:
        value = self.value
        if isinstance(value, Months):
            return Literal(Months(-value.count))
        if isinstance(value, Decimal):
            return Literal(value.copy_negate())
        # these integers change their type, or overflow, with their sign
        if isinstance(value, float | timedelta) or (type(value) is int and abs(value) not in (2**31, 2**63)):
            return Literal(-value)
        return Operation("negate", (self,))

    def _sql(self) -> tuple[str, int]:
        return render(self.value), _SIGNED if negative(self.value) else _WORD


@dataclass(frozen=True, eq=False, repr=False, slots=True)
class Cast(Column):
    """An expression as another type; ``safe`` gives NULL where the value does not fit, instead of raising."""

    of: Column
    to: str
    safe: bool = False

    def rebuilt(self, change: Callable[[Column], Column]) -> Column:
        """The same cast of a changed expression."""
        return Cast(change(self.of), self.to, self.safe)

    def children(self) -> tuple[Column, ...]:
        """What it changes."""
        return (self.of,)

    def _sql(self) -> tuple[str, int]:
        return f"{'TRY_CAST' if self.safe else 'CAST'}({self.of.key} AS {self.to.upper()})", _WORD


@dataclass(frozen=True, eq=False, repr=False, slots=True)
class Alias(Column):
    """An expression under a name of its own; within another expression the name says nothing."""

    of: Column
    name: str

    def rebuilt(self, change: Callable[[Column], Column]) -> Column:
        """The changed expression, under the same name."""
        return Alias(change(self.of), self.name)

    def children(self) -> tuple[Column, ...]:
        """What it changes."""
        return (self.of,)

    def _sql(self) -> tuple[str, int]:
        return self.of._sql()

    def __repr__(self) -> str:
        return f"{self.of!r} AS {quoted(self.name)}"


@dataclass(frozen=True, eq=False, repr=False, slots=True)
class Operation(Column):
    """An operator or a function, by its name in Spark SQL, and what it is applied to."""

    name: str
    operands: tuple[Column, ...]

    def __invert__(self) -> Column:
        return self.operands[0].is_not_null() if self.name == "is null" else Operation("not", (self,))

    def rebuilt(self, change: Callable[[Column], Column]) -> Column:
        """The same operation on changed operands."""
        return Operation(self.name, tuple(change(each) for each in self.operands))

    def children(self) -> tuple[Column, ...]:
        """Its operands."""
        return self.operands

    def _sql(self) -> tuple[str, int]:
        name, of = self.name, self.operands
        if name in _INFIX:
            level = _INFIX[name]
            # a - (b - c) needs its parentheses, (a - b) - c does not
            return f"{_within(of[0], level)} {name.upper()} {_within(of[1], level + 1)}", level
        if name in _COMPARISONS:
            return f"{_within(of[0], _SUM)} {name.upper()} {_within(of[1], _SUM)}", _COMPARED
        if name == "||":  # sqlglot and Spark differ in how tightly it binds
            return f"{_within(of[0], _SIGNED)} || {_within(of[1], _SIGNED)}", _COMPARED
        if name == "negate":
            return (f"-({of[0].key})" if isinstance(of[0], Literal) else f"-{_within(of[0], _WORD)}"), _SIGNED
        if name == "not":
            return f"NOT {_within(of[0], _COMPARED)}", _NOT
        if name in ("is null", "is not null"):
            return f"{_within(of[0], _SUM)} {name.upper()}", _COMPARED
        if name == "in":
            return f"{_within(of[0], _SUM)} IN ({', '.join(each.key for each in of[1:])})", _COMPARED
        if name == "case":
            whens = "".join(f" WHEN {of[i].key} THEN {of[i + 1].key}" for i in range(0, len(of) - 1, 2))
            return f"CASE{whens} ELSE {of[-1].key} END", _WORD
        return f"{name}({', '.join(each.key for each in of)})", _WORD


class Foreign:
    """A PySpark column, which only Spark can evaluate."""

    __slots__ = ("column",)

    def __init__(self, column: Any) -> None:
        self.column = column

    @property
    def key(self) -> Any:
        """Equal for the very same PySpark column only, since nothing else is known of it."""
        return _Same(self.column)

    @property
    def paths(self) -> frozenset[tuple[str, ...]]:
        """Nothing: it cannot be looked into."""
        return frozenset()

    names: frozenset[str] = frozenset()

    def __repr__(self) -> str:
        return str(self.column)


@dataclass(frozen=True, eq=False, slots=True)
class _Same:
    """Equal by identity, and keeps its object alive."""

    what: Any

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and self.what is other.what

    def __hash__(self) -> int:
        return id(self.what)


Expression = Column | Foreign


@dataclass(frozen=True, eq=False)
class Order:
    """A column to sort by; as in Spark, NULLs are first when ascending and last when descending unless said.

    >>> col("price").desc(), Order(col("price"), nulls_first=False)
    (price desc, price nulls last)
    """

    column: Column | Foreign
    descending: bool = False
    nulls_first: bool = True

    @property
    def key(self) -> Any:
        """Equal for equal orders, and for no others."""
        return self.column.key, self.descending, self.nulls_first

    @property
    def names(self) -> frozenset[str]:
        """The names of the columns used."""
        return self.column.names

    def __repr__(self) -> str:
        words = f"{self.column!r} desc" if self.descending else repr(self.column)
        usual = self.nulls_first != self.descending
        return words if usual else f"{words} nulls {'first' if self.nulls_first else 'last'}"


def col(name: str) -> Column:
    """The column of that name; ``a.b`` is also the field b of a struct a, and backticks quote.

    >>> col("qty") > 0
    qty > 0
    """
    if not isinstance(name, str) or not name:
        raise SashError(f"col takes the name of a column, got {name!r}")
    return Name(parts(name))


def lit(value: Any) -> Column:
    """A literal: the same value for every row.

    >>> lit("buy"), lit(1.5), lit(None)
    ('buy', 1.5D, NULL)
    """
    return value if isinstance(value, Column) else Literal(checked(value))


def as_column(thing: Any) -> Column | Foreign:
    """What an argument of a function means: text is a column's name, as it is; other values are literals.

    >>> as_column("qty"), as_column("a.b"), as_column(1)
    (qty, `a.b`, 1)
    """
    if isinstance(thing, Column | Foreign):
        return thing
    if isinstance(thing, str):
        if not thing:
            raise SashError("a column's name must not be empty")
        return Name((thing,))
    return Foreign(thing) if is_pyspark(thing, "Column") else operand(thing)


def operand(thing: Any) -> Column:
    """What stands in an operator: a column, or a literal."""
    if isinstance(thing, Column):
        return thing
    if is_pyspark(thing, "Column") or isinstance(thing, Foreign):
        raise SashError(f"a PySpark column does not mix with sash.col; write sash.col(...) for {thing}")
    if type(thing).__name__ == "Call":
        raise SashError(f"{thing} needs a window to be computed with: .over(window) is missing")
    return Literal(checked(thing))


def _within(column: Column, level: int) -> str:
    text, own = column._sql()
    return text if own >= level else f"({text})"
