"""How far a pipeline is: a bar on a terminal, lines elsewhere, objects for machines; and the summary at the end."""

from __future__ import annotations

import json
import math
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

from rich import box
from rich.markup import escape
from rich.progress import Progress as Bars
from rich.progress import SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.table import Table

from sash.cli import output
from sash.cli.app import errors
from sash.cli.waiting import StageColumn, stage
from sash.pipelines import SHOWN, Progress, Reporter, Summary, Written

EVERY = 5.0  # seconds between two lines of a log


@contextmanager
def reporter_of(as_json: bool, log: Path) -> Iterator[Reporter]:
    """Who tells how far it is: to machines, to a terminal, or to a log."""
    if as_json:
        with Pulse(Machine(), log) as pulse:
            yield pulse
    elif errors.is_terminal:
        columns = SpinnerColumn(), TextColumn("{task.description}"), StageColumn(log), TimeElapsedColumn()
        with Bars(*columns, console=errors) as bars:
            yield Terminal(bars)
    else:
        with Pulse(Log(), log) as pulse:
            yield pulse


class Pulse(Reporter):
    """Lets another reporter tell every few seconds that a sink goes on, as long as it is told nothing itself."""

    def __init__(self, reporter: Machine | Log, log: Path) -> None:
        self._reporter, self._log = reporter, log
        self._sink: str | None = None
        self._begin = 0.0
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._beat, daemon=True)

    def __enter__(self) -> Pulse:
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._over.set()

    def _beat(self) -> None:
        while not self._over.wait(EVERY):
            sink = self._sink
            if sink is not None:
                self._reporter.goes_on(sink, time.monotonic() - self._begin, *stage(self._log))

    def began(self, sink: str) -> None:
        """Begin to tell of a sink."""
        self._reporter.began(sink)
        self._sink, self._begin = sink, time.monotonic()

    def moved(self, progress: Progress) -> None:
        """Leave it to what is told of a stream."""
        self._sink = None
        self._reporter.moved(progress)

    def show(self, sink: str, rows: Any) -> None:
        """Pass rows on."""
        self._reporter.show(sink, rows)

    def ended(self, written: Written) -> None:
        """End to tell of a sink."""
        self._sink = None
        self._reporter.ended(written)


class Machine(Reporter):
    """An object a line, on standard output."""

    def began(self, sink: str) -> None:
        """Tell that a sink is being written."""
        self._tell("began", sink=sink)

    def goes_on(self, sink: str, seconds: float, done: int, tasks: int) -> None:
        """Tell that a sink is still being written."""
        self._tell("going", sink=sink, seconds=round(seconds, 1), tasks_done=done, tasks=tasks)

    def moved(self, progress: Progress) -> None:
        """Tell how far a stream is."""
        self._tell("progress", **asdict(progress))

    def show(self, sink: str, rows: Any) -> None:
        """Give the rows of a console."""
        for row in rows.slice(0, SHOWN).to_pylist():
            self._tell("row", sink=sink, row=row)

    def ended(self, written: Written) -> None:
        """Tell that a sink is written."""
        self._tell("ended", **asdict(written))

    @staticmethod
    def _tell(event: str, **reporter: Any) -> None:
        print(json.dumps(_plain({"event": event, **reporter}), default=str), flush=True)


class Log(Reporter):
    """Lines on standard error, a stream's not more often than every few seconds."""

    def __init__(self) -> None:
        self._last: dict[str, float] = {}

    def began(self, sink: str) -> None:
        """Tell that a sink is being written."""
        self._tell(f"{sink}: began")

    def goes_on(self, sink: str, seconds: float, done: int, tasks: int) -> None:
        """Tell that a sink is still being written."""
        self._tell(f"{sink}: {seconds:.0f} s{f', {done} of {tasks} tasks of this stage' if tasks else ''}")

    def moved(self, progress: Progress) -> None:
        """Tell how far a stream is."""
        now = time.monotonic()
        if now - self._last.get(progress.sink, -EVERY) >= EVERY:
            self._last[progress.sink] = now
            self._tell(f"{progress.sink}: {words(progress)}")

    def show(self, sink: str, rows: Any) -> None:
        """Print the rows of a console."""
        output.said(f"\n{sink}", "bold")
        output.shown(rows, SHOWN, more="")

    def ended(self, written: Written) -> None:
        """Tell that a sink is written."""
        self._tell(f"{written.sink}: done in {written.seconds:.1f} s")

    def _tell(self, text: str) -> None:
        errors.print(text, markup=False, soft_wrap=True)


