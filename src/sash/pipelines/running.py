"""Runs pipelines: as a batch, sink after sink; as a stream, queries that go on until they end or are stopped."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sash.errors import SashError
from sash.expressions.naming import quoted
from sash.pipelines import connectors, flows
from sash.pipelines.building import Built, build
from sash.pipelines.loading import Loaded, PipelineError
from sash.pipelines.reporting import Reporter, Summary, Written
from sash.pipelines.seen import Seen, Show
from sash.pipelines.targets import check_places, checked
from sash.spark import batches, messages, reading, text_queries, writing
from sash.sql import texts

PAUSE = 0.3  # seconds between two looks at a stream


class Failed(SashError):
    """A pipeline was right, and failed as it ran."""


def run(
    loaded: Loaded,
    spark: Any,
    reporter: Reporter | None = None,
    stopping: threading.Event | None = None,
    watch: Show | None = None,
) -> Summary:
    """Run a pipeline, and say what it did.

    Args:
        loaded: the pipeline, of ``load``.
        spark: the session.
        reporter: who is told how far it is.
        stopping: once set, a stream stops; the next run goes on with the same batch.
        watch: puts what is seen of the run on a page.

    """
    reporter = reporter or Reporter()
    check_places(loaded, spark)
    built = build(loaded, spark, watched=watch is not None and loaded.streaming)
    targets = checked(loaded, spark, built)
    seen = Seen(loaded, built, watch)
    summary = Summary(loaded.file.stem, "stream" if loaded.streaming else "batch")
    stopping = stopping or threading.Event()
    begin = time.monotonic()
    try:
        if loaded.streaming:
            _streamed(loaded, built, targets, summary, reporter, stopping, seen)
        else:
            _batched(loaded, built, targets, summary, reporter, seen)
        seen.ended()
    except SashError as error:
        seen.failed(str(error))
        raise
    finally:
        summary.seconds = time.monotonic() - begin
    return summary


def _batched(
    loaded: Loaded, built: Built, targets: list[writing.Target], summary: Summary, reporter: Reporter, seen: Seen
) -> None:
    takers = Counter(loaded.taken(sink) for sink in loaded.pipeline.sinks if not sink.late)
    shared = [name for name, count in takers.items() if count > 1]
    for name in shared:
        built.frames[name] = built.frames[name].persist()  # computed once for all its sinks
    try:
        _written(loaded, built, targets, summary, reporter, seen)
    finally:
        for name in shared:
            built.frames[name].unpersist()


def _written(
    loaded: Loaded, built: Built, targets: list[writing.Target], summary: Summary, reporter: Reporter, seen: Seen
) -> None:
    aside: dict[str, int] = {}  # rows of boards that came too late, counted once for all sinks of a board
    for number, target in enumerate(targets):
        sink, taken = loaded.pipeline.sinks[number], loaded.taken(loaded.pipeline.sinks[number])
        connector = connectors.of(target)
        reporter.began(target.name)
        seen.began(taken, target.name)
        begin, count = time.monotonic(), reading.Count()
        with _failing(loaded, number):
            frame = _late(loaded, built, taken) if sink.late else built.frames[taken]
            frame = count.of(connector.shaped(frame, target))
            rows = connector.write(frame, target, count, reporter.show)
            if taken in built.boards and not sink.late and taken not in aside:
                aside[taken] = built.boards[taken].late().count()
        late = None if sink.late else aside.get(taken)
        written = Written(target.name, taken, _shown(loaded, target), rows, late, time.monotonic() - begin)
        summary.sinks.append(written)
        reporter.ended(written)
        for name in built.needs[taken]:
            if name not in summary.rows_in:
                summary.rows_in[name] = built.counts[name].get()
        rows_in = [summary.rows_in[name] for name in built.needs[taken]]
        seen.wrote(written, sum(filter(None, rows_in)) if rows_in else None)
    for name, malformed in built.malformed.items():
        if (many := malformed.count()) > 0:
            summary.malformed[name] = many


def _late(loaded: Loaded, built: Built, taken: str) -> Any:
    """Rows that came too late, with the reason first, as those of a stream; and messages that are no rows."""
    frame = built.boards[taken].late()
    frame = frame.select("reason", *(quoted(name) for name in frame.columns if name != "reason"))
    for malformed in flows.messages_of(loaded, built, taken).values():
        frame = messages.beside_late(frame, malformed)
    return frame


def _streamed(
    loaded: Loaded,
    built: Built,
    targets: list[writing.Target],
    summary: Summary,
    reporter: Reporter,
    stopping: threading.Event,
    seen: Seen,
) -> None:
    watches: list[flows.Watch] = []
    begin = time.monotonic()
    try:
        for flow in flows.flows(loaded):
            for number in flow.sinks:
                reporter.began(loaded.sink_name(number))
            with _failing(loaded, flow.sinks[0]):
                query = flows.start(loaded, built, flow, targets, reporter)
            seen.runs(flow.taken, query)
            watches += [flows.Watch(loaded, flow, number, query) for number in flow.sinks]
        _watched(loaded, watches, reporter, stopping, seen)
        summary.stopped = stopping.is_set()
    finally:
        for watch in watches:
            watch.stop()
        for watch in sorted(watches, key=lambda each: each.number):
            watch.look(reporter)
            if watch.query.exception() is not None:
                continue
            place = _shown(loaded, targets[watch.number])
            written = Written(watch.name, watch.taken, place, *watch.rows, time.monotonic() - begin)
            summary.sinks.append(written)
            summary.rows_in[watch.name] = watch.progress.rows_in
            for name, count in watch.malformed.items():
                if count:
                    summary.malformed[name] = max(count, summary.malformed.get(name, 0))
            reporter.ended(written)


def _watched(
    loaded: Loaded, watches: list[flows.Watch], reporter: Reporter, stopping: threading.Event, seen: Seen
) -> None:
    """Wait for the queries, until all have ended, one has failed, or they are to stop."""
    while not stopping.is_set():
        going = [watch for watch in watches if watch.query.isActive]
        seen.look()
        for watch in watches:
            watch.look(reporter)
            error = None if watch.query.isActive else watch.query.exception()
            if error is not None:
                raise _failed(loaded, watch.flow.sinks, error)
        if not going:
            return
        stopping.wait(PAUSE)


def _shown(loaded: Loaded, target: writing.Target) -> str:
    shown, here = target.shown, f"{Path.cwd()}/"
    return loaded.variables.masked(shown.removeprefix(here))


@contextmanager
def _failing(loaded: Loaded, number: int) -> Iterator[None]:
    """Let a failure at run time say which sink it was."""
    try:
        yield
    except PipelineError:
        raise
    except Exception as error:
        raise _failed(loaded, (number,), error) from None  # what it is from may hold secrets


def _failed(loaded: Loaded, sinks: Sequence[int], error: Exception) -> Failed:
    """Why a sink could not be written, in a sentence; of several, the one that the error names."""
    said = texts.shown(text_queries.said(error) or str(error).strip().split("\n\n")[0] or type(error).__name__)
    names = [loaded.sink_name(number) for number in sinks]
    name, said = batches.failed_sink(said, names)
    number = sinks[names.index(name)] if name else sinks[0]
    return Failed(str(loaded.error(f"{loaded.sink_name(number)} could not be written: {said}", "sinks", number)))
