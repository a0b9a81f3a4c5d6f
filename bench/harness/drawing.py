"""Figures in one style, as SVG: the same bytes for the same results."""

from __future__ import annotations

from pathlib import Path
from typing import Any

COLOURS = {
    "Sash": "#d1495b", "the planner": "#d1495b",
    "two_stacks": "#00798c", "daba": "#4f9d69", "flatfat": "#edae49", "b_int": "#c97b84", "flatfit": "#30638e",
    "slick_deque": "#8d6b94", "slide_side": "#a3a948", "sba": "#3d405b", "pba": "#e07a5f", "recalc": "#9a9a9a",
    "subtract_on_evict": "#66a5ad", "merge_sort_tree": "#00798c", "incremental": "#edae49",
    "order_statistic_tree": "#6a4c93", "naive": "#9a9a9a",
    "slicing": "#d1495b", "sweeping": "#00798c", "tuple_buckets": "#9a9a9a", "aggregate_buckets": "#edae49",
    "Spark": "#e2711d", "DuckDB": "#555555", "Polars": "#0077b6", "pandas": "#7a5195",
}  # fmt: skip
OTHERS = ("#2a9d8f", "#f4a261", "#577590", "#bc5090", "#90be6d", "#b5838d", "#264653", "#e9c46a")
STYLE = {
    "svg.hashsalt": "sash", "svg.fonttype": "none", "font.family": "sans-serif", "font.size": 9,
    "axes.spines.top": False, "axes.spines.right": False, "axes.grid": True, "grid.color": "#e6e6e6",
    "axes.axisbelow": True, "legend.frameon": False, "axes.titlesize": 10,
}  # fmt: skip


def draw(figure: dict[str, Any], path: Path) -> None:
    """Draw one figure of a result into a file."""
    import matplotlib

    matplotlib.use("svg")
    from matplotlib import pyplot

    with pyplot.rc_context(STYLE):
        drawn = {"lines": _lines, "bars": _bars, "grid": _grid}[figure["kind"]](pyplot, figure)
        path.parent.mkdir(parents=True, exist_ok=True)
        drawn.savefig(path, format="svg", metadata={"Date": None})
        pyplot.close(drawn)


def _lines(pyplot: Any, figure: dict[str, Any]) -> Any:
    panels = figure["panels"]
    columns = min(len(panels), 3)
    rows = -(-len(panels) // columns)
    drawn, axes = pyplot.subplots(
        rows,
        columns,
        figsize=(max(2.2 + 3 * columns, 6.5), 0.4 + 2.8 * rows),
        layout="constrained",
        squeeze=False,
        sharey=True,
    )
    names = list(dict.fromkeys(name for lines in panels.values() for name in lines))
    shades = _shades(names)
    for axis in axes.flat[len(panels) :]:
        axis.set_visible(False)
    for axis, (title, lines) in zip(axes.flat, panels.items(), strict=False):
        for name, line in lines.items():
            points, values = zip(*line, strict=True)
            axis.plot(points, values, "o-", color=shades[name], markersize=3, linewidth=1.3)
        axis.set(title=title, xlabel=figure["x"])
        if figure["xlog"]:
            axis.set_xscale("log")
        if figure["ylog"]:
            axis.set_yscale("log")
    for row in axes:
        row[0].set_ylabel(figure["y"])
    handles = [axes.flat[0].plot([], [], "o-", color=shades[name], markersize=3)[0] for name in names]
    drawn.legend(handles, names, loc="outside right upper")
    drawn.suptitle(figure["title"], fontsize=11, x=0.01, ha="left")
    return drawn


def _bars(pyplot: Any, figure: dict[str, Any]) -> Any:
    names = list(figure["values"])
    shades = _shades(names)
    drawn, axis = pyplot.subplots(figsize=(7, 0.9 + 0.3 * len(names)), layout="constrained")
    axis.barh(
        names[::-1], [figure["values"][name] for name in names[::-1]], color=[shades[name] for name in names[::-1]]
    )
    axis.set(title=figure["title"], xlabel=figure["x"], xscale="log" if figure["log"] else "linear")
    axis.grid(axis="y", visible=False)
    return drawn


def _grid(pyplot: Any, figure: dict[str, Any]) -> Any:
    import numpy as np

    columns = list(dict.fromkeys(column for column, _, _ in figure["values"]))
    rows = list(dict.fromkeys(row for _, row, _ in figure["values"]))
    values = np.full((len(rows), len(columns)), np.nan)
    for column, row, value in figure["values"]:
        values[rows.index(row), columns.index(column)] = value
    drawn, axis = pyplot.subplots(figsize=(1.5 + 0.8 * len(columns), 1 + 0.4 * len(rows)), layout="constrained")
    axis.pcolormesh(np.log(values), cmap="YlGnBu", edgecolors="white")
    dark = np.nanmean(np.log(values)) + np.nanstd(np.log(values)) / 3
    for (y, x), value in np.ndenumerate(values):
        if not np.isnan(value):
            colour = "white" if np.log(value) > dark else "black"
            axis.text(x + 0.5, y + 0.5, f"{value:.3g}", ha="center", va="center", color=colour)
    axis.set(title=figure["title"], xlabel=figure["x"], ylabel=figure["y"])
    axis.set_xticks(np.arange(len(columns)) + 0.5, map(str, columns))
    axis.set_yticks(np.arange(len(rows)) + 0.5, map(str, rows))
    axis.invert_yaxis()
    axis.grid(visible=False)
    return drawn


def _shades(names: list[str]) -> dict[str, str]:
    others = iter(OTHERS * 4)
    return {name: COLOURS.get(name) or next(others) for name in names}