class Terminal(Log):
    """A line for each sink that moves."""

    def __init__(self, bars: Bars) -> None:
        super().__init__()
        self._bars = bars
        self._tasks: dict[str, Any] = {}

    def began(self, sink: str) -> None:
        """Show a line for a sink."""
        self._tasks[sink] = self._bars.add_task(f"{sink}: running", total=None)

    def moved(self, progress: Progress) -> None:
        """Show how far a stream is."""
        self._bars.update(self._tasks[progress.sink], description=f"{progress.sink}: {words(progress)}")

    def ended(self, written: Written) -> None:
        """Stop the clock of a line."""
        self._bars.stop_task(self._tasks[written.sink])


def words(progress: Progress) -> str:
    """How far a stream is, in words.

    >>> words(Progress("boards", rows_in=1200, answers=40, late=2, rate=399.6, lag=61.0))
    '1,200 rows, 40 windows answered, 2 late, 400 rows/s, watermark 1 min behind'
    """
    parts = [f"{progress.rows_in:,} rows"]
    if progress.answers is not None:
        parts.append(f"{progress.answers:,} windows answered")
    if progress.late is not None:
        parts.append(f"{progress.late:,} late")
    if progress.malformed:
        parts.append(f"{progress.malformed:,} malformed")
    parts.append(f"{progress.rate:,.0f} rows/s")
    if progress.lag is not None and progress.lag >= 1.0:
        parts.append(f"watermark {_span(progress.lag)} behind")
    return ", ".join(parts)


def _span(seconds: float) -> str:
    """A time that people can grasp."""
    for size, name in ((86_400, "days"), (3600, "h"), (60, "min")):
        if seconds >= size:
            return f"{seconds / size:,.0f} {name}"
    return f"{max(seconds, 0.0):.0f} s"


def _plain(value: Any) -> Any:
    """A value without numbers that JSON does not know."""
    if isinstance(value, dict):
        return {key: _plain(each) for key, each in value.items()}
    if isinstance(value, list):
        return [_plain(each) for each in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def summed(summary: Summary, as_json: bool) -> None:
    """Say what a run did."""
    if as_json:
        print(json.dumps({"event": "summary", **asdict(summary)}, default=str), flush=True)
        return
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
    for name, side in (("sink", "left"), ("from", "left"), ("rows", "right"), ("late", "right"), ("seconds", "right"),
                       ("where", "left")):  # fmt: skip
        table.add_column(name, justify=side, overflow="fold")  # type: ignore[arg-type]
    for each in summary.sinks:
        table.add_row(
            each.sink, each.taken, _number(each.rows), _number(each.late), f"{each.seconds:.1f}", escape(each.place)
        )
    output.console.print(table)
    word = "for" if summary.mode == "stream" else "of"
    read = ", ".join(f"{_number(rows)} {word} {name}" for name, rows in summary.rows_in.items() if rows is not None)
    ended = "stopped" if summary.stopped else "done"
    output.said(f"{summary.pipeline}: {ended} as a {summary.mode} in {summary.seconds:.1f} s"
                + (f"; rows read: {read}" if read else ""))  # fmt: skip
    for name, count in summary.malformed.items():
        output.said(f"{count:,} messages of {name} do not fit its schema: only sinks with late = true have them")


def _number(count: int | None) -> str:
    return "" if count is None else f"{count:,}"
