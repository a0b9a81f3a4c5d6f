"""Literals: the Python values that may stand in an expression, and how Spark SQL writes them."""

from __future__ import annotations

import math
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Any

from sash.errors import SashError
from sash.expressions.intervals import Months, microseconds

TYPES = (bool, int, float, str, datetime, date, timedelta, Decimal, Months, type(None))


def checked(value: Any) -> Any:
    """The value as one of the types a literal may have; a NumPy scalar is unpacked."""
    if type(value).__module__ == "numpy" and hasattr(value, "item") and getattr(value, "ndim", 1) == 0:
        value = value.item()
    if not isinstance(value, TYPES):
        raise SashError(
            "a literal is an int, float, bool, str, date, datetime, timedelta, Decimal or None, "
            f"got {value!r} of type {type(value).__name__}"
        )
    if isinstance(value, Decimal) and not value.is_finite():
        raise SashError(f"a decimal literal must be finite, got {value}")
    if isinstance(value, int) and not isinstance(value, bool) and not -(2**63) <= value < 2**63:
        return Decimal(value)  # as Spark reads an integer of more than 64 bits
    return value


def render(value: Any) -> str:
    r"""The value as a Spark SQL literal that means exactly this value and type.

    >>> print(render(1), render(1.0), render(Decimal("1.0")), render("it's"), render(date(2020, 1, 2)))
    1 1.0D 1.0 'it\'s' DATE '2020-01-02'
    """
    if value is None:
        return "NULL"
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return f"{value!r}D" if math.isfinite(value) else f"CAST('{_WORDS[str(value)]}' AS DOUBLE)"
    if isinstance(value, Decimal):
        digits = format(value, "f")
        return digits if "." in digits else f"{digits}BD"
    if isinstance(value, str):
        return "'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'"
    if isinstance(value, datetime):
        type_name = "TIMESTAMP_NTZ" if value.tzinfo is None else "TIMESTAMP"
        return f"{type_name} '{value.isoformat(sep=' ')}'"
    if isinstance(value, date):
        return f"DATE '{value.isoformat()}'"
    if isinstance(value, Months):
        return f"INTERVAL '{value.count}' MONTH"
    return _render_time(value)


def negative(value: Any) -> bool:
    """Whether the literal is written with a leading minus."""
    return render(value).startswith("-")


_WORDS = {"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}


def _render_time(span: timedelta) -> str:
    count = microseconds(span)
    seconds, fraction = divmod(abs(count), 1_000_000)
    minutes, hours, days = seconds // 60 % 60, seconds // 3600 % 24, seconds // 86_400
    text = f"{'-' if count < 0 else ''}{days} {hours:02}:{minutes:02}:{seconds % 60:02}"
    return f"INTERVAL '{text}.{fraction:06}' DAY TO SECOND" if fraction else f"INTERVAL '{text}' DAY TO SECOND"
