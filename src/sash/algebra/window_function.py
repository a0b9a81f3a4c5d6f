"""Functions that no partial can hold: ranks, quantiles, values by their own order, counts of distinct values.

They are answered from the frame as a whole: each class by one family of answers in the engine. What a function can do
are its fields, from which the checks, the errors and the support matrix in the docs follow.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

from sash.algebra.call import TIME, Call
from sash.errors import SashError

MANY = 1000


@dataclass(frozen=True)
class WindowFunction:
    """A function over a frame, with its constant parameters.

    Args:
        name: what it is called.
        parameters: constants of this call, such as the n of ntile.
        columns: how many columns it takes, at least and at most.
        ordered: whether it may have an order of its own.
        distinct: whether DISTINCT changes anything.
        nulls: whether it may be told to ignore NULLs.
        framed: whether the frame applies without an own order, too.
        exact: whether the rows of a frame give the same answer in any order, as long as no value is a float.

    """

    name: str
    parameters: tuple[Any, ...] = ()
    columns: tuple[int, int] = (1, 1)
    ordered: bool = False
    distinct: bool = False
    nulls: bool = False
    framed: bool = True
    exact: bool = False
    origin: tuple[Any, ...] | None = field(default=None, init=False, compare=False)  # what names it in the catalogue
    maker: Callable[..., Any] | None = field(default=None, init=False, compare=False, repr=False)

    per_row: ClassVar[bool] = False  # whether it answers a row of the frame, not the frame
    of_frame: ClassVar[int] = MANY  # how many of its columns are of the rows of the frame, not of the row that asks
    of_spans: ClassVar[bool] = False  # whether only events that last have an answer
    # the place of the row whose value it is, None where a column says it, and whether it is counted from the last
    nth: ClassVar[tuple[int | None, bool] | None] = None

    def __call__(self, *columns: Any) -> Call:
        """The function of these columns."""
        least, most = self.columns
        if not least <= len(columns) <= most:
            takes = str(least) if least == most else f"{least} to {most}"
            given = f" with {', '.join(map(repr, self.parameters))}" if self.parameters else ""
            raise SashError(f"{self.name}{given} takes {takes} columns, got {len(columns)}: {columns!r}")
        return Call(self, columns)

    def counted(self, columns: tuple[Any, ...]) -> tuple[Any, ...]:
        """Those of a call's columns of which a row must have a value to count."""
        return columns

    def __reduce_ex__(self, protocol: Any) -> Any:
        """Pickle a built-in by its name, so that whoever unpickles it has the very same."""
        return super().__reduce_ex__(protocol) if self.origin is None else (self.maker, self.origin)

    def __repr__(self) -> str:
        return f"<window function {self.name}>"

    @property
    def no_distinct(self) -> str | None:
        """Why it cannot be distinct, or None."""
        return None if self.distinct else f"{self.name} cannot be distinct"

    @property
    def ignores_nulls(self) -> bool:
        """Whether it can be told to ignore NULLs."""
        return self.nulls


BEFORE, ITSELF, EQUALS, VALUES = "before its equals", "before itself", "up to its equals", "values before"
AROUND = "before its equals, and up to them"  # the sum of both


@dataclass(frozen=True, repr=False)
class RankFunction(WindowFunction):
    """A rank of the row, or of values that are given, among the rows of the frame.

    ``counts`` says which rows it counts: those before the row's equals, before the row itself, up to its last equal,
    the first and the last of these together, or the different values before it. ``lower`` makes the answer of that
    count: of the rows counted, the rows of the frame, whether the row is not one of them, and the parameters; NumPy
    arrays to the answers and whether each is not NULL. Without it the answer is one more than the count.
    """

    columns: tuple[int, int] = (0, MANY)
    ordered: bool = True
    framed: bool = False
    counts: str = BEFORE
    lower: Callable[[Any, Any, Any, tuple[Any, ...]], tuple[Any, Any]] | None = None

    per_row: ClassVar[bool] = True
    of_frame: ClassVar[int] = 0

    @property
    def by_row(self) -> bool:
        """Whether equal rows have different answers."""
        return self.counts == ITSELF

    @property
    def ranks_values(self) -> bool:
        """Whether its columns are values to be ranked; that of ntile is its parameter."""
        return None not in self.parameters


@dataclass(frozen=True, repr=False)
class ValueFunction(WindowFunction):
    """The value of the n-th row of the frame, from its first or its last; ``folded`` is the same as an aggregate."""

    ordered: bool = True
    nulls: bool = True
    nth: tuple[int | None, bool] = (1, False)  # type: ignore[misc]
    folded: Any = None

    of_frame: ClassVar[int] = 1


