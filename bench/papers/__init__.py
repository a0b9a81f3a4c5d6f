"""The experiments of the papers, run again: the claim, what comes out here, and whether the shape holds."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

HOME = Path(__file__).parents[2]
PLOTS = HOME / "docs" / "plots"


def once(task: Callable[[], Any]) -> float:
    """The time of one run of a task."""
    start = time.perf_counter()
    task()
    return time.perf_counter() - start


def compare(paper: str, ours: str, holds: bool | None) -> None:
    """Print a claim of a paper, what comes out here, and whether its shape holds, or None where nothing tells."""
    verdict = "not measured" if holds is None else "the shape holds" if holds else "the shape does NOT hold"
    print(f"  paper: {paper}\n  here:  {ours}: {verdict}")


def canvas(columns: int, width: float, height: float) -> tuple[Any, Any, Callable[[str], None]]:
    """Axes in the style of all figures, and what saves them, the same bytes for the same figures."""
    import matplotlib

    matplotlib.use("svg")
    from matplotlib import pyplot

    pyplot.rcParams.update({
        "svg.hashsalt": "sash", "svg.fonttype": "none", "font.family": "sans-serif", "font.size": 9,
        "axes.spines.top": False, "axes.spines.right": False, "axes.grid": True, "grid.color": "#e6e6e6",
        "axes.axisbelow": True, "legend.frameon": False, "axes.titlesize": 10,
    })  # fmt: skip
    figure, axes = pyplot.subplots(1, columns, figsize=(width, height), layout="constrained", squeeze=False)

    def save(name: str) -> None:
        PLOTS.mkdir(parents=True, exist_ok=True)
        figure.savefig(PLOTS / f"{name}.svg", metadata={"Date": None})
        pyplot.close(figure)

    return figure, axes[0], save
