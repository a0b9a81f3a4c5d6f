"""Times for people: as the clocks of New York show them."""

from __future__ import annotations

from typing import Any

HOME = "America/New_York"


def local(times: Any) -> Any:
    """A column of moments in UTC as the clocks showed them; Parquet files may have lost the zone."""
    zoned = times if times.dt.tz is not None else times.dt.tz_localize("UTC")
    return zoned.dt.tz_convert(HOME).dt.tz_localize(None)


def day(time: Any) -> str:
    """A day of the year.

    >>> from datetime import datetime
    >>> day(datetime(2013, 3, 8, 17, 5)), minute(datetime(2013, 3, 8, 17, 5))
    ('Mar 8', 'Mar 8, 17:05')
    """
    return f"{time:%b} {time.day}"


def minute(time: Any) -> str:
    """A day of the year and the time."""
    return f"{day(time)}, {time:%H:%M}"
