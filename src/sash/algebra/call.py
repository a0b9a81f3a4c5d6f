"""A function applied to columns: what ``sf.max("load")`` gives and a query takes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from sash.errors import SashError

NULLS = "respect"
WEIGHTS = ("__sash_share", "__sash_spent")  # columns that a user does not give: what a slice has of a span
TIME = "__sash_time"  # another: the time of a row, which the window or the stream says


@dataclass(frozen=True)
class Call:
    """An aggregate or a window function, the columns it is computed of, and how.

    >>> from sash import functions as sf
    >>> sf.max("load")
    max(load)
    >>> sf.max_by("trader", "price").aggregate
    <aggregate max_by>
    >>> sf.first_value("trader").order_by("price desc").ignore_nulls().filter("qty > 0")
    first_value(trader order by price desc) ignore nulls filter (where qty > 0)
    """

    aggregate: Any  # an Aggregate or a WindowFunction
    columns: tuple[Any, ...] = ()
    condition: Any = None
    unique: bool = False
    order: tuple[Any, ...] = ()
    nulls: str = NULLS

    def filter(self, condition: Any) -> Call:
        """Only the rows where a condition holds: such as ``"qty > 0"``, or ``sash.col("qty") > 0``."""
        if condition is None or isinstance(condition, (bool, int, float)):
            raise SashError(f'filter must be such as "qty > 0" or sash.col("qty") > 0, got {condition!r}')
        if self.condition is not None:
            raise SashError(f"{self} has a filter already; join the two with and")
        return replace(self, condition=condition)

    def distinct(self) -> Call:
        """Each value once in a frame."""
        if self.of_spans:
            raise SashError(f"{self} cannot be distinct: it weighs spans by their time")
        if reason := self.aggregate.no_distinct:
            raise SashError(reason)
        if not self.columns:
            raise SashError(f"{self.aggregate.name} needs a column to be distinct")
        return replace(self, unique=True)

    def prorated(self) -> Call:
        """Of spans, only the share that a window has: a call half of which is in the window counts as half.

        >>> from sash import functions as sf
        >>> sf.sum("bytes").prorated()
        prorated_sum(bytes)
        """
        weighed = getattr(self.aggregate, "prorated", None)
        if self.unique or weighed is None or len(self.columns) != weighed.inputs - 1:
            raise SashError(f"{self} cannot be prorated: sum and count() can; time_avg is the average over time")
        return replace(self, aggregate=weighed, columns=(*self.columns, WEIGHTS[0]))

    def order_by(self, *orders: Any) -> Call:
        """Let the function have an order of its own: such as ``"price desc"``."""
        if len(orders) == 1 and isinstance(orders[0], (list, tuple)):
            orders = tuple(orders[0])
        if not orders:
            raise SashError("order_by takes at least one order, got none")
        if not self.aggregate.ordered:
            name = self.aggregate.name
            raise SashError(f"{name} takes no order_by; ranks, values, quantiles and lists have an own order")
        return replace(self, order=tuple(orders))

    def ignore_nulls(self) -> Call:
        """Pass over rows whose value is NULL."""
        return self._with_nulls("ignore")

    def respect_nulls(self) -> Call:
        """Take rows whose value is NULL like others: the default of those that can ignore them."""
        return self._with_nulls("respect")

    def over(self, window: Any, using: str | None = None, *, min_samples: int | None = None) -> Any:
        """The function over the frames of a window: an expression, which can be computed with.

        Args:
            window: made with ``sash.Window``.
            using: the name of an algorithm.
            min_samples: how many rows must count in a frame, not NULL and through the filter, for an answer; below
                it the answer is NULL.

        >>> from sash import Window, functions as sf
        >>> sf.avg("load").over(Window.orderBy("ts").rowsBetween(-2, 0))
        avg(load) over (order by ts rows between 2 preceding and current row)

        """
        if not getattr(window, "is_sash_window", False):
            library = type(window).__module__.partition(".")[0]
            hint = "; write `from sash import Window`" if library == "pyspark" else ""
            raise SashError(f"over takes a window made with sash.Window, got {_described(window)}{hint}")
        if using is not None and not isinstance(using, str):
            raise SashError(f"using must be the name of an algorithm, got {using!r}")
        if self.of_spans:
            raise SashError(
                f'{self} is for events that last: sash.stream(…, span=("start", "end")); rows of a frame do not'
            )
        return window.answer(self, using, self._checked_samples(min_samples))

    def _computed_with(self, other: Any = None) -> Any:
        raise SashError(f"{self} has answers over windows alone: compute with {self}.over(…); a query of a board is "
                        "one aggregate, and its answers are columns to compute with")  # fmt: skip

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __rtruediv__ = _computed_with
    __mod__ = __rmod__ = __neg__ = __lt__ = __le__ = __gt__ = __ge__ = _computed_with

    def _checked_samples(self, least: Any) -> int | None:
        """How many rows must count, as a number; refuses functions that count none."""
        if least is None:
            return None
        if not hasattr(least, "__index__") or isinstance(least, bool) or least.__index__() < 0:
            raise SashError(f"min_samples must be a whole number, at least 0, got {least!r}")
        if not (self.aggregate.framed or self.order):
            raise SashError(f"min_samples counts the rows of a frame, and {self} looks at no frame")
        return int(least.__index__())

    @property
    def waits_for_time(self) -> bool:
        """Whether it reads the time of rows, and nobody has said yet which column has it."""
        return any(isinstance(each, str) and each == TIME for each in self.columns)

    def by_time(self, column: Any) -> Call:
        """The call with a column in the place of the time of rows."""
        columns = (column if isinstance(each, str) and each == TIME else each for each in self.columns)
        return replace(self, columns=tuple(columns))

    @property
    def of_spans(self) -> bool:
        """Whether only events that last have an answer."""
        return self.aggregate.of_spans or any(str(each) in WEIGHTS for each in self.columns)

    @property
    def of_frame(self) -> int:
        """How many of the columns are of the rows of the frame; the others are of the row that is answered."""
        return min(getattr(self.aggregate, "of_frame", len(self.columns)), len(self.columns))

    @property
    def counted(self) -> tuple[Any, ...]:
        """The columns of which a row must have a value to count."""
        columns = self.columns[: self.of_frame]
        if self.aggregate.ignores_nulls:
            return columns[:1] if self.nulls == "ignore" else ()
        return tuple(self.aggregate.counted(columns))

    def _with_nulls(self, how: str) -> Call:
        if not self.aggregate.ignores_nulls:
            raise SashError(
                f"{self.aggregate.name} cannot be told how to treat NULLs: that is for first, last, nth and such"
            )
        return replace(self, nulls=how)

    def __repr__(self) -> str:
        constants = getattr(self.aggregate, "parameters", ())
        inside = ("distinct " if self.unique else "") + ", ".join(
            str(each) for each in (*self.columns, *constants) if str(each) not in (*WEIGHTS, TIME)
        )
        if (inner := getattr(self.aggregate, "inner", None)) is not None:
            inside = f"{self.columns[0]}, {replace(self, aggregate=inner, columns=self.columns[1:], condition=None)}"
        elif self.order:
            inside = f"{inside} order by {', '.join(map(str, self.order))}".lstrip()
        text = f"{self.aggregate.name}({inside})"
        if self.nulls != NULLS and inner is None:
            text += f" {self.nulls} nulls"
        return text if self.condition is None else f"{text} filter (where {self.condition})"


def _described(thing: Any) -> str:
    object_type = type(thing)
    its_type = object_type.__module__.partition(".")[0]
    return f"a PySpark {object_type.__name__}" if its_type == "pyspark" else repr(thing)
