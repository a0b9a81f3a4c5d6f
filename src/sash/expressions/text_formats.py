"""Texts: how Spark reads a date or a time from text, and how Java writes a double."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from zoneinfo import ZoneInfo

_DATE = re.compile(r"([+-]?\d{4,7})(?:-(\d{1,2})(?:-(\d{1,2})(?:[ T].*)?)?)?", re.DOTALL)
_STAMP = re.compile(
    r"(\d{4})(?:-(\d{1,2})(?:-(\d{1,2})(?:[ T](?:(\d{1,2})(?::(\d{1,2})(?::(\d{1,2})(?:\.(\d{0,9}))?)?)?\s*(.*))?)?)?)?"
)
_OFFSET = re.compile(r"(?:UTC|GMT|UT)?([+-])(\d{1,2})(?::?(\d{2}))?(?::?(\d{2}))?")


def parsed_date(text: str) -> date | None:
    """The date that Spark reads in a text, or None.

    >>> parsed_date("2020-1-2"), parsed_date("2020-13-01")
    (datetime.date(2020, 1, 2), None)
    """
    match = _DATE.fullmatch(text.strip())
    try:
        return date(int(match[1]), int(match[2] or 1), int(match[3] or 1)) if match else None
    except ValueError:
        return None


def parsed_timestamp(text: str) -> datetime | None:
    """The time that Spark reads in a text, with its zone if it has one, or None.

    >>> parsed_timestamp("2020-01-02 03:04:05.5"), parsed_timestamp("2020-01-02T03:04Z").tzinfo
    (datetime.datetime(2020, 1, 2, 3, 4, 5, 500000), datetime.timezone.utc)
    """
    match = _STAMP.fullmatch(text.strip())
    if not match:
        return None
    year, month, day, hour, minute, second, fraction, zone = match.groups()
    micro = int((fraction or "").ljust(6, "0")[:6])
    try:
        moment = datetime(int(year), int(month or 1), int(day or 1), int(hour or 0), int(minute or 0), int(second or 0))
        return moment.replace(microsecond=micro, tzinfo=_zone(zone) if zone else None)
    except (ValueError, OverflowError):
        return None


def java_double(value: float) -> str:
    """A double as Java writes it, which is what Spark's cast to string gives.

    >>> java_double(1.0), java_double(1e7), java_double(0.0001), java_double(123456.5)
    ('1.0', '1.0E7', '1.0E-4', '123456.5')
    """
    if value != value or value in (float("inf"), float("-inf")):
        return "NaN" if value != value else "Infinity" if value > 0 else "-Infinity"
    if value == 0 or 1e-3 <= abs(value) < 1e7:
        plain = format(Decimal(repr(value)), "f")
        return plain if "." in plain else f"{plain}.0"
    sign, digits, exponent = Decimal(repr(value)).as_tuple()
    shown = "".join(map(str, digits)).rstrip("0") or "0"
    power = int(exponent) + len(digits) - 1
    return f"{'-' if sign else ''}{shown[0]}.{shown[1:] or '0'}E{power}"


def _zone(text: str) -> timezone | ZoneInfo:
    if text in ("Z", "UTC", "GMT", "UT"):
        return UTC
    match = _OFFSET.fullmatch(text)
    if match:
        offset = timedelta(hours=int(match[2]), minutes=int(match[3] or 0), seconds=int(match[4] or 0))
        return timezone(-offset if match[1] == "-" else offset)
    try:
        return ZoneInfo(text)
    except (KeyError, OSError):
        raise ValueError(text) from None
