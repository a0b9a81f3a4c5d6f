"""A stream that goes on where a history of partials ends."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sash.engine.streams.assigners.base import LEAST
from sash.engine.streams.operator import Operator
from sash.engine.streams.partial_columns import END
from sash.engine.streams.partial_reading import PartialReader, tables_of, take_entry
from sash.engine.streams.scheme import Scheme
from sash.engine.streams.slice_partials import PARTIALS
from sash.engine.tables import column_names
from sash.errors import SashError, column_named


def check_history(scheme: Scheme, frames: Sequence[Any]) -> None:
    """Refuse a history that cannot answer the queries of a board, or a board that cannot go on with one."""
    if frames and scheme.spans:
        raise SashError("history is for events of one moment, got it with span=: events that last reach over its end")
    with column_named("history"):
        for frame in frames:
            PartialReader(scheme, column_names(frame))


def begin_with(operator: Operator, frames: Sequence[Any]) -> None:
    """Have an operator begin where a history ends: with what windows that end later hold of it."""
    if operator.fill:
        raise SashError("fill is not for a board with history=, of which nobody knows the last events of each key")
    readers: dict[tuple[str, ...], PartialReader] = {}
    end = LEAST
    with column_named("history"):
        for table, reader in tables_of(operator.scheme, frames, readers):
            if operator.emit != PARTIALS:
                take_entry(operator, reader.entry(table))
            end = max(end, int(reader.moments(table, END).max(initial=LEAST)))
    if end > LEAST:
        operator.begin_at(end)
