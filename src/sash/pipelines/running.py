"""Runs pipelines: as a batch, sink after sink; as a stream, a query for each sink until they end or are stopped."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from sash.errors import SashError
from sash.expressions.naming import quoted
from sash.pipelines.building import Built, at, build, resolved
from sash.pipelines.loading import Loaded, PipelineError
from sash.pipelines.reporting import Progress, Reporter, Summary, Written
from sash.spark import flowing, queries, reading, writing
from sash.sql import texts

PAUSE = 0.3  # seconds between two looks at a stream
BESIDE = ("console", "memory", "noop")  # formats that keep nothing


class Failed(SashError):
    """A pipeline was right, and failed as it ran."""


def run(
    loaded: Loaded, spark: Any, reporter: Reporter | None = None, stopping: threading.Event | None = None
) -> Summary:
    """Run a pipeline, and say what it did.

    Args:
        loaded: the pipeline, of ``load``.
        spark: the session.
        reporter: who is told how far it is.
        stopping: once set, a stream stops; the next run goes on with the same batch.

    """
    reporter = reporter or Reporter()
    built = build(loaded, spark)
    targets = checked(loaded, spark, built)
    summary = Summary(loaded.file.stem, "stream" if loaded.streaming else "batch")
    stopping = stopping or threading.Event()
    begin = time.monotonic()
    try:
        if loaded.streaming:
            _streamed(loaded, built, targets, summary, reporter, stopping)
        else:
            _batched(loaded, built, targets, summary, reporter)
    finally:
        summary.seconds = time.monotonic() - begin
    return summary


def checked(loaded: Loaded, spark: Any, built: Built) -> list[writing.Target]:
    """The targets of the sinks; what could not be written is refused before anything runs."""
    targets = []
    sources = loaded.pipeline.sources.values()
    read = {resolved(loaded, source.path) for source in sources if source.path} | {str(loaded.file.resolve())}
    tables = {(source.table, source.options.get("url")) for source in sources if source.table}
    checkpoints = loaded.pipeline.stream.checkpoint
    written = {resolved(loaded, checkpoints)} if checkpoints else set()
    for number, sink in enumerate(loaded.pipeline.sinks):
        with at(loaded, "sinks", number):
            target = _target(loaded, number)
            if target.path is not None and _around(target.path, read):
                raise SashError(f"{target.shown} is read by this pipeline; it cannot be written, too")
            if (target.table, target.options.get("url")) in tables:
                raise SashError(f"{target.shown} is read by this pipeline; it cannot be written, too")
            if target.path is not None and _around(target.path, written):
                raise SashError(f"{target.shown} holds, or is inside, what another sink or the checkpoint writes")
            written |= {target.path} if target.path else set()
            _check_columns(built.frames[loaded.taken(sink)], target, sink.late)
            if loaded.streaming:
                _check_stream(loaded, built, number, target)
            writing.check(spark, target, loaded.streaming, _checkpoint(loaded, target))
            targets.append(target)
    return targets


def _target(loaded: Loaded, number: int) -> writing.Target:
    sink = loaded.pipeline.sinks[number]
    path = None if sink.path is None else resolved(loaded, sink.path)
    mode = sink.mode or ("append" if loaded.streaming else "overwrite")
    if loaded.streaming and mode != "append":
        raise SashError(f"a stream appends, got mode {mode}")
    name = loaded.sink_name(number)
    return writing.Target(name, sink.format, path, sink.table, mode, tuple(sink.partition_by), sink.options, sink.key)


def _around(path: str, read: set[str]) -> bool:
    """Whether writing a path would touch one that is read."""
    if reading.SCHEME.match(path):
        return path.rstrip("/") in {each.rstrip("/") for each in read}
    here = Path(path).resolve()
    others = [Path(each).resolve() for each in read if not reading.SCHEME.match(each)]
    return any(here == each or here in each.parents or each in here.parents for each in others)


def _check_columns(frame: Any, target: writing.Target, late: bool) -> None:
    if late:
        return
    doubled = [name for name, count in Counter(name.lower() for name in frame.columns).items() if count > 1]
    if doubled and target.kind not in BESIDE:
        raise SashError(f"two columns to write are called {doubled[0]}; give one another name")
    for name in (*target.partition_by, *([target.key] if target.key else [])):
        if name not in frame.columns:
            raise SashError(f"there is no column {name} to write; there are {', '.join(frame.columns)}")


def _check_stream(loaded: Loaded, built: Built, number: int, target: writing.Target) -> None:
    if not built.frames[loaded.taken(loaded.pipeline.sinks[number])].isStreaming:
        raise SashError("what a sink takes must be a stream, got a table that is static")
    if loaded.pipeline.stream.checkpoint is None and target.kind not in BESIDE:
        raise SashError('a stream needs a checkpoint to go on where it was: [stream] checkpoint = "checkpoints/…"')
    flowing.check(target, loaded.pipeline.stream.trigger, _updates(loaded, number))


def _checkpoint(loaded: Loaded, target: writing.Target) -> str | None:
    """The folder that lets a sink's stream go on; of what keeps nothing, none."""
    folder = loaded.pipeline.stream.checkpoint
    return None if folder is None or target.kind in BESIDE else f"{resolved(loaded, folder).rstrip('/')}/{target.name}"


