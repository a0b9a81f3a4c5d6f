"""Values at the ends of their types, and texts that are odd or long, as a table and as the oracle sees them."""

import datetime as dt
import math
from decimal import Decimal

import pyarrow as pa

NAN, INF, LARGEST = float("nan"), float("inf"), 1.7976931348623157e308
LONG = 2**63 - 1
NINES, LEAST = Decimal(10**38 - 1), Decimal(1 - 10**38)  # a minus sign would round them
X = "x" * (1 << 20)
EPOCH = dt.datetime(1970, 1, 1)
VALUES = {
    "double": ([INF, -INF, NAN, -0.0, 0.0, LARGEST, -LARGEST, 5e-324, None, -NAN, 1.0, INF], pa.float64()),
    "long": ([LONG, -LONG - 1, 0, -1, 1, LONG, None, -LONG - 1, LONG - 1, -LONG, None, 0], pa.int64()),
    "int": ([2**31 - 1, -(2**31), 0, -1, 1, 2**31 - 1, None, -(2**31), 5, -5, None, 0], pa.int32()),
    "date": (
        [dt.date.min, dt.date.max, None, dt.date(1970, 1, 1), dt.date(1969, 12, 31), dt.date(9999, 12, 30),
         dt.date(1, 1, 2), dt.date.max, dt.date(1582, 10, 10), dt.date(2000, 2, 29), None, dt.date.min],
        pa.date32(),
    ),
    "time": (
        [dt.datetime.min, dt.datetime.max, None, EPOCH, EPOCH - dt.timedelta(microseconds=1), dt.datetime(9999, 12, 31),
         dt.datetime(1, 1, 1, 0, 0, 1), dt.datetime.max, dt.datetime(1582, 10, 10), dt.datetime(1900, 2, 28), None,
         dt.datetime.min],
        pa.timestamp("us"),
    ),
    "decimal": (
        [NINES, LEAST, Decimal(0), None, Decimal(1), Decimal(-1), NINES, Decimal(10**38 - 2), None, LEAST, Decimal(7),
         NINES],
        pa.decimal128(38, 0),
    ),
    "small": (
        [None if each is None else Decimal(f"{each}e-38")
         for each in (NINES, LEAST, 0, None, 1, -1, NINES, None, 2, 1, None, 0)],
        pa.decimal128(38, 38),
    ),
    "text": (
        ["", "\0", "a\0b", "a", X, X + "y", "\ue000", "🦆", "e\u0301", None, "\uffff\U0010ffff", ""],
        pa.string(),
    ),
    "bytes": (
        [b"", b"\0", b"\0\0", b"\xff\xfe", X.encode(), None, b"\xed\xa0\x80", b"a", b"\xff", b"a", b"", b"\0"],
        pa.binary(),
    ),
}  # fmt: skip
ROWS = 12
TABLE = pa.table(
    {
        "id": pa.array([7, 3, 11, 0, 5, 9, 1, 10, 2, 8, 4, 6]),
        "k": pa.array(["", "\0", ""] * 4),
        **{name: pa.array(values, kind) for name, (values, kind) in VALUES.items()},
    }
)


def counted(value):
    """A time as a whole number of its unit, with which the oracle may count beyond year 9999."""
    if isinstance(value, dt.datetime):
        return (value - EPOCH) // dt.timedelta(microseconds=1)
    return value.toordinal() if isinstance(value, dt.date) else value


def rows():
    """The rows as the oracle takes them: with times in numbers, too, under names that end so."""
    found = TABLE.to_pylist()
    return [row | {f"{name} counted": counted(row[name]) for name in VALUES} for row in found]


def same(got, expected):
    """Whether values are the same; of zeros that are equal either may stand for both."""
    if isinstance(expected, list):
        return len(got) == len(expected) and all(map(same, got, expected))
    if isinstance(expected, float) and math.isnan(expected):
        return isinstance(got, float) and math.isnan(got)
    return type(got) is type(expected) and got == expected
