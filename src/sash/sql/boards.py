"""Continuous queries in SQL, as boards over a stream."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from sash.engine.streams.board import Board
from sash.engine.streams.settings import settings_of, spans_of
from sash.errors import SashError
from sash.spark.dataframes import stream_source
from sash.sql.continuous import Continuous
from sash.sql.given import Given


@dataclass(frozen=True)
class BoardQuery:
    """A board, and which of its answers a query wants."""

    board: Board
    emit: str

    def results(self) -> Any:
        """The answers, as a DataFrame."""
        return self.board.results(emit=self.emit)


def board(query: Continuous, spark: Any, given: Given) -> BoardQuery:
    """The board of a continuous query over a table that it was given, or that Spark has."""
    frame = given.frame(query.stream)
    frame = spark.table(query.stream) if frame is None else frame
    if query.condition:
        frame = frame.where(query.condition)
    source = stream_source(frame)
    spans = spans_of(query.span, query.postpone, query.longest, None, None)
    time = None if spans is not None else _time(query.stream, source.schema)
    opened = Board(source, settings_of(time, list(query.key), None, None, None, spans))
    return BoardQuery(opened.query(query.queries, range=query.range, slide=query.slide), query.emit)


def _time(name: str, schema: pa.Schema) -> str:
    """The column of event times: the only one of timestamps, or else of dates."""
    times = [field.name for field in schema if pa.types.is_timestamp(field.type)]
    times = times or [field.name for field in schema if pa.types.is_date(field.type)]
    if len(times) != 1:
        has = f"has {', '.join(times)}" if times else "has none"
        raise SashError(
            f"the stream of a continuous query must have one column of timestamps, its event time; {name} {has}; "
            "select one, or use sash.stream(…, time=…)"
        )
    return times[0]
