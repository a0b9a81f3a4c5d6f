"""Arguments of window calls: columns of the inner query, and constants as Python has them."""

from __future__ import annotations

import re
from datetime import timedelta
from decimal import Decimal
from typing import Any

from sash.errors import SashError
from sash.expressions.columns import Column, Literal, Name, Operation
from sash.expressions.intervals import Months
from sash.expressions.parsing import parse
from sash.sql import atoms
from sash.sql.around import Session
from sash.sql.inner import RANDOM, Inner
from sash.sql.syntax import Called, Span, aggregate_at
from sash.sql.tokens import NUMBER, PARAMETER, STRING, Source
from sash.sql.vocabulary import known
from sash.windows.intervals import Interval

NOW = frozenset("CURRENT_DATE CURRENT_TIMESTAMP CURRENT_TIME LOCALTIMESTAMP CURRENT_USER USER SESSION_USER".split())
_WHOLE, _EXACT = re.compile(r"\d+"), re.compile(r"\d+\.\d*|\.\d+")
REFUSED = "the offset of a frame must be 0 or more, and not NULL"


class Reading:
    """What turns pieces of the query into columns, constants and offsets."""

    def __init__(self, source: Source, session: Session, inner: Inner) -> None:
        self.source, self.session, self.inner = source, session, inner

    def column(self, span: Span) -> Column:
        """The column that an expression is."""
        token = self.source.tokens[span[0]]
        if span[1] - span[0] == 1 and token.kind == STRING and token.text[0] == '"':
            name = token.value.replace("`", "``")
            raise SashError(f"{token.text} is a text in Spark, not a column; write `{name}`")
        return Name((self.inner.column(*span),))

    def every(self, spans: tuple[Span, ...]) -> Column:
        """A column that is NULL where one of several expressions is."""
        tests = " AND ".join(f"({self.text(each)}) IS NOT NULL" for each in spans)
        words = ", ".join(self.source.shown(*each) for each in spans)
        return Name((self.inner.derived(f"CASE WHEN {tests} THEN TRUE END", words),))

    def is_number(self, span: Span) -> bool:
        """Whether an expression is a number as it stands."""
        return span[1] - span[0] == 1 and self.source.tokens[span[0]].kind == NUMBER

    def call(self, span: Span) -> Called | None:
        """The function call, without a window, that an expression is, or None."""
        return aggregate_at(self.source, *span)

    def is_constant(self, span: Span) -> bool:
        """Whether an expression reads no column."""
        return all(self._fixed(each.span) for each in atoms.atoms(self.source, *span))

    def constant(self, span: Span, what: str) -> Any:
        """The value of an expression that reads no column."""
        if not self.is_constant(span):
            raise SashError(f"{what} must be a constant, got {self.source.shown(*span)}")
        lo, hi = span
        token, sign = self.source.tokens[lo], 1
        if token.word == "[":
            return [self.constant(each, what) for each in self.source.parts(lo + 1, self.source.closing[lo])]
        if token.word in ("-", "+") and hi - lo == 2:
            token, sign = self.source.tokens[lo + 1], -1 if token.word == "-" else 1
        if token.kind == NUMBER and hi - lo == 1 + (token is not self.source.tokens[lo]):
            if _WHOLE.fullmatch(token.text):
                return sign * int(token.text)
            if _EXACT.fullmatch(token.text):
                return sign * Decimal(token.text)
        if hi - lo == 1 and token.kind == STRING:
            return token.value
        if hi - lo == 1 and token.word in ("TRUE", "FALSE", "NULL"):
            return {"TRUE": True, "FALSE": False, "NULL": None}[token.word]
        return self.session.value(self.text(span))

    def offset(self, span: Span, kind: str, what: str = "the offset of a frame") -> Any:
        """A constant that is a number, or of RANGE an interval, which may be written as text."""
        lo, hi = span
        source = self.source
        if kind != "range":
            value = self.constant(span, "the offset")
            if isinstance(value, bool) or not isinstance(value, int):
                raise SashError(f"the offset of {kind.upper()} must be a whole number, got {value!r}")
            return value
        words = [source.word(place) for place in range(lo, hi)]
        token_kinds = [token.kind for token in source.tokens[lo:hi]]
        if token_kinds == [STRING] or (token_kinds[0] == STRING and words[1:] == ["::", "INTERVAL"]):
            return Interval.parse(source.tokens[lo].value, what)
        if words[0] == "INTERVAL" and PARAMETER not in token_kinds:
            return _interval(source, lo + 1, hi)
        value = self.constant(span, what)
        if isinstance(value, int | Decimal | float) and not isinstance(value, bool):
            return value
        text = self.session.value(f"CAST(({self.text(span)}) AS STRING)")
        if value is None or text is None or not str(text).upper().startswith("INTERVAL"):
            raise SashError(f"{what} must be a number or an interval, got {source.shown(lo, hi)}")
        return _as_interval(parse(str(text)))

    def forward(self, span: Span, backward: bool) -> Column:
        """A column of offsets, each row's own, that refuses NULLs and what is below zero; or its negative."""
        text = self.text(span)
        way = "-" if backward else ""
        checked = f"IF(({text}) IS NULL OR SIGNUM(({text})) < 0, RAISE_ERROR('{REFUSED}'), {way}({text}))"
        return Name((self.inner.derived(checked, f"{way}{self.source.shown(*span)}"),))

    def text(self, span: Span) -> str:
        """A piece of the query, its own queries rewritten."""
        return self.inner.query.left_to_spark(*span, self.inner.scope)

    def _fixed(self, span: Span) -> bool:
        """Whether a part of an expression is the same for all rows."""
        lo, hi = span
        source = self.source
        if hi - lo == 1:
            return source.word(lo) in NOW
        opened = source.find(lo, hi, "(")
        if opened < hi and (known(source.tokens[opened - 1].name) or source.word(opened - 1) in RANDOM):
            return False
        if source.word(lo) == "(" or source.word(lo) == "EXISTS" or opened >= hi or source.closing[opened] != hi - 1:
            return False
        return all(self._fixed(each.span) for each in atoms.atoms(source, opened + 1, hi - 1))


def _interval(source: Source, lo: int, hi: int) -> Interval:
    """What follows INTERVAL: '1 day', '1' day, 1 day 2 hours or '1-2' year to month."""
    words = []
    for token in source.tokens[lo:hi]:
        words.append(token.value if token.kind == STRING else token.text)
    text = " ".join(words)
    if re.search(r"\bto\b", text, re.IGNORECASE):
        return _as_interval(parse(source.cut(lo - 1, hi)))
    return Interval.parse(text, "INTERVAL")


def _as_interval(value: Any) -> Interval:
    """An interval that the expressions know, as windows have it."""
    if isinstance(value, Operation):
        months, time = (_as_interval(each) for each in value.operands)
        return Interval(months.months, time.days, time.microseconds)
    plain = value.value if isinstance(value, Literal) else None
    if isinstance(plain, Months):
        return Interval(months=plain.count)
    if isinstance(plain, timedelta):
        return Interval.of(plain)
    raise SashError(f"an interval such as '5 minutes' is needed, got {value}")
