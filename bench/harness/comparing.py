"""What moved between two results beyond the noise.

A measurement moved where the two sets of values do not overlap and their medians differ by a tenth and more. Two
runs of unchanged code pass that by chance about once in a hundred (five values each). What nobody here
wrote shows how the machine itself moved: times are divided by the median movement of the peers.
"""

from __future__ import annotations

import math
import statistics
from dataclasses import dataclass
from typing import Any

THRESHOLD = 1.1
EXACT = {"instructions": 1.01, "combines": 1.0, "bytes": 1.02}  # units that do not depend on how busy the machine is
PEERS = ("Spark", "DuckDB", "Polars", "pandas", "bottleneck", "numbagg", "River", "Bytewax")


@dataclass(frozen=True)
class Move:
    """A measurement that moved: the median before, the median after, and how many times as much that is."""

    name: str
    unit: str
    before: float
    after: float
    ratio: float


def compare(before: dict[str, Any], after: dict[str, Any]) -> tuple[list[Move], float, int]:
    """The moves, the largest first; how many times as long the peers took; how many measurements both have."""
    pairs = [
        (f"{name}: {what}", what, old, after[name]["measured"][what])
        for name in before
        if name in after and before[name]["full"] == after[name]["full"]
        for what, old in before[name].get("measured", {}).items()
        if what in after[name].get("measured", {})
    ]
    drift = _drift([(old, new) for _, what, old, new in pairs if _is_peer(what)])
    moves = [move for name, what, old, new in pairs if not _is_peer(what) and (move := _move(name, old, new, drift))]
    return sorted(moves, key=lambda move: -abs(math.log(move.ratio))), drift, len(pairs)


def _move(name: str, old: dict[str, Any], new: dict[str, Any], drift: float) -> Move | None:
    unit = old["unit"]
    exact = EXACT.get(unit)
    scale = drift if unit == "s" else 1.0
    was, now = old["values"], [value / scale for value in new["values"]]
    before, after = statistics.median(was), statistics.median(now)
    if before <= 0 or after <= 0:
        return None
    ratio = after / before
    apart = min(now) > max(was) or max(now) < min(was)
    if apart and max(ratio, 1 / ratio) > (exact or THRESHOLD):
        return Move(name, unit, before, after, ratio)
    return None


def _drift(pairs: list[tuple[dict[str, Any], dict[str, Any]]]) -> float:
    ratios = [
        statistics.median(new["values"]) / statistics.median(old["values"]) for old, new in pairs if old["unit"] == "s"
    ]
    return statistics.median(ratios) if len(ratios) >= 4 else 1.0


def _is_peer(what: str) -> bool:
    return what.startswith(PEERS)
