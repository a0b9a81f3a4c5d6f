"""Event times as whole numbers of ticks since 1970."""

from __future__ import annotations

import time
from datetime import UTC, date, datetime
from typing import Any

import numpy as np
import pyarrow as pa

from sash.engine.tables import one_array
from sash.errors import SashError


def ticks_of(column: Any, dtype: pa.DataType) -> tuple[np.ndarray, np.ndarray | None]:
    """The ticks of each time, and which are known; None where all are."""
    array = one_array(column)
    try:
        array = array.cast(dtype) if array.type != dtype else array
    except pa.ArrowInvalid as error:
        raise SashError(f"time must be within reach of {dtype}, got a time that is not: {error}") from None
    known = array.is_valid().to_numpy(zero_copy_only=False) if array.null_count else None
    whole = array.view(pa.int64())
    return (whole.fill_null(0) if array.null_count else whole).to_numpy(), known


def as_ticks(moment: Any, dtype: pa.DataType, name: str = "watermark") -> int:
    """A moment given as a datetime, a date, text, an Arrow scalar, or ticks, in ticks of a type."""
    if isinstance(moment, (int, np.integer)) and not isinstance(moment, bool):
        if not -(2**63) <= moment < 2**63:
            raise SashError(f"{name} must be a time, or ticks of {dtype} in 64 bits, got {moment}")
        return int(moment)
    if isinstance(moment, pa.Scalar):
        moment = moment.as_py()
    if isinstance(moment, str):
        try:
            moment = datetime.fromisoformat(moment)
        except ValueError:
            raise SashError(f"{name} must be a time such as '2026-11-16 08:00:00', got {moment!r}") from None
    if not isinstance(moment, date):
        raise SashError(f"{name} must be a datetime, got {moment!r}")
    if not isinstance(moment, datetime):
        moment = datetime(moment.year, moment.month, moment.day, tzinfo=None if dtype.tz is None else UTC)
    if (moment.tzinfo is None) != (dtype.tz is None):
        has = "has none" if dtype.tz is None else f"has {dtype.tz}"
        raise SashError(f"{name} must have a time zone where the time column has one, got {moment}; the column {has}")
    return int(pa.scalar(moment, dtype).value)


def now(dtype: pa.DataType) -> int:
    """What the clock of this machine shows, in ticks of a type."""
    return time.time_ns() // (1 if dtype.unit == "ns" else 1000)
