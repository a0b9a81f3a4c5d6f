"""Which sinks of a stream one query writes, and how far each is: those of one board have its batches in common."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import Any

import sash
from sash.errors import SashError
from sash.pipelines import connectors
from sash.pipelines.building import Built, at, resolved
from sash.pipelines.loading import Loaded
from sash.pipelines.model import SpansStep, SqlStep, StreamStep
from sash.pipelines.reporting import Progress, Reporter
from sash.spark import batches, checkpoints, flowing, messages, writing
from sash.sql import reads
from sash.sql.rows import rows_of


@dataclass(frozen=True)
class Flow:
    """A streaming query: the source or step that it takes from, and its sinks."""

    taken: str
    sinks: tuple[int, ...]
    late: bool = False  # whether one of them takes late rows
    splits: bool = False  # whether batches are put into the sinks one by one

    @property
    def name(self) -> str:
        """What the query and its checkpoint are called, where it has several sinks; no sink has a name of this form."""
        return f"{self.taken}.sinks"


def flows(loaded: Loaded) -> list[Flow]:
    """The queries of a stream: one for all sinks of a board, late rows or several; else one for each sink."""
    named = {number: loaded.taken(sink) for number, sink in enumerate(loaded.pipeline.sinks)}
    boards = [step.name for step in loaded.pipeline.steps if isinstance(step, StreamStep | SpansStep)]
    shared: dict[int, Flow] = {}
    for board in boards:
        sinks = [number for number, taken in named.items() if taken == board]
        late = any(loaded.pipeline.sinks[number].late for number in sinks)
        if late:
            sinks += [number for number, taken in named.items() if board in before(loaded, taken)]
        if late or len(sinks) > 1:
            shared |= dict.fromkeys(sinks, Flow(board, tuple(sorted(sinks)), late, splits=True))
    every = [shared.get(number) or Flow(taken, (number,)) for number, taken in named.items()]
    return list(dict.fromkeys(every))


def before(loaded: Loaded, name: str) -> set[str]:
    """The steps and sources that a step is made from, at any distance."""
    step = next((each for each in loaded.pipeline.steps if each.name == name), None)
    if step is None:
        return set()
    if isinstance(step, SqlStep):
        steps = loaded.pipeline.steps[: loaded.pipeline.steps.index(step)]
        earlier = [*loaded.pipeline.sources, *(each.name for each in steps)]
        said = reads.names(step.sql)
        names = {each for each in earlier if each.lower() in said}
    else:
        names = {step.from_, *(window.of for window in getattr(step, "windows", ()))}
    return names.union(*(before(loaded, each) for each in names))


def check(loaded: Loaded, spark: Any, targets: list[writing.Target]) -> None:
    """Refuse what the queries of a stream could not write, or would not go on with."""
    for flow in flows(loaded):
        for number in flow.sinks:
            with at(loaded, "sinks", number):
                target, taken = targets[number], loaded.taken(loaded.pipeline.sinks[number])
                connector = connectors.of(target)
                folder = checkpoint(loaded, flow, targets)
                if flow.splits:
                    _steps(loaded, flow.taken, taken)
                    _check_layout(loaded, spark, target, f"{_root(loaded)}/{target.name}", several=False)
                    early = updates(loaded, flow.taken) and not loaded.pipeline.sinks[number].late
                    connector.check_stream(target, loaded.pipeline.stream.trigger, early)
                else:
                    _check_layout(loaded, spark, target, f"{_root(loaded)}/{flow.name}", several=True)
                connector.check_history(spark, target, folder, flow.splits)
        if flow.splits and folder is not None:
            with at(loaded, "sinks", flow.sinks[0]):
                checkpoints.check_members(spark, folder, [targets[number].name for number in flow.sinks])


def _check_layout(loaded: Loaded, spark: Any, target: writing.Target, folder: str, several: bool) -> None:
    """Refuse to begin anew beside the checkpoint that this sink had when it shared no query, or shared one."""
    keeps = loaded.pipeline.stream.checkpoint is not None and connectors.of(target).keeps
    if not keeps or not checkpoints.begun(spark, folder):
        return
    had, has = ("one query with others of its step", "a query of its own") if several else (
        "a query of its own, as older versions of Sash gave each sink", "one query with the others of its step"
    )  # fmt: skip
    raise SashError(
        f"{folder} is the checkpoint of {target.name} as {had}; now it has {has}, which cannot go on there: batches of "
        "two queries do not fit together. Begin anew, with another [stream] checkpoint and other places to write to"
    )


def checkpoint(loaded: Loaded, flow: Flow, targets: list[writing.Target]) -> str | None:
    """The folder that lets a query go on; of one that keeps nothing, none."""
    if loaded.pipeline.stream.checkpoint is None or not any(connectors.of(targets[each]).keeps for each in flow.sinks):
        return None
    return f"{_root(loaded)}/{flow.name if flow.splits else targets[flow.sinks[0]].name}"


def _root(loaded: Loaded) -> str:
    return resolved(loaded, loaded.pipeline.stream.checkpoint or "").rstrip("/")


def updates(loaded: Loaded, taken: str) -> bool:
    """Whether a step gives early answers."""
    step = next((each for each in loaded.pipeline.steps if each.name == taken), None)
    return getattr(step, "emit", "final") == "updates"


def start(loaded: Loaded, built: Built, flow: Flow, targets: list[writing.Target], reporter: Reporter) -> Any:
    """The query, running."""
    folder, early = checkpoint(loaded, flow, targets), updates(loaded, flow.taken)
    query = flowing.StreamSettings(folder, loaded.pipeline.stream.trigger, early, reporter.show)
    frame = built.frames[flow.taken]
    if not flow.splits:
        target = targets[flow.sinks[0]]
        connector = connectors.of(target)
        return connector.start(connector.shaped(frame, target), target, query)
    step = next(each for each in loaded.pipeline.steps if each.name == flow.taken)
    if flow.late and isinstance(step, StreamStep | SpansStep):
        frame = built.boards[flow.taken].results(emit=step.emit, starts=step.starts, fill=step.fill, late=True)
        for malformed in messages_of(loaded, built, flow.taken).values():
            frame = messages.beside_answers(frame, malformed)
    parts = []
    for number in flow.sinks:
        sink = loaded.pipeline.sinks[number]
        steps = _steps(loaded, flow.taken, loaded.taken(sink))
        parts.append(_part(targets[number], sink.late, steps))
    if folder is not None:
        checkpoints.keep_members(frame.sparkSession, folder, [each.name for each in parts])
    return batches.start(frame, flow.name, parts, query)


def _part(target: writing.Target, late: bool, steps: tuple[tuple[str, str], ...]) -> batches.PartOfBatch:
    """A sink as a query with several has it."""
    connector, through = connectors.of(target), partial(_through, steps) if steps else None
    return batches.PartOfBatch(target.name, late, connector.put(target), connector.every_batch, through)


def messages_of(loaded: Loaded, built: Built, board: str) -> dict[str, Any]:
    """The messages that are no rows, of each source that a board is made from."""
    sources = before(loaded, board)
    return {name: malformed for name, malformed in built.malformed.items() if name in sources}


def _steps(loaded: Loaded, board: str, taken: str) -> tuple[tuple[str, str], ...]:
    """The queries from a board to what a sink takes, each with the table it takes; they take rows one by one."""
    steps: list[tuple[str, str]] = []
    while taken != board:
        step = next(each for each in loaded.pipeline.steps if each.name == taken)
        table = rows_of(step.sql) if isinstance(step, SqlStep) else None
        names = [each.name for each in loaded.pipeline.steps]
        before = [name for name in names if table is not None and name.lower() == table.lower()]
        if not isinstance(step, SqlStep) or not before:
            raise SashError(
                f"{taken} is made from answers of {board}, whose late rows another sink takes; beside these a sink "
                f"takes {board} itself, or a step that takes its answers one by one: select … from {board} where …"
            )
        steps.append((before[0], step.sql))
        taken = before[0]
    return tuple(reversed(steps))


def _through(steps: tuple[tuple[str, str], ...], rows: Any) -> Any:
    for table, text in steps:
        rows = sash.sql(text, spark=rows.sparkSession, **{table: rows})
    return rows


class Watch:
    """A sink of a running query, and how far it is."""

    def __init__(self, loaded: Loaded, flow: Flow, number: int, query: Any) -> None:
        self.number, self.name, self.query, self.flow = number, loaded.sink_name(number), query, flow
        self.taken, self.late = loaded.taken(loaded.pipeline.sinks[number]), loaded.pipeline.sinks[number].late
        self.progress = Progress(self.name)
        self.malformed: dict[str, int] = {}  # messages that were no rows, by source
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

    @property
    def rows(self) -> tuple[int | None, int | None]:
        """The rows that went into the sink, where they are known, and those that were late beside them."""
        if self.late:
            return (self.progress.late or 0) + (self.progress.malformed or 0), None
        return (self.progress.answers if self.taken == self.flow.taken else None), self.progress.late

    def _add(self, batch: Any) -> None:
        now = self.progress
        now.batch = batch["batchId"]
        now.rows_in += batch["numInputRows"]
        now.rate = batch["processedRowsPerSecond"] or 0.0
        for name, metrics in _metrics(batch, messages.SEEN):
            self.malformed[name] = self.malformed.get(name, 0) + (metrics["malformed"] or 0)
            now.malformed = sum(self.malformed.values())
            now.rows_in -= (metrics["rows"] or 0) if self.flow.late else 0  # read twice, for those that are no rows
        for _, metrics in _metrics(batch, "sash "):
            now.late = (now.late or 0) + (metrics["late"] or 0)
            if not self.late:
                now.answers = (now.answers or 0) + (metrics["answers"] or 0)
        mark = (batch["eventTime"] or {}).get("watermark")
        if mark and not mark.startswith("1970-01-01T00:00:00"):
            now.watermark = mark
            now.lag = max((datetime.now(UTC) - datetime.fromisoformat(mark)).total_seconds(), 0.0)


def _metrics(batch: Any, prefix: str) -> Iterator[tuple[str, Any]]:
    for name, metrics in (batch["observedMetrics"] or {}).items():
        if name.startswith(prefix):
            yield name.removeprefix(prefix), metrics
