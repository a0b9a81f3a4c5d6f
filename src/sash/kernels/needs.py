"""What algorithms need of a task: each says why it is not so, in words that go behind the name of an algorithm."""

from __future__ import annotations

from typing import Any

from sash.kernels.algorithm import Need, Task


def forward(task: Task) -> str | None:
    """Frames whose bounds only move right."""
    return None if task.forward else "needs frames that only move forward"


def no_exclude(task: Task) -> str | None:
    """Frames without holes."""
    return "needs frames without EXCLUDE" if task.holes else None


def at_most(rows: int) -> Need:
    """Frames of so many rows at most."""

    def small(task: Task) -> str | None:
        return None if task.widest <= rows else f"needs frames of at most {rows:,} rows, not {task.widest:,}"

    return small


def own_order(task: Task) -> str | None:
    """Rows that are ranked by an order of the function."""
    return None if task.ordered else "needs an order of the function's own"


def windows_order(task: Task) -> str | None:
    """Rows in the order of the window."""
    return "needs the window's own order" if task.ordered else None


def invertible(task: Any) -> str | None:
    """Partials that can be taken away again."""
    return None if task.aggregate.invertible else f"needs an invertible aggregate; {task.aggregate.name} has no inverse"


def selective(task: Any) -> str | None:
    """An aggregate of which duplicates do no harm."""
    if task.aggregate.selective:
        return None
    return f"needs a selective aggregate; {task.aggregate.name} keeps more than one of its inputs"


def selective_or_invertible(task: Any) -> str | None:
    """Either of them."""
    if task.aggregate.selective or task.aggregate.invertible:
        return None
    return f"needs an invertible or a selective aggregate; {task.aggregate.name} is neither"


def commutative(task: Any) -> str | None:
    """Partials that may be combined in any order."""
    return None if task.aggregate.commutative else f"needs a commutative aggregate; {task.aggregate.name} is not"


def exact(task: Task) -> str | None:
    """Partials of whole numbers, where the planner may take it unasked."""
    return None if task.exact else "needs an exact aggregate: no default path subtracts floats"


def exact_partials(task: Any) -> str | None:
    """Partials of whole numbers, whoever asks."""
    if task.exact:
        return None
    return f"needs exact partials; those of {task.aggregate.name} are floats, whose differences drift"


def exact_or_selective(task: Any) -> str | None:
    """Partials of whole numbers, or none that are taken away."""
    return None if task.aggregate.selective else exact_partials(task)
