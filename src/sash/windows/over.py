"""A function over a window: an expression like any other, whose value is an answer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sash.algebra import Call
from sash.expressions.columns import Column, as_column
from sash.expressions.orders import as_order
from sash.expressions.parsing import as_predicate

_WORD = 7  # binds as tightly as a word


@dataclass(frozen=True, eq=False, repr=False)
class Over(Column):
    """A call over a window: what ``withColumns`` takes, alone or within an expression.

    >>> from sash import Window, col, functions as sf
    >>> (col("price") - sf.avg("price").over(Window.orderBy("ts"))).round(2)
    round(price - avg(price) over (order by ts), 2)
    """

    call: Call
    window: Any
    using: str | None = None
    min_samples: int | None = None

    @property
    def meaning(self) -> tuple[Any, ...]:
        """What makes two of them have the same answers; hashable."""
        call = self.call
        function = call.aggregate
        return (
            function if function.origin is None else function.origin,
            tuple(as_column(each).key for each in call.columns),
            None if call.condition is None else as_predicate(call.condition).key,
            call.unique,
            tuple(as_order(each).key for each in call.order),
            call.nulls,
            self.window.key,
            self.using,
            self.min_samples,
        )

    @property
    def follows_rows(self) -> bool:
        """Whether the answers depend on an order of the rows of a partition that the window does not say."""
        if self.window.order or self.window.others:
            return False
        function, frame = self.call.aggregate, self.window.frame
        if function.framed:
            return bool(frame.kind == "rows" and not (frame.start.is_unbounded and frame.end.is_unbounded))
        return bool(not self.call.order and function.by_row)

    def _sql(self) -> tuple[str, int]:
        return f"{self.call} over ({self.window!r})", _WORD
