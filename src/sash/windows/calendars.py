"""Dates and times shifted on the calendar, whole columns at once, as Spark does it.

Months first, cut at the last day of the month (a month before 31 March is the end of February), then days,
then microseconds. In a time zone, months and days keep the clock's time: a day may last 23 or 25 hours.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sash.errors import SashError
from sash.windows.intervals import DAY

LEAST, MOST = -(2**63), 2**63 - 1
PER_DAY = {"s": DAY // 10**6, "ms": DAY // 1000, "us": DAY, "ns": DAY * 1000}
_UTC = {"UTC", "Etc/UTC", "GMT", "Etc/GMT", "Z", "Zulu", "Etc/Zulu", "UCT", "Etc/UCT"}
_MANY = 10_000  # times for which a table of a zone's changes pays
Amount = Any  # a whole number, or an array of them


def saturated_sum(left: np.ndarray, right: Amount) -> np.ndarray:
    """The sums of 64-bit numbers; one that would overflow stays at the edge.

    >>> saturated_sum(np.array([2**63 - 2, 5]), 3).tolist() == [2**63 - 1, 8]
    True
    """
    right = np.asarray(right, np.int64)
    with np.errstate(over="ignore"):
        total = left + right
    over = ((left ^ total) & (right ^ total)) < 0
    return np.where(over, np.where(left < 0, LEAST, MOST), total) if over.any() else total


def shifted_dates(days: np.ndarray, months: Amount = 0, more_days: Amount = 0) -> np.ndarray:
    """Days since 1970, shifted by months and then by days.

    >>> march = np.array(["2024-03-31", "2023-03-31"], "M8[D]").astype(np.int64)
    >>> shifted_dates(march, -1).astype("M8[D]").astype(str).tolist()
    ['2024-02-29', '2023-02-28']
    """
    days = np.asarray(days, np.int64)
    if np.any(months):
        days = _shifted_by_months(days, months)
    return saturated_sum(days, more_days) if np.any(more_days) else days


def _shifted_by_months(days: np.ndarray, months: Amount) -> np.ndarray:
    if np.ndim(months) == 0 and len(days):
        first, last = int(days.min()), int(days.max())
        if last - first < len(days) // 2:  # each day once, and looked up then
            return _shifted_by_months(np.arange(first, last + 1), np.array([months]))[days - first]
    dates = days.astype("M8[D]")
    month = dates.astype("M8[M]")
    then = month + np.asarray(months, np.int64)
    first_day = then.astype("M8[D]").astype(np.int64)
    last_day = (then + 1).astype("M8[D]").astype(np.int64) - 1
    return np.minimum(first_day + (dates - month.astype("M8[D]")).astype(np.int64), last_day)


def shifted_times(
    times: np.ndarray, unit: str, zone: str | None, months: Amount = 0, days: Amount = 0, ticks: Amount = 0
) -> np.ndarray:
    """Timestamps in units since 1970, shifted by months, then days, then by ticks of their own unit."""
    if np.any(months):
        times = _moved(times, unit, None if zone in _UTC else zone, months=months)
    if np.any(days):
        times = _moved(times, unit, None if has_fixed_days(zone) else zone, more_days=days)
    return saturated_sum(times, ticks)


def has_fixed_days(zone: str | None) -> bool:
    """Whether every day of a time zone surely lasts 24 hours, which holds for an offset such as +05:30 too."""
    return not zone or zone in _UTC or zone[0] in "+-"


def _moved(times: np.ndarray, unit: str, zone: str | None, **amounts: Amount) -> np.ndarray:
    """Times moved on the clocks of a zone to times that exist there; one out of reach stays at the edge."""
    per_day = PER_DAY[unit]
    day, rest = np.divmod(times, per_day)
    if not zone:
        return _time(shifted_dates(day, **amounts), rest, per_day)
    ahead = _ahead(times, unit, zone)
    rest += ahead  # what clocks show may be past the edge, so days and the time of day are kept apart
    turn = (rest >= per_day).astype(np.int64) - (rest < 0)
    day += turn
    turn *= per_day
    rest -= turn
    day = shifted_dates(day, **amounts)
    del turn
    moved = _time(day, rest - ahead, per_day)  # as java.time does: keep the offset where it still holds
    off = np.flatnonzero(_ahead(moved, unit, zone) != ahead)
    if len(off):  # else take the one before the clocks change
        day, rest = day[off], rest[off]
        first, last = (_ahead(_time(saturated_sum(day, by), rest, per_day), unit, zone) for by in (-1, 1))
        before, after = _time(day, rest - first, per_day), _time(day, rest - last, per_day)
        use_after = (_ahead(before, unit, zone) != first) & (_ahead(after, unit, zone) == last)
        moved[off] = np.where(use_after, after, before)
    return moved


def _time(day: np.ndarray, rest: np.ndarray, per_day: int) -> np.ndarray:
    """The time that is ``rest``, less than two days either way, after a day's start, or the edge it is past."""
    edge = MOST // per_day
    start = np.clip(day, -edge - 4, edge + 4)
    more = np.sign(start)  # counted from days nearer to 1970, the last ones do not overflow
    more *= 4
    start -= more
    start *= per_day  # in place, as these are large
    more *= per_day
    more += rest
    return saturated_sum(start, more)


def check_zone(zone: str) -> None:
    """Refuse what is no time zone."""
    _arrow_ahead(np.zeros(1, np.int64), "us", zone)


def _ahead(times: np.ndarray, unit: str, zone: str) -> np.ndarray:
    """How far clocks in a zone are ahead of UTC at these times."""
    if len(times) > _MANY:
        first, last = int(times.min()), int(times.max())
        if (last - first) // PER_DAY[unit] < len(times) // 4:
            changes, ahead = _changes(first, last, unit, zone)
            return ahead[np.searchsorted(changes, times, "right")]
    return _arrow_ahead(times, unit, zone)


def _changes(first: int, last: int, unit: str, zone: str) -> tuple[np.ndarray, np.ndarray]:
    """When a zone's clocks change between two times, and how far they are ahead of UTC before, between and after."""
    days = np.append(np.arange(first, last, PER_DAY[unit]), last)
    offsets = _arrow_ahead(days, unit, zone)
    before = np.flatnonzero(offsets[1:] != offsets[:-1])
    least, most = days[before], days[before + 1]
    for _ in range(PER_DAY[unit].bit_length() if len(before) else 0):  # clocks change at most once a day
        middle = least + (most - least) // 2
        changed = _arrow_ahead(middle, unit, zone) != offsets[before]
        least, most = np.where(changed, least, middle), np.where(changed, middle, most)
    return most, np.append(offsets[before], offsets[-1])


def _arrow_ahead(times: np.ndarray, unit: str, zone: str) -> np.ndarray:
    import pyarrow as pa
    import pyarrow.compute as pc

    column = pa.array(times).view(pa.timestamp(unit, zone))
    try:
        clock = pc.local_timestamp(column)
    except pa.ArrowInvalid as error:
        raise SashError(
            "the time zone of timestamps must be a name in the time zone database such as 'Europe/Berlin', "
            f"or an offset such as '+05:30', got {zone!r}"
        ) from error
    return clock.view(pa.int64()).to_numpy() - times  # clocks past the edge wrap around, and back here
