"""What tasks of Spark are called in its plans and its UI: by what they compute."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from sash.spark.hidden import plain
from sash.windows.over import Over

LONGEST = 100  # characters


def window_task(columns: Mapping[str, Over], word: str = "") -> str:
    """The name of a task that answers window expressions.

    >>> from sash import Window, functions as sf
    >>> task = {"m": sf.median("price").over(Window.partitionBy("symbol").orderBy("ts"))}
    >>> window_task(task)
    'sash: median(price) by symbol'
    """
    overs = list(columns.values())
    keys = dict.fromkeys(str(key) for key in overs[0].window.partition) if overs else {}
    return named(word, (each.call for each in overs), keys)


def board_task(board: Any, word: str = "") -> str:
    """The name of a task of a board."""
    return named(word, (each.call for each in board._queries), map(str, board._settings.key))


def named(word: str, calls: Iterable[Any], keys: Iterable[str]) -> str:
    """A name: what is done, of which calls, by which keys."""
    by = ", ".join(keys)
    text = " ".join(filter(None, [word, ", ".join(dict.fromkeys(map(str, calls))), f"by {by}" if by else ""]))
    text = plain(f"sash: {text}")
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"
