"""Intervals: spans of time as text or timedelta, held as months, days and microseconds.

The three parts stay apart, as in Spark, since a month has no fixed number of days, and a day none of hours.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal

from sash.errors import SashError

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
_PART = re.compile(r"\s*([+-]?)\s*(\d+(?:\.\d*)?|\.\d+)\s*([a-z]+)")
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

    @classmethod
    def parse(cls, text: str, argument: str = "an interval") -> Interval:
        """Read text such as "-5 minutes", "interval 1 day" or "2 hours 30 minutes"."""
        rest = re.sub(r"^\s*interval\b", "", text.lower().replace("'", " ")).strip()
        totals, at = [0, 0, 0], 0
        while at < len(rest) and (part := _PART.match(rest, at)):
            sign, number, word = part.groups()
            unit = _UNITS.get(word.removesuffix("s"))
            if unit is None or ("." in number and word.removesuffix("s") != "second"):
                break
            amount = Decimal(sign + number)
            for place, size in enumerate(unit):
                totals[place] += int(amount * size)
            at = part.end()
        if not rest or at < len(rest) or any(not -limit <= n < limit for n, limit in zip(totals, _LIMITS, strict=True)):
            raise SashError(
                f"{argument} takes whole numbers of {', '.join(_UNITS)}, such as '2 hours 30 minutes' "
                f"(seconds may have a fraction), got {text!r}"
            )
        return cls(*totals)

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
        return Interval(*(-part for part in self.parts))

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


def _split(amount: int, size: int) -> tuple[int, int]:
    """Whole units and what is left, both of the sign of the amount."""
    whole, rest = divmod(abs(amount), size)
    return (whole, rest) if amount >= 0 else (-whole, -rest)
