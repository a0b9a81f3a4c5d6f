"""One experiment while it runs: what it measures, draws and claims is printed, and kept for the report."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any

from bench.harness.measuring import REPEAT, Stopped, Timing, alternating
from bench.harness.tables import show

Lines = dict[str, dict[Any, float]]
"""Values by line and point of the axis."""


class Bench:
    """What an experiment's ``run`` is given.

    ``full`` says whether this is the run for a release; otherwise everything is small, and no claim is judged.
    """

    def __init__(self, name: str, full: bool) -> None:
        self.name, self.full = name, full
        self.measured: dict[str, dict[str, Any]] = {}
        self.claims: list[dict[str, Any]] = []
        self.figures: list[dict[str, Any]] = []
        self.tables: list[dict[str, Any]] = []
        self.duels: list[dict[str, Any]] = []

    def pick(self, full: Any, quick: Any) -> Any:
        """The first in a run for a release, the second otherwise."""
        return full if self.full else quick

    # Measuring

    def measure(
        self,
        tasks: Mapping[str, Callable[[], Any]],
        at: Any = "",
        *,
        patience: float = math.inf,
        repeat: int = REPEAT,
    ) -> dict[str, Timing]:
        """Times of tasks that take turns, kept by their names and by where on an axis they are (``at``)."""
        timings = alternating(tasks, repeat, patience)
        for name, timing in timings.items():
            self.record(_key(name, at), timing.values, "s")
        return timings

    def record(self, name: str, values: float | Sequence[float], unit: str) -> None:
        """Keep what was measured in another way: a count, bytes, nanoseconds."""
        listed = [values] if isinstance(values, int | float) else list(values)
        self.measured[name] = {"unit": unit, "values": [_rounded(float(value)) for value in listed]}

    def sweep(
        self,
        points: Iterable[Any],
        tasks_at: Callable[[Any], Mapping[str, Callable[[], Any]]],
        worth: Callable[[Any, float], float],
        *,
        patience: float = math.inf,
        panel: str = "",
        rounds: int = 0,
    ) -> Lines:
        """A line for each task over the points, each value being ``worth(point, seconds)``.

        A task that takes longer than ``patience`` seconds at a point is not tried at the later ones. Lines whose shape
        is judged take the fastest of so many ``rounds``: whatever else the machine does only adds to it.
        """
        lines: Lines = {}
        ended: set[str] = set()
        for point in points:
            tasks = {name: task for name, task in tasks_at(point).items() if name not in ended}
            timings = self.measure(tasks, _key(panel, point), patience=patience, repeat=rounds or REPEAT)
            ended |= set(tasks) - set(timings)
            for name, timing in timings.items():
                lines.setdefault(name, {})[point] = worth(point, min(timing.values) if rounds else timing.median)
        return lines

    def duel(
        self,
        task: str,
        ours: Callable[[], Any],
        theirs: Mapping[str, Callable[[], Any] | tuple[Callable[[], Any], Callable[[], Any]]],
        *,
        share: float = 1.0,
    ) -> None:
        """Sash and its peers at one task in turns.

        A peer that is too slow for all rows has two tasks: for a ``share`` of the rows, and for half of that. What all
        rows would take follows from the difference, so that what does not grow with rows is counted once.
        A peer that raises ``Stopped`` took longer than its limit, and its ratio is a lower bound.
        """
        limits: dict[str, float] = {}

        def guarded(peer: str, run: Callable[[], Any]) -> None:
            try:
                run()
            except Stopped as error:
                limits[peer] = error.limit
                raise

        tasks = {"Sash": ours}
        for peer, given in theirs.items():
            whole, half = given if isinstance(given, tuple) else (given, None)
            tasks[peer] = partial(guarded, peer, whole)
            if half:
                tasks[f"{peer}, half"] = partial(guarded, peer, half)
        timings = self.measure(tasks, task)
        mine = timings["Sash"].median
        for peer, given in theirs.items():
            other, mark = limits.get(peer) or timings[peer].median, ">" if peer in limits else ""
            if isinstance(given, tuple) and peer not in limits:
                grown = max(other - timings[f"{peer}, half"].median, 0.0) / (share / 2)
                other, mark = other + grown * (1 - share), "~"
            self.compared(task, mine, peer, other, mark)

    def compared(self, task: str, mine: float, peer: str, theirs: float, mark: str = "") -> None:
        """What Sash and a peer took for a task, in seconds of one run."""
        self.duels.append({"task": task, "sash": _rounded(mine), "peer": peer, "theirs": _rounded(theirs),
                           "ratio": _rounded(theirs / mine), "mark": mark})  # fmt: skip
        print(f"  {task}: Sash {mine:.3f} s, {peer} {theirs:.3f} s, ratio {mark}{theirs / mine:.2f}", flush=True)

    # Saying and drawing

    def claim(self, paper: str, here: str, holds: bool | None, why: str = "") -> None:
        """A claim of a paper, what comes out here and whether its shape holds, or None where nothing can tell.

        ``why`` says what makes the difference where it does not hold, or cannot be told; otherwise it is not kept.
        """
        why = "" if holds else why
        judged = bool(holds) if self.full and holds is not None else None
        self.claims.append({"paper": paper, "here": here, "holds": judged, "why": why})
        verdict = {None: "not judged", True: "the shape holds", False: "the shape does NOT hold"}[judged]
        print(f"  paper: {paper}\n  here:  {here}: {verdict}{f' ({why})' if why else ''}", flush=True)

    def table(self, title: str, head: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
        """A table of text and numbers."""
        cells = [[_rounded(cell) if isinstance(cell, float) else cell for cell in row] for row in rows]
        self.tables.append({"title": title, "head": list(head), "rows": cells})
        show(title, head, cells)

    def lines(
        self, title: str, panels: Mapping[str, Lines], x: str, y: str, *, xlog: bool = True, ylog: bool = True
    ) -> None:
        """A figure of lines; one panel a title, one axis of values for all."""
        kept = {
            panel: {
                name: [[_plain(point), _rounded(value)] for point, value in line.items()]
                for name, line in lines.items()
            }
            for panel, lines in panels.items()
        }
        self.figures.append(
            {"kind": "lines", "title": title, "panels": kept, "x": x, "y": y, "xlog": xlog, "ylog": ylog}
        )
        for panel, lines in panels.items():
            points = list(dict.fromkeys(point for line in lines.values() for point in line))
            if not any(isinstance(point, str) for point in points):
                points.sort()
            rows = [[_plain(point), *(line.get(point) for line in lines.values())] for point in points]
            show(f"{title}{f', {panel}' if panel else ''}: {y}", [x, *lines], rows)

    def bars(self, title: str, values: Mapping[str, float], x: str, *, log: bool = False) -> None:
        """A figure of bars."""
        kept = {name: _rounded(value) for name, value in values.items()}
        self.figures.append({"kind": "bars", "title": title, "values": kept, "x": x, "log": log})
        show(f"{title}: {x}", ["", x], list(kept.items()))

    def grid(self, title: str, values: Mapping[tuple[Any, Any], float], x: str, y: str) -> None:
        """A figure of coloured squares: values by column and row."""
        kept = [[_plain(column), _plain(row), _rounded(value)] for (column, row), value in values.items()]
        self.figures.append({"kind": "grid", "title": title, "values": kept, "x": x, "y": y})
        columns, rows = dict.fromkeys(c for c, _ in values), dict.fromkeys(r for _, r in values)
        show(
            f"{title}; across: {x}",
            [y, *map(str, columns)],
            [[r, *(values.get((c, r)) for c in columns)] for r in rows],
        )

    def kept(self) -> dict[str, Any]:
        """All of it, for JSON."""
        names = ("measured", "claims", "figures", "tables", "duels")
        return {name: getattr(self, name) for name in names if getattr(self, name)}


def _key(*parts: Any) -> str:
    return " @ ".join(str(_plain(part)) for part in parts if part != "")


def _plain(point: Any) -> Any:
    return point if isinstance(point, str | int | float) else str(point)


def _rounded(value: float) -> float:
    return float(f"{value:.4g}")
