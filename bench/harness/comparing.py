"""What moved between two results beyond the noise.

A time moved where the two sets of five values do not overlap and their medians differ by a tenth and more; two runs of
unchanged code on an even machine do so once in 126 times at most, and how many that may be by chance is said. Counts
and bytes do not depend on how busy the machine is, and move by far less; exponents by a difference. What nobody here
wrote shows how the machine itself moved: times are divided by the median movement of the peers, those of the same
experiment where it has some.
"""

from __future__ import annotations

import math
import statistics
from dataclasses import dataclass, field
from typing import Any

THRESHOLD, LEAST = 1.1, 5  # of times, and how many values they need
CHANCE = 2 / math.comb(2 * LEAST, LEAST)  # that two sets of values of one kind do not overlap
TIMES = ("s", "ns", "µs")
EXACT = {"instructions": 1.01, "combines": 1.0, "steps": 1.0, "partials": 1.0, "bytes": 1.02, "error": 8.0}
EXPONENT = 0.1
PEERS = ("Spark", "DuckDB", "Polars", "pandas", "bottleneck", "numbagg", "River", "Bytewax",
         "python", "import numpy", "first answer of Polars")  # fmt: skip


Name = tuple[str, bool, str]
"""The experiment, whether it was a full run, and what was measured."""


@dataclass(frozen=True)
class Move:
    """A measurement that moved: the median before and after, and how many times as much that is."""

    name: str
    unit: str
    before: float
    after: float
    ratio: float


@dataclass(frozen=True)
class Comparison:
    """What of Sash two results compare, what moved, the largest first, and what only one of them has."""

    count: int
    moves: list[Move]
    drift: float | None  # how many times as long the peers took; None where too few tell
    gone: list[Name] = field(default_factory=list)
    new: list[Name] = field(default_factory=list)
    elsewhere: list[str] = field(default_factory=list)  # in what the machines, or what is on them, differ

    @property
    def by_chance(self) -> float:
        """How many moves of times there may be where nothing moved."""
        return self.count * CHANCE


def compare(before: dict[str, Any], after: dict[str, Any]) -> Comparison:
    """Compare two results, experiments of one size with each other."""
    old, new = (_measured(result) for result in (before, after))
    common = [name for name in old if name in new]
    peers = [name for name in common if _is_peer(name)]
    drift = _drift([(old[name], new[name]) for name in peers], least=4)
    judged = [name for name in common if not _is_peer(name) and _comparable(old[name], new[name])]
    local = {
        experiment: _drift([(old[name], new[name]) for name in peers if name[0] == experiment], least=2)
        for experiment in {name[0] for name in judged}
    }
    found = [_move(name, old[name], new[name], local[name[0]] or drift or 1.0) for name in judged]
    moves = sorted((move for move in found if move), key=lambda move: -abs(math.log(move.ratio)))
    gone, added = ([name for name in one if name not in other] for one, other in ((old, new), (new, old)))
    shared = [name for name in before if name in after]
    elsewhere = dict.fromkeys(each for name in shared for each in _elsewhere(before[name], after[name]))
    return Comparison(len(judged), moves, drift, gone, added, list(elsewhere))


def _elsewhere(before: dict[str, Any], after: dict[str, Any]) -> list[str]:
    old, new = (each.get("machine", {}) for each in (before, after))
    old, new = ({**each.get("versions", {}), **each} for each in (old, new))
    same = [name for name in old if name in new and name not in ("versions", "commit", "changed", "when")]
    return [f"{name}: {old[name]}, then {new[name]}" for name in same if old[name] != new[name]]


def _measured(result: dict[str, Any]) -> dict[Name, dict[str, Any]]:
    return {
        (name, found["full"], what): measured
        for name, found in result.items()
        for what, measured in found.get("measured", {}).items()
    }


def _comparable(old: dict[str, Any], new: dict[str, Any]) -> bool:
    """Whether a movement would be seen: a time needs some values, a count has no noise."""
    unit = old["unit"]
    return unit == "exponent" or unit in EXACT or min(len(old["values"]), len(new["values"])) >= LEAST


def _move(name: Name, old: dict[str, Any], new: dict[str, Any], drift: float) -> Move | None:
    unit = old["unit"]
    was, now = old["values"], [value / (drift if unit in TIMES else 1.0) for value in new["values"]]
    before, after = statistics.median(was), statistics.median(now)
    move = Move(f"{name[0]}: {name[2]}", unit, before, after, after / before if min(before, after) > 0 else math.inf)
    if unit == "exponent":
        return move if abs(after - before) > EXPONENT else None
    apart = min(now) > max(was) or max(now) < min(was)
    return move if apart and max(move.ratio, 1 / move.ratio) > EXACT.get(unit, THRESHOLD) else None


def _drift(pairs: list[tuple[dict[str, Any], dict[str, Any]]], least: int) -> float | None:
    ratios = [
        statistics.median(new["values"]) / statistics.median(old["values"])
        for old, new in pairs
        if old["unit"] in TIMES
    ]
    return statistics.median(ratios) if len(ratios) >= least else None


def _is_peer(name: Name) -> bool:
    return name[2].startswith(PEERS)
