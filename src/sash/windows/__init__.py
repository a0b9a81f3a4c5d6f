"""Which rows: windows as a user writes them, frames, and the bounds they become."""

from __future__ import annotations

from sash.windows.bounds import Bounds
from sash.windows.frame import Bound, Frame
from sash.windows.intervals import Interval
from sash.windows.over import Over
from sash.windows.window import Window, WindowSpec, as_window

__all__ = ["Bound", "Bounds", "Frame", "Interval", "Over", "Window", "WindowSpec", "as_window"]