@dataclass(frozen=True, repr=False)
class ShiftFunction(WindowFunction):
    """The value so many rows after the row, or before it where ``ahead`` is -1; the second column may say how many."""

    columns: tuple[int, int] = (1, 2)
    ordered: bool = True
    nulls: bool = True
    framed: bool = False
    ahead: int = 1

    per_row: ClassVar[bool] = True
    of_frame: ClassVar[int] = 1
    by_row: ClassVar[bool] = True

    @property
    def offset(self) -> int | None:
        """How many rows after the row; negative before it; None where each row has its own."""
        number = self.parameters[0]
        return None if number is None else int(number) * self.ahead


@dataclass(frozen=True, repr=False)
class QuantileFunction(WindowFunction):
    """A value below which a share of the rows lies: one of the values where ``discrete``.

    ``any_order`` is whether it is one of the values, too, where there is nothing between two of them.

    Where it is ``weighted``, the second column says how much each row weighs.
    """

    columns: tuple[int, int] = (1, 3)
    ordered: bool = True
    distinct: bool = True
    exact: bool = True
    discrete: bool = False
    weighted: bool = False
    any_order: bool = False

    @property
    def of_frame(self) -> int:  # type: ignore[override]
        """The values, and their weights; a share may be of the row that asks."""
        return 1 + self.weighted

    @property
    def no_distinct(self) -> str | None:
        """Why it cannot be distinct, or None."""
        return f"{self.name} with a weight cannot be distinct" if self.weighted else None


@dataclass(frozen=True, repr=False)
class JoinedFunction(WindowFunction):
    """The strings of the frame in order, each but the first with the delimiter of its own row before it."""

    columns: tuple[int, int] = (2, 2)
    ordered: bool = True

    def but(self, name: str) -> JoinedFunction:
        """The same under another name."""
        return replace(self, name=name)

    def counted(self, columns: tuple[Any, ...]) -> tuple[Any, ...]:
        """Those of a call's columns of which a row must have a value to count."""
        return columns[:1]


@dataclass(frozen=True, repr=False)
class Deviation(WindowFunction):
    """The median distance from the median."""

    exact: bool = True


@dataclass(frozen=True, repr=False)
class Mode(WindowFunction):
    """The value that occurs most often."""

    ordered: bool = True
    exact: bool = True


@dataclass(frozen=True, repr=False)
class Entropy(WindowFunction):
    """The entropy of how often values occur."""


@dataclass(frozen=True, repr=False)
class CountDistinct(WindowFunction):
    """How many different values there are."""

    columns: tuple[int, int] = (1, MANY)
    exact: bool = True

    @property
    def no_distinct(self) -> None:
        """It is distinct, and may be told so."""
        return


@dataclass(frozen=True, repr=False)
class SessionFunction(WindowFunction):
    """The number of the session that the row is in; a column, or else the one parameter, says how long a gap is."""

    columns: tuple[int, int] = (0, 1)
    framed: bool = False
    exact: bool = True

    per_row: ClassVar[bool] = True
    by_row: ClassVar[bool] = True


@dataclass(frozen=True, repr=False)
class Interpolation(WindowFunction):
    """The value of the row, or one between those of the rows around it, by the time that its last column says."""

    columns: tuple[int, int] = (2, 2)
    framed: bool = False

    per_row: ClassVar[bool] = True
    by_row: ClassVar[bool] = False

    def __call__(self, *columns: Any) -> Call:
        """The function of a column, and of the time, which may be the window's."""
        return super().__call__(*columns, *[TIME] * (len(columns) == 1))


@dataclass(frozen=True, repr=False)
class BucketFunction(WindowFunction):
    """A function of the rows of each category: the first column is the category, the others are the function's."""

    columns: tuple[int, int] = (1, MANY)
    inner: Any = None

    @property
    def of_frame(self) -> int:  # type: ignore[override]
        """The category, and what the function reads of the frame's rows."""
        return 1 + int(getattr(self.inner, "of_frame", MANY))

    @property
    def ignores_nulls(self) -> bool:
        """Whether the function can be told to ignore NULLs."""
        return bool(self.inner.ignores_nulls)

    def counted(self, columns: tuple[Any, ...]) -> tuple[Any, ...]:
        """A row counts that has a category."""
        return columns[:1]


@dataclass(frozen=True, repr=False)
class SpanFunction(WindowFunction):
    """How many spans there are at a time: the most of them, or how long there is one."""

    columns: tuple[int, int] = (0, 0)
    peaks: bool = True

    of_spans: ClassVar[bool] = True
