"""The charts of the report: drawn twice, for wide and for narrow pages, in colours that the page chooses."""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from sash.cli.demo.parts import Chart

# Matplotlib draws in these; the page has what they stand for, in light and in dark.
INK, RULE = "#010203", "#040506"
SERIES = ("#0a0b01", "#0a0b02", "#0a0b03")
VARIABLES = {INK: "--ink", RULE: "--rule"} | {code: f"--series-{n + 1}" for n, code in enumerate(SERIES)}
STYLE: dict[Any, Any] = {
    "svg.fonttype": "none",
    "font.size": 9,
    "text.color": INK,
    "axes.edgecolor": RULE,
    "axes.labelcolor": INK,
    "axes.titlecolor": INK,
    "axes.titlesize": 9.5,
    "axes.titlelocation": "left",
    "axes.grid": True,
    "axes.grid.axis": "y",
    "axes.axisbelow": True,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.spines.left": False,
    "axes.facecolor": "none",
    "figure.facecolor": "none",
    "grid.color": RULE,
    "grid.linewidth": 0.6,
    "xtick.color": RULE,
    "ytick.color": RULE,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "ytick.major.size": 0,
    "legend.frameon": False,
    "lines.linewidth": 1.2,
    "path.simplify_threshold": 0.5,
}
WIDE, NARROW = 9.4, 4.2  # inches, of which 72 are as wide as a page
FRAMES: tuple[tuple[str, str, dict[str, Any]], ...] = (  # columns, what they are over, and their lines
    ("100", "last 100 flights", {"color": SERIES[1], "linewidth": 0.6, "alpha": 0.55}),
    ("week", "last 7 days", {"color": SERIES[0], "linewidth": 1.4}),
)
METADATA = dict.fromkeys(("Date", "Creator", "Format", "Type"))


