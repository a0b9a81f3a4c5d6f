"""What Spark calls expressions with window calls that nobody named: Spark itself is asked, where it has the calls."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Listed:
    """An expression of a list as Spark may read it: its text, how many columns it is, and whether its name is asked."""

    text: str
    width: int = 1
    asked: bool = False


def names(items: Sequence[Listed], columns: Callable[[str], Sequence[str] | None]) -> dict[int, str]:
    """What Spark calls the expressions that are asked about, by their numbers in the list; others are left out.

    ``columns`` gives the columns of a select with a list, and None where Spark does not accept it.

    >>> names([Listed("a"), Listed("sum(b) OVER w", asked=True)], lambda text: ["a", "sum(b) OVER (ORDER BY a …)"])
    {1: 'sum(b) OVER (ORDER BY a …)'}
    """
    numbers = [number for number, each in enumerate(items) if each.asked]
    if not numbers:
        return {}
    known = _known(items, numbers, columns)
    if known is None and len(numbers) > 1:  # what Spark does not have is not to keep it from the rest
        alone = [_known(items, [number], columns) or {} for number in numbers]
        return {number: name for each in alone for number, name in each.items()}
    return known or {}


def _known(
    items: Sequence[Listed], numbers: list[int], columns: Callable[[str], Sequence[str] | None]
) -> dict[int, str] | None:
    listed = ["NULL" if each.asked and number not in numbers else each.text for number, each in enumerate(items)]
    names = columns(", ".join(listed))
    if names is None or len(names) != sum(each.width for each in items):
        return None
    return {number: names[sum(each.width for each in items[:number])] for number in numbers}
