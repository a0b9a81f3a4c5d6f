"""Memos: what several expressions need, made when first asked for, and kept."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

Key = TypeVar("Key", bound=Hashable)
Thing = TypeVar("Thing")


class Memo(Generic[Key, Thing]):
    """Things of one type by key, each made once.

    >>> squares: Memo[int, int] = Memo()
    >>> squares.once(3, lambda: 9), squares.once(3, lambda: 10), squares.again()
    (9, 9, set())
    >>> squares.turn()
    >>> squares.once(3, lambda: 9), squares.once(4, lambda: 16), squares.again()
    (9, 16, {3})
    """

    def __init__(self) -> None:
        self._made: dict[Key, Thing] = {}
        self._now: set[Key] = set()  # what was asked for since the last turn
        self._before: set[Key] = set()

    def once(self, key: Key, make: Callable[[], Thing]) -> Thing:
        """What was made under a key before, or is made now."""
        self._now.add(key)
        if key not in self._made:
            self._made[key] = make()
        return self._made[key]

    def forget(self) -> None:
        """Let go of all that was made."""
        self._made.clear()

    def turn(self) -> None:
        """Begin another expression."""
        self._before |= self._now
        self._now.clear()

    def again(self) -> set[Key]:
        """The keys that were asked for since the last turn, and before it, too."""
        return self._now & self._before