def delays(carriers: dict[str, Any]) -> Chart:
    """The 99th percentile above and the median below, for each carrier, by the day."""

    def draw(width: float) -> Any:
        columns = 4 if width == WIDE else 2
        blocks = -(-len(carriers) // columns)
        figure, axes = _panels(2 * blocks, columns, (width, 3.6 * blocks), height_ratios=[3, 2] * blocks)
        for row, (key, words) in enumerate((("p99", "99th percentile, min"), ("median", "median, min"))):
            panels = axes[row::2].ravel()
            for (name, days), each in zip(carriers.items(), panels, strict=False):
                for frame, label, line in FRAMES:
                    each.plot(days.index, days[f"{key}_{frame}"], label=label, **line)
                each.set_ylim(*_limits(carriers, key))
                each.sharex(panels[0])
                _months(each, months=len(days) > 100)
                each.set_title(_short(name) if key == "p99" else "")
            for place, each in enumerate(panels):
                each.tick_params(labelleft=place % columns == 0)
                each.set_ylabel(words if place % columns == 0 else "")
        figure.align_ylabels()
        _legend(figure, axes[0][0])
        return figure

    return _chart("delays", draw, "Departure delays of the busiest carriers, as they were at the last flight of a day.")


def boards(answers: Any, titles: dict[str, str]) -> Chart:
    """A strip for each board, a line for each airport."""

    def draw(width: float) -> Any:
        figure, axes = _panels(len(titles), 1, (width, 1.35 * len(titles) + 0.5), sharex=True)
        for (column, title), each in zip(titles.items(), axes.ravel(), strict=True):
            for colour, (origin, rows) in zip(SERIES, answers.groupby("origin"), strict=False):
                due = rows.dropna(subset=[column])
                each.plot(due["clock"], due[column], color=colour, label=origin)
            each.set_title(title + ("" if column in ("departures", "places") else ", min"))
            each.set_ylim(bottom=min(0, each.get_ylim()[0]))
        _days(axes.ravel()[-1], width)
        _legend(figure, axes[0][0])
        return figure

    begin, end = answers["clock"].min(), answers["clock"].max()
    dates = f"{begin:%B} {begin.day} to {end:%B} {end.day}, {end.year}"
    return _chart("boards", draw, f"The boards in the week of the worst day, {dates}; clocks of New York.")


def aircraft(answers: Any, day: str) -> Chart:
    """Aircraft in the air by airport, and the average length of their flights."""

    def draw(width: float) -> Any:
        origins = list(answers.groupby("origin"))
        columns = 2 if width == WIDE else 1
        rows = -(-(len(origins) + 1) // columns)
        figure, axes = _panels(rows, columns, (width, 2.1 * rows + 0.4), sharex=True)
        panels = axes.ravel()
        for each, (origin, mine), colour in zip(panels, origins, SERIES, strict=False):
            hours = _hours(mine["clock"])
            each.fill_between(
                hours, mine["up"], step="pre", color=colour, alpha=0.3, linewidth=0, label="in 15 minutes"
            )
            each.step(hours, mine["at_once"], where="pre", color=colour, label="at one moment")
            each.set_title(f"aircraft up from {origin}")
            each.set_ylim(0, answers["up"].max() * 1.05)
            panels[-1].step(hours, mine["minutes"], where="pre", color=colour, label=origin)
        panels[0].legend(loc="upper left")
        panels[-1].set_title("average minutes of flights that are up")
        panels[-1].set_ylim(bottom=0)
        panels[-1].legend(loc="lower right", ncols=3)
        panels[-1].set(xlim=(0, 24), xticks=range(0, 25, 3))
        for each in axes[-1]:
            each.set_xlabel("hour of the day in New York")
        return figure

    return _chart(
        "aircraft", draw, f"The busiest day, {day}: area, all that were up in 15 minutes; line, at one moment."
    )


def _chart(name: str, draw: Callable[[float], Any], caption: str) -> Chart:
    with _styled():
        return Chart(_svg(draw(WIDE), f"{name}-wide"), _svg(draw(NARROW), f"{name}-narrow"), caption)


@contextmanager
def _styled() -> Iterator[None]:
    import matplotlib

    with matplotlib.rc_context(STYLE):
        yield


def _panels(rows: int, columns: int, size: tuple[float, float], sharex: bool = False, **more: Any) -> tuple[Any, Any]:
    from matplotlib.figure import Figure

    figure = Figure(figsize=size, layout="constrained")
    return figure, figure.subplots(rows, columns, squeeze=False, sharex=sharex, gridspec_kw=more)


def _svg(figure: Any, name: str) -> str:
    """The drawing as an element of the page: names that are its own, colours and letters that are the page's."""
    written = io.StringIO()
    figure.savefig(written, format="svg", metadata=METADATA)
    svg = written.getvalue()
    svg = re.sub(r"<style.*?</style>", "", svg[svg.index("<svg") :], flags=re.DOTALL)
    svg = re.sub(r' width="[\d.]+pt" height="[\d.]+pt"', ' role="img"', svg, count=1)
    svg = re.sub(r' id="(?!m|p[0-9a-f])[^"]*"', "", svg)  # of groups, which nothing refers to
    svg = re.sub(r'(id="|href="#|url\(#)', rf"\g<1>{name}-", svg)
    svg = re.sub(r"font-family: [^;\"]*;? ?", "", svg)
    svg = re.sub(r"(\d+\.\d\d)\d+", r"\1", svg)
    for code, variable in VARIABLES.items():
        svg = svg.replace(code, f"var({variable})")
    return re.sub(r"\s*\n\s*", " ", svg).strip()


def _legend(figure: Any, axes: Any) -> None:
    figure.legend(*axes.get_legend_handles_labels(), loc="outside upper left", ncols=3)


def _limits(carriers: dict[str, Any], key: str) -> tuple[float, float]:
    """Limits that all panels share."""
    values = [days[f"{key}_{frame}"] for days in carriers.values() for frame in ("week", "100")]
    low, high = min(each.min() for each in values), max(each.max() for each in values)
    return min(0.0, low * 1.1), high * 1.05


def _short(name: str) -> str:
    """The name of an airline as people say it."""
    return re.sub(r" (Inc\.|Co\.|Corporation)$", "", name)


def _hours(clock: Any) -> Any:
    return clock.dt.hour + clock.dt.minute / 60


def _months(axes: Any, months: bool) -> None:
    """Name months of a year, or days of a month; none at the edge, where the next panel begins."""
    from matplotlib import dates

    places = dates.MonthLocator([2, 5, 8, 11]) if months else dates.DayLocator([5, 15, 25])  # type: ignore[no-untyped-call]
    axes.xaxis.set_major_locator(places)
    axes.xaxis.set_major_formatter(dates.DateFormatter("%b" if months else "%b %d"))  # type: ignore[no-untyped-call]


def _days(axes: Any, width: float) -> None:
    from matplotlib import dates

    axes.xaxis.set_major_locator(dates.DayLocator())  # type: ignore[no-untyped-call]
    axes.xaxis.set_major_formatter(dates.DateFormatter("%a %d" if width == WIDE else "%a"))  # type: ignore[no-untyped-call]
