"""Arguments that are read without Spark: of functions and frames that stand alone, in a board or a pipeline."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from sash.errors import SashError
from sash.expressions.columns import Column
from sash.expressions.parsing import parse
from sash.sql.syntax import Called, Span, aggregate_at
from sash.sql.tokens import NUMBER, STRING, Source
from sash.windows.intervals import Interval


@dataclass(frozen=True)
class ParsedArguments:
    """Columns, constants and offsets as expressions of Sash; no query is around them."""

    source: Source

    def column(self, span: Span) -> Column:
        """The column that an expression is."""
        return parse(self.source.cut(*span))

    def is_number(self, span: Span) -> bool:
        """Whether an expression is a number as it stands."""
        return span[1] - span[0] == 1 and self.source.tokens[span[0]].kind == NUMBER

    def call(self, span: Span) -> Called | None:
        """The function call that a piece is, or None."""
        return aggregate_at(self.source, *span)

    def is_constant(self, span: Span) -> bool:
        """Whether an expression reads no column."""
        return not self.column(span).paths

    def every(self, spans: tuple[Span, ...]) -> Column:
        """A column that is NULL where one of several expressions is."""
        tests = " AND ".join(f"({self.source.cut(*each)}) IS NOT NULL" for each in spans)
        return parse(f"CASE WHEN {tests} THEN TRUE END")

    def constant(self, span: Span, what: str) -> Any:
        """The value of an expression that reads no column."""
        value = getattr(self.column(span), "value", None)
        if value is None:
            raise SashError(f"{what} must be a constant, got {self.source.shown(*span)}")
        return float(value) if isinstance(value, Decimal) else value

    def offset(self, span: Span, kind: str, what: str = "the offset of a frame") -> Any:
        """A constant that is a number, or of RANGE an interval, which may be written as text."""
        tokens = self.source.tokens[span[0] : span[1]]
        if self.is_number(span):
            return self.constant(span, what)
        return Interval.parse(" ".join(each.value if each.kind == STRING else each.text for each in tokens), what)

    def forward(self, span: Span, backward: bool) -> Column:
        """A column of offsets, each row's own; or its negative."""
        column = self.column(span)
        return -column if backward else column