def _updates(loaded: Loaded, number: int) -> bool:
    """Whether a sink takes early answers."""
    sink = loaded.pipeline.sinks[number]
    step = next((each for each in loaded.pipeline.steps if each.name == loaded.taken(sink)), None)
    return not sink.late and getattr(step, "emit", "final") == "updates"


def _batched(loaded: Loaded, built: Built, targets: list[writing.Target], summary: Summary, reporter: Reporter) -> None:
    takers = Counter(loaded.taken(sink) for sink in loaded.pipeline.sinks if not sink.late)
    shared = [name for name, count in takers.items() if count > 1]
    for name in shared:
        built.frames[name] = built.frames[name].persist()  # computed once for all its sinks
    try:
        _written(loaded, built, targets, summary, reporter)
    finally:
        for name in shared:
            built.frames[name].unpersist()


def _written(loaded: Loaded, built: Built, targets: list[writing.Target], summary: Summary, reporter: Reporter) -> None:
    aside: dict[str, int] = {}  # rows of boards that came too late, counted once for all sinks of a board
    for number, target in enumerate(targets):
        sink, taken = loaded.pipeline.sinks[number], loaded.taken(loaded.pipeline.sinks[number])
        reporter.began(target.name)
        begin, count = time.monotonic(), reading.Count()
        with _failing(loaded, number):
            frame = _late(built.boards[taken].late()) if sink.late else built.frames[taken]
            rows = _write(count.of(writing.shaped(frame, target)), target, count, reporter)
            if taken in built.boards and not sink.late and taken not in aside:
                aside[taken] = built.boards[taken].late().count()
        late = None if sink.late else aside.get(taken)
        written = Written(target.name, taken, _shown(loaded, target), rows, late, time.monotonic() - begin)
        summary.sinks.append(written)
        reporter.ended(written)
        for name in built.needs[taken]:
            if name not in summary.rows_in:
                summary.rows_in[name] = built.counts[name].get()


def _late(frame: Any) -> Any:
    """Rows that came too late, with the reason first, as those of a stream."""
    return frame.select("reason", *(quoted(name) for name in frame.columns if name != "reason"))


def _write(frame: Any, target: writing.Target, count: reading.Count, reporter: Reporter) -> int | None:
    """Write a batch; how many rows that were, where it is known."""
    if target.kind == "console":
        rows = frame.limit(flowing.SHOWN + 1).toArrow()
        reporter.show(target.name, rows)
        return rows.num_rows if rows.num_rows <= flowing.SHOWN else None
    if not writing.write(frame, target):
        return 0
    return None if target.kind == "memory" else count.get()


