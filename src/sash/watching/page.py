"""The page itself, made with Bokeh: figures that follow, numbers, late rows, and the plan."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from html import escape
from typing import Any

from bokeh.document import Document
from bokeh.models import BasicTickFormatter, ColumnDataSource
from bokeh.models.annotations import Title
from bokeh.models.widgets import Div
from bokeh.plotting import figure
from jinja2 import Template

from sash.watching.sight import Sight

EVERY = 1000  # milliseconds between two looks
GREY = "#7c8289"  # seen on light paper and on dark
COLOURS = ("#2a8fbd", "#d9730d", "#8a6fd1", "#3a9d5d", "#c94f7c", "#a08020", "#5f7f95", "#b0563c")
SHEET = """
.bk-clearfix { display: block; width: 100%; }
.tiles { display: grid; grid-template-columns: repeat(auto-fit, minmax(7.5rem, 1fr)); gap: 1px; margin: 1px; }
.tiles > div { outline: 1px solid var(--rule); padding: 0.5rem 0.75rem; }
dt { color: var(--soft); font-size: 0.8125rem; }
dd { margin: 0; font-size: 1.25rem; font-variant-numeric: tabular-nums; white-space: nowrap; }
h2 { font-size: 1.25rem; line-height: 1.3; margin: 0 0 0.6rem; display: flex; flex-wrap: wrap; gap: 0.2rem 0.75rem; }
h3 { font-size: 0.9375rem; margin: 0 0 0.4rem; }
h2 small, .soft { color: var(--soft); font-size: 0.875rem; font-weight: 400; align-self: center; }
h2 b { color: var(--series-1); font-size: 0.875rem; font-weight: 600; align-self: center; }
h2 b.failed { color: #d0453e; }
.keys { display: flex; flex-wrap: wrap; gap: 0.2rem 1rem; font-size: 0.875rem; margin-top: 0.75rem; }
.keys i { display: inline-block; width: 0.9rem; height: 0.25rem; vertical-align: middle; margin-right: 0.35rem; }
table { border-collapse: collapse; font-size: 0.875rem; width: 100%; }
td { border-bottom: 1px solid var(--rule); padding: 0.25rem 0.75rem 0.25rem 0; vertical-align: top; }
td:last-child { text-align: right; font-variant-numeric: tabular-nums; padding-right: 0; }
ul { margin: 0.5rem 0 0; padding-left: 1.1rem; font-size: 0.8125rem; color: var(--soft); overflow-wrap: anywhere; }
progress { width: 100%; }
.scroll { overflow-x: auto; }
pre { background: var(--tint); border: 1px solid var(--rule); padding: 0.7rem 0.9rem; overflow-x: auto;
      margin: 0.5rem 0 0; font: 0.78125rem/1.45 ui-monospace, Menlo, Consolas, "DejaVu Sans Mono", monospace; }
summary { cursor: pointer; font-size: 0.875rem; color: var(--soft); }
p { margin: 0.4rem 0 0; font-size: 0.875rem; color: var(--soft); }
"""
PAGE = Template("""{% from macros import embed %}<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>{{ title | e }}</title>
{{ bokeh_css if bokeh_css }}
{{ bokeh_js if bokeh_js }}
<style>
:root { color-scheme: light dark; --paper: #fdfdfb; --ink: #1f2328; --soft: #5f6670; --rule: #dcdcd4; --tint: #f3f3ee;
        --series-1: #0b6e99; }
@media (prefers-color-scheme: dark) {
  :root { --paper: #16181b; --ink: #e4e4df; --soft: #a1a7ae; --rule: #3a3e43; --tint: #1f2226; --series-1: #5bb8e0; }
}
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 1.5rem 1.25rem 3rem; max-width: 72rem; background: var(--paper); color: var(--ink);
       font: 1rem/1.5 system-ui, -apple-system, "Segoe UI", "Helvetica Neue", Arial, sans-serif; }
main { display: grid; grid-template-columns: repeat(2, minmax(0, 1fr)); gap: 1.5rem; }
main > div { grid-column: 1 / -1; min-width: 0; }
main > div.figure { grid-column: auto; }
@media (max-width: 44rem) { body { padding: 1rem; } main > div.figure { grid-column: 1 / -1; } }
</style>
</head>
<body>
<main>
{% for doc in docs %}{% for root in doc.roots %}<div class="{{ root.tags[0] }}">{{ embed(root) }}</div>
{% endfor %}{% endfor %}</main>
{{ plot_script }}
</body>
</html>
""")


def draw(document: Document, sights: Sequence[Sight]) -> None:
    """Fill a document with what is known of some boards, and keep it so."""
    document.title = f"Sash: {', '.join(sight.name for sight in sights)}"
    document.template = PAGE
    updates = [update for sight in sights for update in _board(document, sight)]

    def look() -> None:
        for update in updates:
            update()

    look()
    document.add_periodic_callback(look, EVERY)


def _board(document: Document, sight: Sight) -> list[Callable[[], None]]:
    """The parts of one board, and what brings each up to date."""
    updates = [_text(document, lambda: _head(sight))]
    for query in sight.wanted.queries:
        updates.append(_chart(document, sight, query))
    if sight.plan is not None:
        updates += _batches(document, sight)
        updates.append(_text(document, lambda: _aside(sight)))
        plan = f"<h3>The plan</h3><div class='scroll'>{sight.plan.diagram()}</div>"
        words = f"<details><summary>in words</summary><pre>{escape(str(sight.plan))}</pre></details>"
        _text(document, lambda: plan + words)()
    return updates


def _text(document: Document, said: Callable[[], str]) -> Callable[[], None]:
    part = Div(sizing_mode="stretch_width", stylesheets=[SHEET], styles={"display": "block"}, tags=["text"])
    document.add_root(part)

    def update() -> None:
        text = said()
        if text != part.text:
            part.text = text

    return update


def _chart(document: Document, sight: Sight, query: str) -> Callable[[], None]:
    """The answers of a query, a line for each key."""
    source = ColumnDataSource({"xs": [], "ys": [], "colour": [], "key": []})
    drawing = _figure(document, query, "datetime" if sight.by_time else "linear")
    drawing.multi_line("xs", "ys", color="colour", line_width=1.8, source=source)
    drawing.scatter(
        "x", "y", color="colour", size=5, source=(last := ColumnDataSource({"x": [], "y": [], "colour": []}))
    )
    version = -1

    def update() -> None:
        nonlocal version
        if version == sight.version:
            return
        version = sight.version
        colours = _colours(sight)
        lines = {key: sorted(dict(line).items()) for key, line in sorted(dict(sight.lines.get(query, {})).items())}
        lines = {key: line for key, line in lines.items() if line}
        source.data = {
            "xs": [[end for end, _ in line] for line in lines.values()],
            "ys": [[value for _, value in line] for line in lines.values()],
            "colour": [colours.get(key, GREY) for key in lines],
            "key": list(lines),
        }
        last.data = {
            "x": [line[-1][0] for line in lines.values()],
            "y": [line[-1][1] for line in lines.values()],
            "colour": [colours.get(key, GREY) for key in lines],
        }

    return update


def _batches(document: Document, sight: Sight) -> list[Callable[[], None]]:
    """How long each batch took, and its rows."""
    source = ColumnDataSource({"number": [], "rows": [], "milliseconds": []})
    for column, title in (("milliseconds", "milliseconds a batch"), ("rows", "rows in, by batch")):
        drawing = _figure(document, title, "linear", height=150)
        drawing.vbar("number", width=0.8, top=column, color=COLOURS[0], source=source)
        drawing.y_range.start = 0
        drawing.xaxis.ticker.num_minor_ticks = 0

    def update() -> None:
        seen = list(sight.batches)
        if len(source.data["number"]) and seen and source.data["number"][-1] == seen[-1].number:
            return
        source.data = {name: [getattr(each, name) for each in seen] for name in ("number", "rows", "milliseconds")}

    return [update]


def _figure(document: Document, title: str, axis: Any, height: int = 220) -> Any:
    drawing = figure(
        title=Title(text=title, text_color=GREY),
        x_axis_type=axis,
        height=height,
        sizing_mode="stretch_width",
        toolbar_location=None,
        tools="",
        background_fill_color=None,
        border_fill_color=None,
        outline_line_color=None,
        tags=["figure"],
    )
    for each in drawing.axis:
        each.axis_label_text_color = each.major_label_text_color = GREY
        each.axis_line_color = each.major_tick_line_color = GREY
        each.minor_tick_line_color = None
    drawing.grid.grid_line_color = GREY
    drawing.grid.grid_line_alpha = 0.25
    drawing.xgrid.grid_line_color = None
    drawing.yaxis.formatter = BasicTickFormatter(use_scientific=False)
    document.add_root(drawing)
    return drawing


def _colours(sight: Sight) -> dict[str, str]:
    return {key: COLOURS[place % len(COLOURS)] for place, key in enumerate(sight.labels())}


def _head(sight: Sight) -> str:
    """The name of a board, what it does, and its numbers."""
    state = f"<b class='{escape(sight.state)}'>{escape(sight.state)}</b> <small>{_span(sight.passed)}</small>"
    words = f"<p>{escape(sight.words)}</p>" if sight.words else ""
    done, tasks = sight.tasks
    bar = (
        f"<progress value='{done}' max='{tasks}'></progress><p>{done} of {tasks} tasks of this stage</p>"
        if tasks
        else ""
    )
    tiles = "".join(f"<div><dt>{name}</dt><dd>{value}</dd></div>" for name, value in _numbers(sight))
    keys = "".join(
        f"<span><i style='background:{colour}'></i>{escape(key)}</span>" for key, colour in _colours(sight).items()
    )
    more = sight.keys is not None and sight.keys > len(sight.labels()) > 1
    note = f"<span class='soft'>the first of {sight.keys:,} keys</span>" if more else ""
    return (f"<h2>{escape(sight.name)} {state}</h2>{words}{bar}<dl class='tiles'>{tiles}</dl>"
            f"<div class='keys'>{keys}{note}</div>")  # fmt: skip


def _numbers(sight: Sight) -> list[tuple[str, str]]:
    numbers = [
        ("rows in", _count(sight.rows_in)),
        ("answers", _count(sight.answers)),
        ("late rows", _count(sight.late)),
    ]
    if sight.watermark is not None:
        numbers.append(("watermark", f"{sight.watermark:%H:%M:%S}"))
        numbers.append(("lag, behind the clock", _span(sight.lag or 0.0)))
    if sight.keys is not None:
        numbers.append(("keys with open windows", _count(sight.keys)))
    if sight.size is not None:
        numbers.append(("state", _bytes(sight.size)))
    if sight.batches:
        numbers.append(("last batch", f"{sight.batches[-1].milliseconds:,.0f} ms"))
    return numbers


def _aside(sight: Sight) -> str:
    """Rows that are in no answer, with the reasons where these are known."""
    head = "<h3>Late rows, by reason</h3>"
    if sight.reasons:
        counts = "".join(f"<tr><td>{escape(why)}</td><td>{n:,}</td></tr>" for why, n in sight.reasons.most_common(12))
        rows = "".join(f"<li>{escape(row)}</li>" for row in list(sight.rows_late))
        return f"{head}<table>{counts}</table><ul>{rows}</ul>"
    if sight.late:
        return f"{head}<p>{sight.late:,} rows; a sink with late = true has them with their reasons</p>"
    return f"{head}<p>none</p>"


def _count(number: int | None) -> str:
    return "–" if number is None else f"{number:,}"


def _span(seconds: float) -> str:
    """A time that people can grasp."""
    for size, unit in ((86_400 * 2, "days"), (7200, "h"), (120, "min")):
        if seconds >= size:
            return f"{seconds / (size / 2):,.0f} {unit}"
    return f"{seconds:,.0f} s"


def _bytes(size: int) -> str:
    for scale, unit in ((1 << 30, "GB"), (1 << 20, "MB"), (1 << 10, "kB")):
        if size >= scale:
            return f"{size / scale:,.1f} {unit}"
    return f"{size} bytes"
