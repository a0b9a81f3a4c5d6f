"""Intervals: spans of time as text or timedelta, held as months, days and microseconds.

The three parts stay apart, as in Spark, since a month has no fixed number of days, and a day none of hours.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from datetime import timedelta
from decimal import Decimal

from sash.errors import SashError
from sash.expressions.intervals import clock

DAY = 86_400_000_000  # microseconds
_SECOND = 1_000_000
_UNITS = {  # months, days and microseconds in one
    "year": (12, 0, 0),
    "quarter": (3, 0, 0),
    "month": (1, 0, 0),
    "week": (0, 7, 0),
    "day": (0, 1, 0),
    "hour": (0, 0, 3600 * _SECOND),
    "minute": (0, 0, 60 * _SECOND),
    "second": (0, 0, _SECOND),
    "millisecond": (0, 0, 1000),
    "microsecond": (0, 0, 1),
}
_SHORT = {  # as polars, Go, Flink and many others write them
    **dict.fromkeys(("y", "yr"), "year"),
    "q": "quarter",
    **dict.fromkeys(("mo", "mon"), "month"),
    **dict.fromkeys(("w", "wk"), "week"),
    "d": "day",
    **dict.fromkeys(("h", "hr"), "hour"),
    **dict.fromkeys(("m", "min"), "minute"),
    **dict.fromkeys(("s", "sec"), "second"),
    **dict.fromkeys(("ms", "msec", "milli"), "millisecond"),
    **dict.fromkeys(("us", "µs", "usec", "micro"), "microsecond"),
}
_PART = re.compile(r"\s*([+-]?)\s*(\d+(?:\.\d*)?|\.\d+)\s*([a-zµ]+)")
_CLOCK = re.compile(r"\s*interval\s*'([^']*)'\s*(\w+)\s+to\s+(\w+)\s*", re.IGNORECASE)
_MONTHS_OR_MINUTES = re.compile(r"\d\s*M(?![a-zA-Z])")
_LIMITS = (2**31, 2**31, 2**63)  # as in Spark


@dataclass(frozen=True)
class Interval:
    """A span of time; each part has its own sign.

    >>> Interval.parse("-1 month 3 days")
    Interval(months=-1, days=3, microseconds=0)
    >>> print(Interval.parse("150 minutes"))
    2 hours 30 minutes
    """

    months: int = 0
    days: int = 0
    microseconds: int = 0
    zone: str | None = field(default=None, repr=False)  # whose clocks say how long days and months are

    @classmethod
    def parse(cls, text: str, argument: str = "an interval") -> Interval:
        """Read text such as "-5 minutes", "2h30m", "interval '5' minute" or "2 hours 30 minutes".

        >>> Interval.parse("5m") == Interval.parse("5 mins") == Interval.parse("INTERVAL '5' MINUTE")
        True
        >>> print(Interval.parse("INTERVAL '1 02:30' DAY TO MINUTE"))
        1 day 2 hours 30 minutes
        """
        if matched := _CLOCK.fullmatch(text):
            months, span = clock(matched[1], matched[2].lower(), matched[3].lower())
            return replace(cls.of(span), months=months.count)
        if _MONTHS_OR_MINUTES.search(text):
            raise SashError(
                f"{argument} takes '1mo' for a month and '1m' for a minute, got {text!r}, which may be either"
            )
        rest = re.sub(r"^\s*interval\b", "", text.lower().replace("'", " ")).strip()
        totals, at = [0, 0, 0], 0
        while at < len(rest) and (part := _PART.match(rest, at)):
            sign, number, word = part.groups()
            name = _unit(word)
            if name is None or ("." in number and name != "second"):
                break
            unit, amount = _UNITS[name], Decimal(sign + number)
            for place, size in enumerate(unit):
                totals[place] += int(amount * size)
            at = part.end()
        if not rest or at < len(rest) or any(not -limit <= n < limit for n, limit in zip(totals, _LIMITS, strict=True)):
            raise SashError(
                f"{argument} takes whole numbers of {', '.join(_UNITS)}, such as '2 hours 30 minutes' "
                f"or '2h30m' (seconds may have a fraction), got {text!r}"
            )
        return cls(totals[0], totals[1], totals[2])

    @classmethod
    def of(cls, span: timedelta) -> Interval:
        """A timedelta as whole days and the microseconds left, both of its sign."""
        days, rest = divmod(abs(span) // timedelta(microseconds=1), DAY)
        return cls(0, days, rest) if span >= timedelta(0) else cls(0, -days, -rest)

    @property
    def parts(self) -> tuple[int, int, int]:
        """Months, days and microseconds."""
        return self.months, self.days, self.microseconds

    def __neg__(self) -> Interval:
        return Interval(-self.months, -self.days, -self.microseconds, self.zone)

    def __bool__(self) -> bool:
        return any(self.parts)

    def surely_after(self, other: Interval) -> bool:
        """Whether it is longer than another, however long months and days are."""
        return self != other and all(mine >= others for mine, others in zip(self.parts, other.parts, strict=True))

    @property
    def backward(self) -> bool:
        """Whether no part of it points forward."""
        return all(part <= 0 for part in self.parts)

    def __str__(self) -> str:
        years, months = _split(self.months, 12)
        hours, rest = _split(self.microseconds, 3600 * _SECOND)
        minutes, rest = _split(rest, 60 * _SECOND)
        amounts: list[tuple[str, int | Decimal]] = [("year", years), ("month", months), ("day", self.days)]
        amounts += [("hour", hours), ("minute", minutes), ("second", Decimal(rest) / _SECOND)]
        words = [f"{amount} {unit}{'s' * (abs(amount) != 1)}" for unit, amount in amounts if amount]
        return " ".join(words) or "0 seconds"


def _unit(word: str) -> str | None:
    """The unit that a word stands for: its name, its short form, or one of these in plural."""
    if word in _SHORT:
        return _SHORT[word]
    one = word.removesuffix("s")
    return one if one in _UNITS else _SHORT.get(one) if len(one) > 1 else None


def _split(amount: int, size: int) -> tuple[int, int]:
    """Whole units and what is left, both of the sign of the amount."""
    whole, rest = divmod(abs(amount), size)
    return (whole, rest) if amount >= 0 else (-whole, -rest)
