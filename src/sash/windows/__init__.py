"""Which rows: windows as a user writes them, frames, and the bounds they become.

Kernels need bounds alone: what a user writes, and the expressions in it, are imported when first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sash.windows.bounds import Bounds
    from sash.windows.frame import Bound, Frame
    from sash.windows.intervals import Interval
    from sash.windows.over import Over
    from sash.windows.window import Window, WindowSpec, as_window

_HOMES = {
    "Bound": "frame",
    "Bounds": "bounds",
    "Frame": "frame",
    "Interval": "intervals",
    "Over": "over",
    "Window": "window",
    "WindowSpec": "window",
    "as_window": "window",
}

__all__ = ["Bound", "Bounds", "Frame", "Interval", "Over", "Window", "WindowSpec", "as_window"]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'sash.windows' has no attribute {name!r}")
    globals()[name] = thing = getattr(import_module(f"sash.windows.{_HOMES[name]}"), name)
    return thing
