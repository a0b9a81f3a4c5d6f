"""Which window expressions need their rows together, and so share one shuffle."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from sash import options
from sash.errors import SashWarning, outside
from sash.spark.ranged import distributable
from sash.windows.over import Over

HASHED, RANGED, ALONE = "hashed", "ranged", "alone"


@dataclass(frozen=True)
class Exchange:
    """Window expressions whose rows are brought together at once, and how.

    Hashed: rows that are equal in the keys, which all the expressions have, go to one task. Ranged: rows are cut into
    pieces by partition and order. Alone: all rows go to one task.
    """

    how: str
    keys: tuple[str, ...] = ()
    columns: dict[str, Over] = field(default_factory=dict)

    def __str__(self) -> str:
        if self.how == HASHED:
            return f"rows shuffled by {', '.join(self.keys)}"
        if self.how == RANGED:
            window = next(iter(self.columns.values())).window
            by = ", ".join(map(str, (*window.partition, *window.order)))
            return f"rows cut into pieces by {by}" if by else "rows cut into pieces, and their partials shared"
        return "all rows in one task"


def exchanges(columns: Mapping[str, Over], skewed: Callable[[Exchange], bool]) -> list[Exchange]:
    """As few exchanges as suffice: rows together by some keys are together by more keys, too."""
    hashed: dict[frozenset[Any], Exchange] = {}
    ranged: dict[Any, Exchange] = {}
    alone = Exchange(ALONE)
    for name, over in sorted(columns.items(), key=lambda item: len(item[1].window.partition)):
        window = over.window
        keys = frozenset(window.partition_key)
        if keys:
            fewer = next((known for known in hashed if known <= keys), keys)
            names = tuple(key.path[0] for key in window.partition)
            hashed.setdefault(fewer, Exchange(HASHED, names)).columns[name] = over
        elif distributable(over) and not asks_for_cuts(over):
            ranged.setdefault(window.order_key, Exchange(RANGED)).columns[name] = over
        else:
            alone.columns[name] = over
    apart = [part for exchange in hashed.values() for part in _apart(exchange, skewed)]
    return [exchange for exchange in (*apart, *ranged.values(), alone) if exchange.columns]


def asks_for_cuts(over: Over) -> bool:
    """Whether its rows could be cut into pieces, but for a job that the options forbid."""
    return bool(over.window.order) and not options.jobs and distributable(over)


def _apart(exchange: Exchange, skewed: Callable[[Exchange], bool]) -> list[Exchange]:
    """An exchange as it is, or where its keys are skewed, what can be cut apart by partition and order."""
    able = {name: over for name, over in exchange.columns.items() if over.window.order and distributable(over)}
    if not able or not skewed(exchange):
        return [exchange]
    rest = {name: over for name, over in exchange.columns.items() if name not in able}
    cut: dict[Any, Exchange] = {}
    for name, over in able.items():
        window = over.window
        names = tuple(key.path[0] for key in window.partition)
        cut.setdefault((window.partition_key, window.order_key), Exchange(RANGED, names)).columns[name] = over
    return [replace(exchange, columns=rest), *cut.values()]


def tie_breakers_of(exchange: Exchange, columns: Mapping[str, Over]) -> tuple[Over, ...]:
    """The expressions by which rows that tie in the windows of an exchange are told apart, its own among them."""

    def sorting(over: Over) -> Any:
        return over.window.partition_key, over.window.order_key

    mine = {sorting(over) for over in exchange.columns.values()}
    return tuple(over for over in columns.values() if sorting(over) in mine)


def warn_of(exchange: Exchange, is_described: bool = False) -> None:
    """Tell the user which expressions bring all rows to one task; where nothing may be read of a frame, that too."""
    usual = (
        "cannot be computed in pieces, so that all rows go to one task; a partitionBy, or a frame bounded on both "
        "sides, would change that"
    )
    end = "so that all rows go to one task; a partitionBy would change that"
    for name, over in exchange.columns.items():
        why = f"cannot be cut into pieces that nobody may look for, {end}" if is_described else usual
        if not is_described and asks_for_cuts(over):
            why = f"is cut into pieces by a job alone, which sash.options.jobs = False forbids, {end}"
        warnings.warn(f"{name}: {over.call} over ({over.window!r}) {why}", SashWarning, stacklevel=outside())
