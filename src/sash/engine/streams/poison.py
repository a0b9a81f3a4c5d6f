"""Rows with which a function fails: they are found by halving batches, so that the others are not lost with them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa

from sash.algebra import Aggregate
from sash.engine.columns_read import arguments_of
from sash.engine.streams.buffer import Buffer, WindowRows
from sash.engine.streams.cells import Cells, LiftedColumns
from sash.engine.streams.keyed_rows import KeyedRows
from sash.engine.streams.query_answers import answer_of_rows
from sash.engine.streams.scheme import Scheme
from sash.errors import SashError
from sash.expressions.evaluation import evaluate
from sash.windows import Window
from sash.windows.over import Over
from sash.windows.slicers import Edges

ANYWHERE = Window.rowsBetween(Window.unboundedPreceding, Window.unboundedFollowing)
FAIL, ASIDE = "fail", "aside"


def check_on_error(scheme: Scheme) -> None:
    """Refuse to set rows aside where it would not be known which they are."""
    if scheme.settings.on_error == FAIL:
        return
    if scheme.spans:
        raise SashError("on_error='aside' is for events of one moment, got span=: a span is in many slices at once")


def poison_of(
    scheme: Scheme, rows: KeyedRows, edges: Edges, lifted: Callable[..., list[LiftedColumns]]
) -> tuple[np.ndarray, list[str]]:
    """The rows with which a function fails, and why; ``lifted`` is what partials lift of rows."""
    every = np.zeros(len(rows.codes), np.int64)
    time = every if rows.time is None else rows.time

    def attempt(some: np.ndarray) -> None:
        part = rows.table.take(pa.array(some))
        ask_rows(scheme, part)
        if scheme.by_cells:
            cells, codes = Cells([each.layout for each in scheme.partials]), np.arange(len(some))
            cells.fold(every[some], codes, len(some), edges, lifted(part, scheme.partials, time[some]))

    return poisoned(attempt, len(rows.codes))


def ask_rows(scheme: Scheme, table: pa.Table) -> None:
    """Compute of each row what queries do for which rows are buffered: arguments; of your own aggregates, an answer."""
    arguments: dict[str, Any] = {}
    for k in scheme.buffered:
        planned = scheme.planned[k]
        function = planned.query.call.aggregate
        if isinstance(function, Aggregate) and not function.origin:
            buffer, rows = Buffer(table.schema), np.arange(table.num_rows)
            buffer.append(table, np.zeros(len(rows), np.int64), rows)
            answer_of_rows(WindowRows(buffer.compact()), planned, rows, rows + 1)
            continue
        for each in arguments_of(Over(planned.query.call, ANYWHERE)):
            if str(each) not in scheme.schema.names:
                arguments[str(each)] = each
    for each in arguments.values():
        evaluate(each, table)


def poisoned(attempt: Callable[[np.ndarray], None], rows: int) -> tuple[np.ndarray, list[str]]:
    """The rows with which something fails, each by itself, and why.

    >>> def attempt(rows):
    ...     if 3 in rows: raise ValueError("three")
    >>> poisoned(attempt, 8)
    (array([3]), ['failed: ValueError: three'])
    """
    bad, reasons, waiting = [], [], [(0, rows)]
    while waiting:
        first, last = waiting.pop()
        try:
            attempt(np.arange(first, last))
        except MemoryError:
            raise
        except Exception as error:  # whatever a user's function raises
            if last - first > 1:
                middle = (first + last) // 2
                waiting += [(middle, last), (first, middle)]
                continue
            bad.append(first)
            said = str(error) if isinstance(error, SashError) else f"{type(error).__name__}: {error}"
            reasons.append(f"failed: {said}")
    return np.array(bad, np.int64), reasons
