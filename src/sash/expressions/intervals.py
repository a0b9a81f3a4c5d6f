"""Intervals: spans of time as text, and as values that can be added to a date."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import timedelta
from fractions import Fraction

from sash.errors import SashError

MICROSECONDS = {
    "microsecond": 1,
    "millisecond": 1_000,
    "second": 1_000_000,
    "minute": 60_000_000,
    "hour": 3_600_000_000,
    "day": 86_400_000_000,
    "week": 7 * 86_400_000_000,
}
MONTHS = {"month": 1, "quarter": 3, "year": 12}
LONGEST = 1000  # letters of an interval

_PIECE = re.compile(r"\s*([+-]?\s*(?:\d+\.?\d*|\.\d+))\s*([a-zA-Z]+)\s*,?")
_CLOCK = re.compile(r"([+-]?)(?:(\d+) )?(?:(\d+):)?(\d+)(?::(\d+(?:\.\d*)?))?")


@dataclass(frozen=True)
class Months:
    """A number of calendar months: a year is twelve of them."""

    count: int


def interval(text: str) -> tuple[Months, timedelta]:
    """The months and the time of an interval such as ``5 minutes`` or ``1 month 2 days``.

    >>> interval("1 hour 30 minutes")
    (Months(count=0), datetime.timedelta(seconds=5400))
    >>> interval("2 years -1 day")
    (Months(count=24), datetime.timedelta(days=-1))
    """
    _check_length(text)
    body = re.sub(r"^\s*interval\b\s*", "", text, flags=re.IGNORECASE).replace("'", "")
    months, microseconds, at = Fraction(0), Fraction(0), 0
    while match := _PIECE.match(body, at):
        amount, unit = Fraction("".join(match[1].split())), match[2].lower()
        unit = unit if unit in MONTHS or unit in MICROSECONDS else unit.removesuffix("s")
        if unit in MONTHS:
            months += amount * MONTHS[unit]
        elif unit in MICROSECONDS:
            microseconds += amount * MICROSECONDS[unit]
        else:
            raise SashError(f"an interval knows years to microseconds, got {match[2]!r} in {text!r}")
        at = match.end()
    if at == 0 or body[at:].strip():
        raise SashError(f"an interval is text such as '5 minutes', got {text!r}")
    if months.denominator != 1:
        raise SashError(f"an interval has whole months, got {text!r}")
    return Months(int(months)), _time(int(microseconds), text)


def clock(text: str, start: str, end: str) -> tuple[Months, timedelta]:
    """The months and the time of SQL's other form: ``1 02:03:04`` as days to seconds, ``1-2`` as years to months.

    >>> clock("1 02:03", "day", "minute")
    (Months(count=0), datetime.timedelta(days=1, seconds=7380))
    """
    _check_length(text)
    text = text.strip()
    if (start, end) == ("year", "month"):
        match = re.fullmatch(r"([+-]?)(\d+)-(\d+)", text)
        if match and int(match[3]) < 12:
            sign = -1 if match[1] == "-" else 1
            return Months(sign * (12 * int(match[2]) + int(match[3]))), timedelta()
    units = ["day", "hour", "minute", "second"]
    if start in units and end in units[units.index(start) + 1 :] and _CLOCK.fullmatch(text):
        sign = -1 if text[0] == "-" else 1
        parts = re.split(r"[ :]", text.lstrip("+-"))
        fields = units[units.index(start) : units.index(end) + 1]
        if len(parts) == len(fields):
            total = sum(Fraction(part) * MICROSECONDS[unit] for part, unit in zip(parts, fields, strict=True))
            return Months(0), _time(sign * int(total), text)
    raise SashError(f"an interval of {start} to {end} cannot be read from {text!r}")


def microseconds(span: timedelta) -> int:
    """How many microseconds a span of time has, exactly."""
    return (span.days * 86_400 + span.seconds) * 1_000_000 + span.microseconds


def _check_length(text: str) -> None:
    if len(text) > LONGEST:
        raise SashError(f"an interval has at most {LONGEST} letters, got {len(text)}: {text[:40]!r}...")


def _time(count: int, text: str) -> timedelta:
    try:
        return timedelta(microseconds=count)
    except OverflowError:
        raise SashError(f"the interval {text!r} is too long") from None
