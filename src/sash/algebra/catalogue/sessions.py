"""Sessions: rows whose times are less than a gap apart, numbered."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from sash.algebra.catalogue.declaring import DISTANCE, Function, Parameter
from sash.algebra.window_function import SessionFunction


def session_id(gap: Any = None) -> SessionFunction:
    """The number of the session that the row is in; without a gap, a column has those of the rows."""
    return SessionFunction("session_id", () if gap is None else (gap,))


FUNCTIONS = (
    Function(
        "session_id",
        session_id,
        (Parameter("gap", DISTANCE, type="Any", words="the gap", example=timedelta(minutes=30)),),
        "The number of the row's session, from 1: rows less than a gap apart in the window's order are in one.\n\n"
        "``gap`` is an interval such as ``30 minutes``, a number, or a column: a row then lasts for its own gap, and\n"
        "rows that overlap are in one session. NULL where the time or the gap is NULL, the gap is not above zero,\n"
        "or the row is filtered.",
        ("session_id(2)", "session_id(back)"),
        "Sessions",
    ),
)
