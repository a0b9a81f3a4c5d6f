"""What the demo says in a terminal: what is running now, and what came of it."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Protocol

from rich import box
from rich.console import Console
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.table import Table

from sash.cli.demo.parts import Answers, DemoPart, Timing

ROWS = 8  # of a table of answers


class Teller(Protocol):
    """Who is told what is running."""

    def step(self, what: str) -> AbstractContextManager[None]:
        """Say what is running until it is not."""


@contextmanager
def teller(console: Console) -> Iterator[Teller]:
    """A line that moves on a terminal, lines of a log elsewhere."""
    if not console.is_terminal:
        yield Lines(console)
        return
    columns = SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn()
    with Progress(*columns, console=console, transient=True) as bars:
        yield Bars(bars)


class Lines:
    """A line as each step begins, with the seconds since the first."""

    def __init__(self, console: Console) -> None:
        self._console, self._begin = console, time.monotonic()

    @contextmanager
    def step(self, what: str) -> Iterator[None]:
        """Say what is running until it is not."""
        line = f"{time.monotonic() - self._begin:6.1f} s  {what}"
        self._console.print(line, markup=False, highlight=False, soft_wrap=True)
        yield


class Bars:
    """The whole, and below it what is running now, each with its time."""

    def __init__(self, bars: Progress) -> None:
        self._bars = bars
        bars.add_task("sash demo", total=None)

    @contextmanager
    def step(self, what: str) -> Iterator[None]:
        """Say what is running until it is not."""
        task = self._bars.add_task(what, total=None)
        try:
            yield
        finally:
            self._bars.remove_task(task)


def tell(console: Console, part: DemoPart) -> None:
    """Print a part: its question, its answers, its timings."""
    console.print(f"\n[bold]{part.title}[/]")
    console.print(part.question, markup=False)
    console.print(f"{part.name}.toml {part.ran}", style="dim", markup=False)
    for each in part.answers:
        console.print(_answers(each))
    if part.timings:
        console.print(_timings(part.timings))


def _answers(answers: Answers) -> Table:
    table = _table(answers.title)
    for heading in answers.head:
        table.add_column(heading, justify="left" if heading in answers.words else "right")
    for row in answers.rows[:ROWS]:
        table.add_row(*row)
    return table


def _timings(timings: list[Timing]) -> Table:
    table = _table("Beside Spark’s own")
    for heading in ("question", "Sash", "Spark", "Spark / Sash", "note"):
        table.add_column(heading, justify="left" if heading in ("question", "note") else "right")
    for each in timings:
        table.add_row(each.question, seconds(each.sash), seconds(each.spark), times(each), each.note)
    return table


def _table(title: str) -> Table:
    return Table(
        title=title, title_justify="left", title_style="", box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False
    )


def seconds(took: float | None) -> str:
    """A time.

    >>> seconds(0.612), seconds(12.34), seconds(None)
    ('0.61 s', '12.3 s', '')
    """
    return "" if took is None else f"{took:.1f} s" if took >= 10 else f"{took:.2f} s"


def times(timing: Timing) -> str:
    """How many times as long Spark takes."""
    return "" if timing.times is None else f"{timing.times:.1f}"
