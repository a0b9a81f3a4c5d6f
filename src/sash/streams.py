"""Continuous queries: ``sash.stream``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sash.errors import SashError
from sash.libraries import is_spark

if TYPE_CHECKING:
    from sash.engine.streams.board import Board


def stream(
    source: Any,
    *,
    time: Any = None,
    key: Any = None,
    watermark: Any = None,
    offset: Any = None,
    slicer: str | None = None,
    span: tuple[Any, Any] | None = None,
    postpone: Any = None,
    longest: Any = None,
    pair: Any = None,
    zone: str | None = None,
    lateness: Any = None,
    ahead: Any = None,
    idle: Any = None,
    on_error: str = "fail",
    history: Any = None,
) -> Board:
    """A stream to ask continuous queries of: many over one stream, sharing their slices.

    Args:
        source: a pyarrow Table, a pandas or a polars DataFrame, a Spark DataFrame, streaming or not; an iterator of
            Arrow batches; or a pyarrow Schema, for a board that is only opened.
        time: the column of event times, timestamps or dates; windows by time need it.
        key: a column or several, whose values each have windows of their own.
        watermark: how far behind the latest event others may be, such as ``"10 seconds"``. Windows are answered
            when the watermark passes their end; without one, at the end of the input.
        offset: by how much the starts of windows by time are moved, such as ``"15 minutes"``.
        slicer: how the stream is cut: ``"panes"``, ``"pairs"`` or ``"cutty"``; chosen where not given.
        span: in the place of ``time``, the columns of the start and of the end of events that last, such as
            ``("start", "end")``: an event counts once in every window that it overlaps.
        postpone: how long after its end a window of spans waits for events that began in it or before, and
            lasted on: an interval, or ``"auto"`` for a high quantile of the lengths of late.
        longest: how long a span may be. A span that has not ended, its end being NULL, counts for this long.
        pair: a column of ids, where the start and the end of a span come in rows of their own.
        zone: the time zone whose clocks say when windows of days, weeks (from Monday) and months begin, such as
            ``"Europe/Berlin"``: a day has 23 or 25 hours where clocks change. Hours and less are time that passes.
            Without it, ``sash.options.zone``, if that is set.
        lateness: how long windows stay after their answer, such as ``"1 hour"``: a late row that changes it has it
            given again, with a higher ``revision``, a column that answers then have. Rows later than that are late.
        ahead: how far behind the clock the future begins, such as ``"1 day"``: rows whose time is later than that
            are set aside with the reason, in the place of moving the watermark.
        history: partials of earlier rows, as ``board.partials()`` gives them, one frame or several, for a board that
            starts warm: windows that end after the last slice are answered, of both; rows of before that are late.
            In process.
        idle: after how long without events the clock moves the watermark, such as ``"1 minute"``; in process.
        on_error: ``"fail"``, or ``"aside"``: rows with which a function fails, such as a ``lift`` of your own that
            raises, are set aside with the reason, and the others answered.

    >>> import pyarrow as pa
    >>> from datetime import datetime
    >>> from sash import functions as sf
    >>> loads = pa.table({"ts": [datetime(2026, 1, 1, 0, m) for m in (0, 1, 3)], "load": [5, 9, 7]})
    >>> board = stream(loads, time="ts").query("peak", sf.max("load"), range="2 minutes", slide="1 minute")
    >>> board.results()["peak"].to_pylist()
    [5, 9, 9, 7, 7]

    """
    from sash.engine.streams.board import Board
    from sash.engine.streams.partial_reading import frames_of
    from sash.engine.streams.settings import settings_of, spans_of
    from sash.engine.streams.sources import source_of

    if is_spark(source):
        if history is not None:
            raise SashError("history is for streams in process, got it with a Spark DataFrame; append its partials to "
                            "those of the history, and ask board.answer() of all")  # fmt: skip
        from sash.spark.dataframes import stream_source

        opened = stream_source(source)
    else:
        opened = source_of(source)
    spans = spans_of(span, postpone, longest, pair, time)
    settings = settings_of(time, key, watermark, offset, slicer, spans, zone, lateness, ahead, idle, on_error)
    return Board(opened, settings, _history=() if history is None else tuple(frames_of(history)))
