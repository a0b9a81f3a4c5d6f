"""Which experiments there are: what can run of ``bench``'s ``papers``, ``peers``, ``studies`` and ``guards``.

A module is an experiment where it has ``TITLE`` and ``run(bench)``. ``QUICK = False`` keeps it out of the quick set.
"""

from __future__ import annotations

import ast
import importlib
import importlib.util
import pkgutil
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.harness.experiment import Bench

ROOMS = ("papers", "peers", "studies", "guards")


@dataclass(frozen=True)
class Experiment:
    """One figure or table of a paper, one comparison with peers, one study, or one guard."""

    title: str
    run: Callable[[Bench], None]


def names() -> list[str]:
    """The names of all experiments, in the order of the papers; nothing of them is imported."""
    found = []
    for room in ROOMS:
        package = importlib.import_module(f"bench.{room}")
        for module in pkgutil.walk_packages(package.__path__, f"bench.{room}."):
            last = module.name.rpartition(".")[2]
            if not module.ispkg and not last.startswith("_"):
                found.append(module.name.removeprefix("bench."))
    return sorted(found, key=_numbered)


def experiment(name: str) -> Experiment:
    """An experiment by its name."""
    module = importlib.import_module(f"bench.{name}")
    return Experiment(module.TITLE, module.run)


def constants(name: str) -> dict[str, Any]:
    """The plain constants of an experiment's module, such as TITLE and QUICK, read from its source."""
    spec = importlib.util.find_spec(f"bench.{name}")
    if spec is None or spec.origin is None:
        raise LookupError(f"there is no experiment {name!r}")
    found = {}
    for node in ast.parse(Path(spec.origin).read_text()).body:
        if (
            isinstance(node, ast.Assign)
            and isinstance(node.value, ast.Constant)
            and isinstance(node.targets[0], ast.Name)
        ):
            found[node.targets[0].id] = node.value.value
    return found


def chosen(wanted: list[str]) -> list[str]:
    """The experiments named by these, or by a whole part of their names (``peers``, ``figure9``); all for none."""
    every = names()
    for part in wanted:
        if not any(_named(name, part) for name in every):
            raise LookupError(f"there is no experiment {part!r}; `sash bench list` says which there are")
    return [name for name in every if not wanted or any(_named(name, part) for part in wanted)]


def _named(name: str, part: str) -> bool:
    return f".{part}." in f".{name}."


def _numbered(name: str) -> list[tuple[int, str | int]]:
    room = ROOMS.index(name.partition(".")[0])
    return [(0, room), *((0, int(part)) if part.isdigit() else (1, part) for part in re.split(r"(\d+)", name))]