def _streamed(
    loaded: Loaded,
    built: Built,
    targets: list[writing.Target],
    summary: Summary,
    reporter: Reporter,
    stopping: threading.Event,
) -> None:
    stream, flows = loaded.pipeline.stream, []
    begin = time.monotonic()
    try:
        for number, target in enumerate(targets):
            sink = loaded.pipeline.sinks[number]
            taken = loaded.taken(sink)
            reporter.began(target.name)
            folder, updates = _checkpoint(loaded, target), _updates(loaded, number)
            with _failing(loaded, number):
                frame = built.frames[taken]
                if sink.late:
                    both = built.boards[taken].results(late=True)
                    frame = both.where("late is not null").select("late.reason", "late.row.*")
                query = flowing.start(frame, target, folder, stream.trigger, updates, reporter.show)
            flows.append(Flow(number, target.name, taken, query, sink.late))
        _watched(loaded, flows, reporter, stopping)
        summary.stopped = stopping.is_set()
    finally:
        for flow in flows:
            flow.stop()
        for flow in flows:
            flow.look(reporter)
            if flow.query.exception() is not None:
                continue
            place = _shown(loaded, targets[flow.number])
            seconds = time.monotonic() - begin
            now = flow.progress
            counts = (now.late, None) if flow.late else (now.answers, now.late)
            written = Written(flow.name, flow.taken, place, *counts, seconds)
            summary.sinks.append(written)
            summary.rows_in[flow.name] = now.rows_in
            reporter.ended(written)


def _watched(loaded: Loaded, flows: list[Flow], reporter: Reporter, stopping: threading.Event) -> None:
    """Wait for the queries, until all have ended, one has failed, or they are to stop."""
    while not stopping.is_set():
        going = [flow for flow in flows if flow.query.isActive]
        for flow in flows:
            flow.look(reporter)
            error = None if flow.query.isActive else flow.query.exception()
            if error is not None:
                raise _failed(loaded, flow.number, error)
        if not going:
            return
        stopping.wait(PAUSE)


class Flow:
    """A streaming query, and how far it is."""

    def __init__(self, number: int, name: str, taken: str, query: Any, late: bool) -> None:
        self.number, self.name, self.taken, self.query, self.late = number, name, taken, query, late
        self.progress = Progress(name)
        self._seen = ""

    def look(self, reporter: Reporter) -> None:
        """Take in the batches since the last look."""
        for each in self.query.recentProgress:
            if each["timestamp"] <= self._seen:  # numbers of batches are told twice where a stream was idle
                continue
            self._seen = each["timestamp"]
            self._add(each)
            reporter.moved(self.progress)

    def stop(self) -> None:
        """End the query, if it goes on."""
        if self.query.isActive:
            self.query.stop()

    def _add(self, batch: Any) -> None:
        now = self.progress
        now.batch = batch["batchId"]
        now.rows_in += batch["numInputRows"]
        now.rate = batch["processedRowsPerSecond"] or 0.0
        for name, metrics in (batch["observedMetrics"] or {}).items():
            if name.startswith("sash "):
                late = metrics["late"] or 0
                now.late = (now.late or 0) + late
                if not self.late:
                    now.answers = (now.answers or 0) + (metrics["answers"] or 0)
        mark = (batch["eventTime"] or {}).get("watermark")
        if mark and not mark.startswith("1970-01-01T00:00:00"):
            now.watermark = mark
            now.lag = max((datetime.now(UTC) - datetime.fromisoformat(mark)).total_seconds(), 0.0)


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
        raise _failed(loaded, number, error) from None  # what it is from may hold secrets


def _failed(loaded: Loaded, number: int, error: Exception) -> Failed:
    """Why a sink could not be written, in a sentence."""
    said = texts.shown(queries.said(error) or str(error).strip().split("\n\n")[0] or type(error).__name__)
    return Failed(str(loaded.error(f"{loaded.sink_name(number)} could not be written: {said}", "sinks", number)))
