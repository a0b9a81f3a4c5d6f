"""Values of other rows of the frame: its first, last and n-th, and those so many rows after or before the row."""

from __future__ import annotations

from typing import Any

from sash.algebra.catalogue.declaring import (
    COL,
    DEFAULT,
    FROM_LAST,
    NULLS,
    NUMBER,
    Function,
    Parameter,
    always,
    whole,
)
from sash.algebra.catalogue.positions import FIRST, LAST
from sash.algebra.window_function import ShiftFunction, ValueFunction
from sash.errors import SashError


def nth_value(offset: Any, from_last: bool = False) -> ValueFunction:
    """The value of the row at a place counted from 1; without a constant, a second column says which."""
    place = None if offset is None else whole("offset", offset)
    return ValueFunction("nth_value", (place, from_last), (1, 1 + (place is None)), nth=(place, bool(from_last)))


def lead(offset: Any = 1) -> ShiftFunction:
    """The value so many rows after the row."""
    return ShiftFunction("lead", (_number(offset),), _columns(offset))


def lag(offset: Any = 1) -> ShiftFunction:
    """The value so many rows before the row."""
    return ShiftFunction("lag", (_number(offset),), _columns(offset), ahead=-1)


def _columns(offset: Any) -> tuple[int, int]:
    """How many columns there are: the value, the offset where it is no constant, the default."""
    return (2, 3) if offset is None else (1, 2)


def _number(offset: Any) -> int | None:
    if offset is None:
        return None
    if isinstance(offset, bool) or not hasattr(offset, "__index__"):
        raise SashError(f"offset must be a whole number, got {offset!r}")
    return int(offset)


_VALUES = "Values of other rows"
_SPARK: dict[str, Any] = {"spark": True, "postgres": True}
_IGNORED = Parameter("ignoreNulls", NULLS, None, "bool | None", "ignoring NULLs")
_SHIFT = (
    COL,
    Parameter("offset", NUMBER, 1, "int | Column", "the offset"),
    Parameter("default", DEFAULT, None, "Any", "the default"),
)

FUNCTIONS = (
    Function(
        "first_value",
        always(ValueFunction("first_value", nth=(1, False), folded=FIRST.but(name="first_value"))),
        (COL, _IGNORED),
        "The value of the first row of the frame.",
        ("first_value(qty)", "first_value(qty) ignore nulls", "first_value(trader order by price desc)"),
        _VALUES,
        **_SPARK,
    ),
    Function(
        "last_value",
        always(ValueFunction("last_value", nth=(1, True), folded=LAST.but(name="last_value"))),
        (COL, _IGNORED),
        "The value of the last row of the frame.",
        ("last_value(qty)", "last_value(qty ignore nulls)"),
        _VALUES,
        **_SPARK,
    ),
    Function(
        "nth_value",
        nth_value,
        (
            COL,
            Parameter("offset", NUMBER, type="int | Column", words="the place", example=2),
            Parameter("ignoreNulls", NULLS, False, "bool | None", "ignoring NULLs"),
            Parameter("from_last", FROM_LAST, False, "bool", keyword=True),
        ),
        "The value of the row at a place counted from 1, from the first or from the last row of the frame.",
        ("nth_value(qty, 2)", "nth_value(qty, 1) from last"),
        _VALUES,
        **_SPARK,
    ),
    Function(
        "lead",
        lead,
        _SHIFT,
        "The value so many rows after the row, or the default where there is none.",
        ("lead(qty)", "lead(n order by price desc, n)"),
        _VALUES,
        **_SPARK,
    ),
    Function(
        "lag",
        lag,
        _SHIFT,
        "The value so many rows before the row, or the default where there is none.",
        ("lag(qty)", "lag(qty, 2, -1)", "lag(qty) ignore nulls"),
        _VALUES,
        **_SPARK,
    ),
)
