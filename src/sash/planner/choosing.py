"""Which algorithm answers a task, and why."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sash.errors import Refused, SashError
from sash.planner.algorithms import ALGORITHMS, COUNT, NAMES, SELECT, Algorithm, Task


@dataclass(frozen=True)
class Choice:
    """An algorithm, what it costs in seconds on one thread, and what else there was."""

    name: str
    words: str
    seconds: float
    others: tuple[str, ...] = ()
    asked: bool = False  # whether the user named it

    def __str__(self) -> str:
        why = "as asked" if self.asked else "; ".join(self.others)
        return f"{self.name}: {self.words}; {_time(self.seconds)}" + (f" ({why})" if why else "")


def choose(tasks: Sequence[Task], using: str | None = None) -> list[Choice]:
    """An algorithm for each question of one expression: the cheapest, or the one named where it can."""
    if using is None:
        return [_cheapest(task) for task in tasks]
    if using not in NAMES:
        raise SashError(f"using must be one of {', '.join(NAMES)}, got {using!r}")
    named = [_named(task, using) for task in tasks]
    if not any(named):
        can = sorted({each.name for task in tasks for each in ALGORITHMS if each.question == task.question})
        questions = " and ".join(dict.fromkeys(task.question for task in tasks))
        raise Refused(f"{using} does not answer a {questions}; there are {', '.join(can)}")
    return [choice or _cheapest(task) for choice, task in zip(named, tasks, strict=True)]


def _named(task: Task, using: str) -> Choice | None:
    found = [each for each in ALGORITHMS if each.question == task.question and each.name == using]
    if not found:
        return None
    reason = _refusal(found[0], task)
    if reason:
        raise Refused(f"{using} {reason}")
    return _choice(found[0], task, (), asked=True)


def _cheapest(task: Task) -> Choice:
    able, unable = [], []
    for each in ALGORITHMS:
        if each.question == task.question and each.offered:
            reason = _refusal(each, task)
            if reason is None:
                able.append(each)
            else:
                unable.append(f"{each.name} {reason}")
    if not able:
        raise Refused(f"a {task.question} cannot be answered over these frames: {'; '.join(unable)}")
    able.sort(key=lambda each: each.cost(task))
    dearer = [f"{each.name} would take {_time(_seconds(each, task))}" for each in able[1:2]]
    return _choice(able[0], task, (*dearer, *unable))


def _refusal(algorithm: Algorithm, task: Task) -> str | None:
    if algorithm.question in (SELECT, COUNT) and not task.ordered and algorithm.name != "window_order":
        return "needs an order of the function's own"
    return algorithm.refuses(task)


def _choice(algorithm: Algorithm, task: Task, others: tuple[str, ...], asked: bool = False) -> Choice:
    return Choice(algorithm.name, algorithm.words, _seconds(algorithm, task), others, asked)


def _seconds(algorithm: Algorithm, task: Task) -> float:
    return algorithm.cost(task) * max(task.frames, task.rows) * 1e-9


def _time(seconds: float) -> str:
    if seconds < 0.001:
        return "under a millisecond"
    return f"about {seconds * 1000:.0f} ms" if seconds < 1 else f"about {seconds:.1f} s"
