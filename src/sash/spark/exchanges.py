"""Which window expressions need their rows together, and so share one shuffle."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from sash.algebra import Over
from sash.errors import SashWarning
from sash.spark.ranged import distributable

HASHED, RANGED, ALONE = "hashed", "ranged", "alone"


@dataclass(frozen=True)
class Exchange:
    """Window expressions whose rows are brought together at once, and how.

    Hashed: rows that are equal in the keys go to one task. Ranged: rows are cut into pieces by partition and order.
    Alone: all rows go to one task.
    """

    how: str
    columns: dict[str, Over] = field(default_factory=dict)

    @property
    def key_names(self) -> list[str]:
        """The partition keys that all the expressions have."""
        return [key.path[0] for key in min((over.window.partition for over in self.columns.values()), key=len)]

    def __str__(self) -> str:
        if self.how == HASHED:
            return f"rows shuffled by {', '.join(self.key_names)}"
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

    def cut(name: str, over: Over) -> None:
        key = (over.window.partition_key, over.window.order_key)
        ranged.setdefault(key, Exchange(RANGED)).columns[name] = over

    for name, over in sorted(columns.items(), key=lambda item: len(item[1].window.partition)):
        keys = frozenset(over.window.partition_key)
        if keys:
            fewer = next((known for known in hashed if known <= keys), keys)
            hashed.setdefault(fewer, Exchange(HASHED)).columns[name] = over
        elif distributable(over):
            cut(name, over)
        else:
            alone.columns[name] = over
    for keys, exchange in list(hashed.items()):
        able = {name: over for name, over in exchange.columns.items() if over.window.order and distributable(over)}
        if able and skewed(exchange):
            for name, over in able.items():
                cut(name, over)
            rest = {name: over for name, over in exchange.columns.items() if name not in able}
            hashed[keys] = replace(exchange, columns=rest)
    found = [*hashed.values(), *ranged.values(), alone]
    return [exchange for exchange in found if exchange.columns]


def warn_of(exchange: Exchange) -> None:
    """Tell the user which expressions bring all rows to one task."""
    for name, over in exchange.columns.items():
        warnings.warn(
            f"{name}: {over.call} over ({over.window!r}) cannot be computed in pieces, so that all rows go to one "
            "task; a partitionBy, or a frame bounded on both sides, would change that",
            SashWarning,
            stacklevel=6,
        )
