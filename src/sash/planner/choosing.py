"""Which algorithm runs a task, and why: the cheapest of those that can, or the one named."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sash.errors import Refused, SashError
from sash.kernels.algorithm import Algorithm, Task
from sash.planner.declared import algorithms, names

ON_SPARK = "spark"  # Spark's own window operator, which the room of Spark declares


@dataclass(frozen=True)
class Choice:
    """The algorithm that runs, what it costs in seconds on one thread if that is known, and what else there was."""

    algorithm: Algorithm
    seconds: float | None = 0.0
    others: tuple[str, ...] = ()
    by_using: bool = False  # whether the user named it

    @property
    def name(self) -> str:
        """Its name."""
        return self.algorithm.name

    @property
    def words(self) -> str:
        """What it does."""
        return self.algorithm.words

    def run(self, *arguments: Any) -> Any:
        """Run it; each operation has arguments of its own."""
        return self.algorithm.run(*arguments)

    def __str__(self) -> str:
        why = "as asked" if self.by_using else "; ".join(self.others)
        time = "" if self.seconds is None else f"; {_time(self.seconds)}"
        return f"{self.name}: {self.words}{time}" + (f" ({why})" if why else "")


def choose(tasks: Sequence[Task], using: str | None = None) -> list[Choice]:
    """An algorithm for each operation of one expression: the cheapest, or the one named where it can."""
    if using is None:
        return [cheapest(task) for task in tasks]
    if using not in names():
        elsewhere = f"or {ON_SPARK}, which answers DataFrames of Spark"
        raise SashError(f"using must be one of {', '.join(names())}, {elsewhere}, got {using!r}")
    named = [_named(task, using) for task in tasks]
    if not any(named):
        can = sorted({each.name for task in tasks for each in algorithms(task.operation)})
        operations = " and ".join(dict.fromkeys(task.operation for task in tasks))
        raise Refused(f"{using} does not answer a {operations}; there are {', '.join(can)}")
    return [choice or cheapest(task) for choice, task in zip(named, tasks, strict=True)]


def _named(task: Task, using: str) -> Choice | None:
    for each in algorithms(task.operation):
        if each.name == using:
            if reason := each.refusal(task):
                raise Refused(f"{using} {reason}")
            return Choice(each, _seconds(each, task), by_using=True)
    return None


def cheapest(task: Any) -> Choice:
    """The cheapest of the algorithms that can; of those that cannot, the reasons."""
    able, unable = [], []
    offered = [one for each in algorithms(task.operation) if each.offered for one in each.variants or (each,)]
    for cost, each in sorted(((each.cost(task), each) for each in offered), key=lambda pair: pair[0]):
        reason = each.refusal(task)
        if reason is None:
            able.append((cost, each))
        else:
            unable.append(f"{each.name} {reason}")
    if not able:
        raise Refused(f"a {task.operation} cannot be answered over these frames: {'; '.join(unable)}")
    dearer = [f"{each.name} would take {_time(_seconds(each, task))}" for _, each in able[1:2]]
    return Choice(able[0][1], _seconds(able[0][1], task), (*dearer, *unable))


def _seconds(algorithm: Algorithm, task: Any) -> float:
    return algorithm.cost(task) * task.length * 1e-9


def _time(seconds: float) -> str:
    if seconds < 0.001:
        return "under a millisecond"
    return f"about {seconds * 1000:.0f} ms" if seconds < 1 else f"about {seconds:.1f} s"
