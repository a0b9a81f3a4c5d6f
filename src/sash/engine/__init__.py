"""Arrow in, Arrow out: window expressions evaluated on tables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sash.engine.slide import slide

if TYPE_CHECKING:
    from sash.engine.sliding_window import SlidingWindow

__all__ = ["SlidingWindow", "slide"]


def __getattr__(name: str) -> Any:
    """Import what most queries do without when it is asked for."""
    if name != "SlidingWindow":
        raise AttributeError(f"sash.engine has no {name}")
    from sash.engine.sliding_window import SlidingWindow

    return SlidingWindow
