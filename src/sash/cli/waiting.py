"""How far Spark is with a stage, read from what it prints, and shown on a terminal as long as that takes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from rich.console import Console, RenderableType
from rich.progress import Progress as Bars
from rich.progress import ProgressColumn, SpinnerColumn, Task, TimeElapsedColumn
from rich.progress_bar import ProgressBar
from rich.text import Text


@contextmanager
def waiting(log: Path | None) -> Iterator[None]:
    """Show on a terminal how far Spark is, as long as it takes."""
    console = Console(stderr=True)
    if log is None or not console.is_terminal:
        yield
        return
    with Bars(SpinnerColumn(), StageColumn(log), TimeElapsedColumn(), console=console, transient=True) as bars:
        bars.add_task("")
        yield


class StageColumn(ProgressColumn):
    """How many tasks of its stage Spark has done, which it prints to its log."""

    def __init__(self, log: Path) -> None:
        self._log = log
        super().__init__()

    def render(self, task: Task) -> RenderableType:
        """The bar of a task that goes on."""
        done, count = stage(self._log) if task.stop_time is None else (0, 0)
        return ProgressBar(count, done, width=30) if count else Text("")


def stage(log: Path) -> tuple[int, int]:
    """The tasks that are done, and all tasks, of the last stage that Spark told of; zeros where it told none."""
    try:
        with log.open("rb") as file:
            file.seek(max(log.stat().st_size - 500, 0))
            stages = re.findall(rb"\((\d+) \+ \d+\) / (\d+)\]", file.read())
    except OSError:
        return 0, 0
    return (int(stages[-1][0]), int(stages[-1][1])) if stages else (0, 0)
