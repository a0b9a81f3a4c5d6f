"""What a function of an aggregate may do with a tuple whose length is a parameter."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def replaced(state: tuple[Any, ...], index: int, value: Any) -> tuple[Any, ...]:
    """The tuple with one item replaced; in compiled functions, at a cost that does not grow with it.

    >>> replaced((1, 2, 3), 1, 9)
    (1, 9, 3)
    """
    return (*state[:index], value, *state[index + 1 :])


def elementwise(function: Callable[[Any, Any], Any], length: int) -> Callable[[Any, Any], Any]:
    """A ``combine`` of two tuples of one length, item by item, such as of registers by ``max``.

    It is written out: a compiled loop over tuples would take many times as long.

    >>> elementwise(max, 3)((1, 5, 0), (2, 2, 2))
    (2, 5, 2)
    """
    items = "".join(f"function(a[{i}], b[{i}]), " for i in range(length))
    combine: Callable[[Any, Any], Any] = eval(f"lambda a, b: ({items})", {"function": function})
    return combine
