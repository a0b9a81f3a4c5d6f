"""What one measurement is: repeated times of tasks that take turns, a growth exponent, a peak of memory."""

from __future__ import annotations

import gc
import json
import math
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

REPEAT = 5


@dataclass(frozen=True)
class Timing:
    """The times of one task, in seconds."""

    values: tuple[float, ...]

    @property
    def median(self) -> float:
        return statistics.median(self.values)

    @property
    def spread(self) -> float:
        """The slowest over the fastest."""
        return max(self.values) / min(self.values)


class Stopped(Exception):
    """A task took longer than its limit, in seconds, and was stopped."""

    def __init__(self, limit: float) -> None:
        super().__init__(f"stopped after {limit:g} s")
        self.limit = limit


def once(task: Callable[[], Any]) -> float:
    """The time of one run."""
    start = time.perf_counter()
    task()
    return time.perf_counter() - start


def alternating(
    tasks: Mapping[str, Callable[[], Any]], repeat: int = REPEAT, patience: float = math.inf
) -> dict[str, Timing]:
    """The times of tasks that take turns, so that a busy moment of the machine meets all alike.

    Each runs once to warm up; one that takes longer than ``patience`` seconds then, or is ever stopped, is left out.
    """
    kept = {name: task for name, task in tasks.items() if (took := _run(task)) is not None and took <= patience}
    times: dict[str, list[float]] = {name: [] for name in kept}
    gc.collect()
    gc.disable()
    try:
        for _ in range(repeat):
            for name in list(kept):
                took = _run(kept[name])
                if took is None:
                    del kept[name]
                else:
                    times[name].append(took)
    finally:
        gc.enable()
    return {name: Timing(tuple(times[name])) for name in kept}


def _run(task: Callable[[], Any]) -> float | None:
    """The time of one run, or None where it was stopped."""
    try:
        return once(task)
    except Stopped:
        return None


def growth(costs: Mapping[float, float]) -> float:
    """The exponent b of cost = a · size^b, fitted by least squares over the logarithms of at least four sizes."""
    if len(costs) < 4:
        raise ValueError(f"growth needs at least four sizes, not {len(costs)}")
    return statistics.linear_regression([math.log(x) for x in costs], [math.log(y) for y in costs.values()]).slope


def peak_memory(function: str, *arguments: Any, repeat: int = REPEAT) -> list[int]:
    """Peaks of memory, in bytes, of fresh processes that call ``package.module:function`` with plain arguments."""
    command = [sys.executable, "-m", "bench.harness.fresh", function, json.dumps(arguments)]
    return [int(_output(command)) for _ in range(repeat)]


def _output(command: Sequence[str]) -> str:
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout.split()[-1]
