"""Answers as tables in a terminal."""

from __future__ import annotations

from typing import Any

from rich import box
from rich.console import Console
from rich.markup import escape
from rich.table import Table

console = Console(highlight=False)


def said(text: str, style: str = "") -> None:
    """Print a text as it is."""
    console.print(text, style=style, markup=False, soft_wrap=True)


def shown(rows: Any, limit: int, more: str = ": \\l, or --limit, shows more of them") -> None:
    """Print an Arrow table; numbers to the right, NULLs dim, and a line where there are more rows."""
    import pyarrow as pa

    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
    for field in rows.schema:
        number = pa.types.is_integer(field.type) or pa.types.is_floating(field.type) or pa.types.is_decimal(field.type)
        table.add_column(escape(field.name), justify="right" if number else "left", overflow="fold")
    shown_rows = rows.slice(0, limit)
    columns = [column.to_pylist() for column in shown_rows.columns]
    for row in zip(*columns, strict=True):
        table.add_row(*map(_cell, row))
    console.print(table)
    more = f", and there are more{more}" if rows.num_rows > limit else ""
    count = min(rows.num_rows, limit)
    said(f"{count:,} row{'s' * (count != 1)}{more}", "dim")


def _cell(value: Any) -> str:
    return "[dim]NULL[/dim]" if value is None else escape(str(value))
