"""Tables of text and numbers, on a terminal and in Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any


def show(title: str, head: Sequence[Any], rows: Iterable[Sequence[Any]]) -> None:
    """Print a table with its columns aligned to the right."""
    cells = [[text(cell) for cell in row] for row in (head, *rows)]
    widths = [max(len(row[k]) for row in cells) for k in range(len(head))]
    print(f"\n{title}")
    for row in cells:
        print("  " + "  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True)), flush=True)


def markdown(head: Sequence[Any], rows: Iterable[Sequence[Any]]) -> str:
    """The same for a page."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(text(cell) for cell in line)} |" for line in lines)


def text(cell: Any) -> str:
    """A number with three digits that count, or what else a cell holds."""
    if cell is None:
        return ""
    if isinstance(cell, bool) or not isinstance(cell, int | float):
        return str(cell)
    if isinstance(cell, int) or abs(cell) >= 100:
        return f"{cell:,.0f}"
    return f"{cell:.3g}"
