"""Rows with which a function fails: they are found by halving batches, so that the others are not lost with them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from sash.algebra import Aggregate
from sash.engine.columns_read import arguments_of
from sash.engine.streams.assigners.base import MISSED, Assigner
from sash.engine.streams.buffer import Buffer, WindowRows
from sash.engine.streams.cell_partials import lifted_columns
from sash.engine.streams.cells import Cells
from sash.engine.streams.keyed_rows import KeyedRows
from sash.engine.streams.query_answers import answer_of_rows
from sash.engine.streams.scheme import EVERYTHING, Scheme
from sash.errors import SashError
from sash.expressions.evaluation import evaluate
from sash.kernels.slices.assigning import span
from sash.windows.over import Over
from sash.windows.slicers import Edges

FAIL, ASIDE = "fail", "aside"


def check_on_error(scheme: Scheme) -> None:
    """Refuse to set rows aside where it would not be known which they are."""
    if scheme.settings.on_error == FAIL:
        return
    if scheme.spans:
        raise SashError("on_error='aside' is for events of one moment, got span=: a span is in many slices at once")


class PoisonSieve:
    """What keeps rows out with which a function fails, where that was asked for; ``set_aside`` takes them."""

    def __init__(
        self, scheme: Scheme, assigners: Sequence[Assigner], edges: Edges, set_aside: Callable[..., None]
    ) -> None:
        self.scheme, self._assigners, self._edges, self._set_aside = scheme, assigners, edges, set_aside

    def sound(self, rows: KeyedRows) -> KeyedRows:
        """The rows with which no function fails."""
        if self.scheme.settings.on_error == FAIL or not len(rows.codes):
            return rows
        bad, reasons = self._poison(rows)
        if not len(bad):
            return rows
        self._set_aside(rows.table.select(self.scheme.schema.names), bad, pa.array(reasons, pa.string()))
        rows = rows.take(np.setdiff1d(np.arange(len(rows.codes)), bad))
        return rows if rows.time is None else rows._replace(span=span(rows.time))

    def sound_unplaced(self, table: pa.Table) -> pa.Table:
        """The same of rows that have no place yet."""
        if self.scheme.settings.on_error == FAIL:
            return table
        none = np.zeros(table.num_rows, np.int64)
        rows = self.sound(KeyedRows(table.append_column(MISSED, pa.array(none)), none, None))
        return rows.table.select(table.column_names)

    def _poison(self, rows: KeyedRows) -> tuple[np.ndarray, list[str]]:
        """The rows with which a function fails, and why."""
        scheme, every = self.scheme, np.zeros(len(rows.codes), np.int64)
        time = every if rows.time is None else rows.time

        def attempt(some: np.ndarray) -> None:
            part = rows.table.take(pa.array(some))
            ask_rows(scheme, part)
            if scheme.by_cells:
                cells, codes = Cells([each.layout for each in scheme.partials]), np.arange(len(some))
                columns = lifted_columns(self._assigners, scheme.partials, part, time[some])
                cells.fold(every[some], codes, len(some), self._edges, columns)

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
        for each in arguments_of(Over(planned.query.call, EVERYTHING)):
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
