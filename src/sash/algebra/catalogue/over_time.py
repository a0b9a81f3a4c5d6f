"""Averages that look at when rows were: exponentially weighted ones, and those of points by how long each holds."""

from __future__ import annotations

from typing import Any

from sash.algebra.aggregate import Aggregate
from sash.algebra.catalogue.declaring import COL, CONSTANT, DISTANCE, OPTIONAL, Function, Parameter
from sash.algebra.window_function import Interpolation
from sash.errors import SashError

DAY = 86_400_000_000  # microseconds
PER_UNIT = {"s": 1_000_000, "ms": 1000, "us": 1, "ns": 1 / 1000}  # microseconds in one
PREVIOUS, LINEAR = "previous", "linear"


def ewm_avg(half_life: Any, by: bool = False) -> Aggregate:
    """The exponentially weighted average: by rows, or by time where that is an interval or a column says the time."""
    if half_life is None:
        raise SashError("half_life must be a number of rows or an interval such as '5 minutes', got a column")
    length = _microseconds(half_life)
    if length is None and not by:
        return _by_rows(float(half_life))
    return _by_time(length if length is not None else float(half_life)).but(
        for_type=lambda dtype: _for_times(half_life, length, dtype)
    )


def _by_rows(half_life: float) -> Aggregate:
    """A partial is a weighted sum, the weights, and what is left of older weights after so many rows."""
    step = 0.5 ** (1.0 / half_life)
    return Aggregate(
        "ewm_avg",
        lift=lambda x: (x, 1.0, step),
        combine=lambda a, b: (a[0] * b[2] + b[0], a[1] * b[2] + b[1], a[2] * b[2]),
        lower=lambda s: s[0] / s[1],
        identity=(0.0, 0.0, 1.0),
        cast="float64",
    )


def _by_time(half_life: float) -> Aggregate:
    """A partial is a weighted sum, the weights, and the newest time, at which a weight is 1."""

    def combine(a: Any, b: Any) -> Any:
        if b[2] >= a[2]:
            left = 0.5 ** ((b[2] - a[2]) / half_life)
            return (a[0] * left + b[0], a[1] * left + b[1], b[2])
        left = 0.5 ** ((a[2] - b[2]) / half_life)
        return (b[0] * left + a[0], b[1] * left + a[1], a[2])

    return Aggregate(
        "ewm_avg",
        lift=lambda x, time: (x * 1.0, 1.0, time),
        combine=combine,
        lower=lambda s: s[0] / s[1],
        commutative=True,
        takes="times",
    )


def _for_times(half_life: Any, length: float | None, dtype: Any) -> Aggregate | None:
    """The half-life in the unit that times of a type count; None where these are numbers, as the half-life is."""
    unit = _unit(dtype)
    if (unit is None) != (length is None):
        takes = "a number, as the times are" if unit is None else "an interval such as '5 minutes'"
        raise SashError(f"half_life must be {takes}, by a column of {dtype}, got {half_life}")
    return None if unit is None or length is None else _by_time(length / unit)


def _microseconds(length: Any) -> float | None:
    """How long an interval is; None for a number."""
    parts = getattr(length, "parts", None)
    if parts is None:
        return None
    months, days, rest = parts
    if months:
        raise SashError(f"half_life must have a fixed length, got {length}; say it in days")
    return float(days * DAY + rest)


def _unit(dtype: Any) -> float | None:
    """How many microseconds one is in times of an Arrow type; None for other types."""
    import pyarrow as pa

    if pa.types.is_date(dtype):
        return DAY if pa.types.is_date32(dtype) else PER_UNIT["ms"]
    is_time = pa.types.is_timestamp(dtype) or pa.types.is_duration(dtype) or pa.types.is_time(dtype)
    return PER_UNIT[dtype.unit] if is_time else None


def time_weighted_avg(method: Any = PREVIOUS, by: bool = False) -> Aggregate:
    """The average over time of what points say; a partial is an area, its first and its last point."""
    if method not in (PREVIOUS, LINEAR):
        raise SashError(f'method must be "{PREVIOUS}" or "{LINEAR}", got {method!r}')
    return Aggregate(
        "time_weighted_avg",
        lift=lambda x, time: (0.0, (time, x * 1.0), (time, x * 1.0)),
        combine=_join_steps if method == PREVIOUS else _join_lines,
        lower=_mean_height,
        takes="times",
    )


def _join_steps(a: Any, b: Any) -> Any:
    """Two areas, and between them the value of the point that is earlier."""
    gap = (b[1][0] - a[2][0]) * 1.0
    height = a[2][1] if gap >= 0 else b[1][1]
    return (a[0] + b[0] + height * gap, a[1], b[2])


def _join_lines(a: Any, b: Any) -> Any:
    """Two areas, and between them a straight line."""
    gap = (b[1][0] - a[2][0]) * 1.0
    return (a[0] + b[0] + (a[2][1] + b[1][1]) / 2 * gap, a[1], b[2])


def _mean_height(s: Any) -> Any:
    """The area over the time; where no time passes, the last value."""
    length = (s[2][0] - s[1][0]) * 1.0
    return s[2][1] if length == 0 else s[0] / length


def interpolate(by: bool = False) -> Interpolation:
    """The value on the line between known ones."""
    return Interpolation("interpolate")


_BY = Parameter("by", OPTIONAL, None, "Column | None", "the time")

FUNCTIONS = (
    Function(
        "ewm_avg",
        ewm_avg,
        (COL, Parameter("half_life", DISTANCE, type="Any", words="the half-life", example=2), _BY),
        "The exponentially weighted average: a row weighs half as much as one that is ``half_life`` newer.\n\n"
        "``half_life`` is a number of rows that count, or an interval such as ``5 minutes`` by time. Time is the\n"
        "first key of the window's order, on streams their ``time``, or ``by``; with ``by`` it may be a number, too.",
        ("ewm_avg(price, 2)", "ewm_avg(price, 1.5, n)"),
        "Averages over time",
        stands_for={"ewm_mean": "", "ewm": ""},
    ),
    Function(
        "time_weighted_avg",
        time_weighted_avg,
        (COL, Parameter("method", CONSTANT, PREVIOUS, "str", "the method"), _BY),
        "The average over the time from the first row to the last: each value counts for as long as it holds.\n\n"
        'With ``method="previous"`` a value holds until the next row; with ``"linear"`` values go from row to row in\n'
        "a straight line. Time is the first key of the window's order, on streams their ``time``, or ``by``.",
        ("time_weighted_avg(price)", "time_weighted_avg(price, 'linear')"),
        "Averages over time",
    ),
    Function(
        "interpolate",
        interpolate,
        (COL, _BY),
        "The value, or where it is NULL that of the straight line from the last known row to the next.\n\n"
        "NULL before the first known row and after the last one. All rows of the partition are looked at, whatever\n"
        "the frame, as by ``lead`` and ``lag``. The line is over the first key of the window's order, or over ``by``.",
        ("interpolate(qty)",),
        "Averages over time",
    ),
)
