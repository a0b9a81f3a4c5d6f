"""The expressions of one window, checked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from sash.algebra import Over
from sash.errors import SashError
from sash.windows import as_window
from sash.windows.window import WindowSpec


def opened(columns: Mapping[str, Over]) -> tuple[dict[str, Over], WindowSpec]:
    """The expressions, and the partition and order that they share."""
    checked = {name: replace(over, window=as_window(over.window).checked()) for name, over in columns.items()}
    windows = {(over.window.partition_key, over.window.order_key): over.window for over in checked.values()}
    if len(windows) > 1:
        raise SashError(f"columns cut into pieces together must have one partition and order, got {len(windows)}")
    return checked, next(iter(windows.values()), WindowSpec())
