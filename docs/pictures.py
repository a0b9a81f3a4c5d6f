"""Draws the pictures of the concepts, of extending and of the guides as SVG; with --check, says if they are up to date.

Colours follow the reader's light or dark scheme; the background is part of the picture, so that it can be read on any.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable
from html import escape
from itertools import pairwise
from pathlib import Path

FOLDER = Path(__file__).parent / "pictures"
SOURCES = Path(__file__).parent.parent / "src" / "sash"
WIDTH = 760
STYLE = """
  text { font: 13px system-ui, "Segoe UI", Roboto, Helvetica, Arial, sans-serif; fill: #263238; }
  .small { font-size: 11.5px; }
  .faint { fill: #607d8b; }
  .strong { font-weight: 600; }
  .back { fill: #ffffff; stroke: #cfd8dc; }
  .line { stroke: #78909c; stroke-width: 1.2; fill: none; }
  .dash { stroke: #90a4ae; stroke-width: 1.2; stroke-dasharray: 4 3; fill: none; }
  .box { fill: #eceff1; stroke: #90a4ae; }
  .none { fill: none; stroke: #b0bec5; stroke-dasharray: 3 3; }
  .one { fill: #bbdefb; stroke: #1e6fb8; }
  .two { fill: #ffe0b2; stroke: #c56a00; }
  .three { fill: #c8e6c9; stroke: #2e7d32; }
  .mark { stroke: #c62828; stroke-width: 2; fill: none; }
  .dot { fill: #1e6fb8; }
  .red { fill: #c62828; }
  @media (prefers-color-scheme: dark) {
    text { fill: #e3e8ec; }
    .faint { fill: #9fb1bb; }
    .back { fill: #1e2129; stroke: #3a4350; }
    .line { stroke: #90a4ae; }
    .dash { stroke: #78909c; }
    .box { fill: #2d3540; stroke: #78909c; }
    .none { stroke: #55626f; }
    .one { fill: #184468; stroke: #64b5f6; }
    .two { fill: #5b3a0c; stroke: #ffb74d; }
    .three { fill: #1f4a28; stroke: #81c784; }
    .mark { stroke: #ef7f7a; }
    .dot { fill: #64b5f6; }
    .red { fill: #ef7f7a; }
  }
"""


class Picture:
    """Shapes in the order in which they are drawn."""

    def __init__(self, title: str, height: int) -> None:
        self.title, self.height, self.parts = title, height, []

    def text(self, x, y, words, style="", anchor="start"):
        self.parts.append(f'<text x="{x:g}" y="{y:g}" class="{style}" text-anchor="{anchor}">{escape(words)}</text>')

    def box(self, x, y, wide, high, style="box", words="", text_style=""):
        self.parts.append(f'<rect x="{x:g}" y="{y:g}" width="{wide:g}" height="{high:g}" rx="3" class="{style}"/>')
        if words:
            self.text(x + wide / 2, y + high / 2 + 4.5, words, text_style, "middle")

    def line(self, x, y, to_x, to_y, style="line"):
        self.parts.append(f'<line x1="{x:g}" y1="{y:g}" x2="{to_x:g}" y2="{to_y:g}" class="{style}"/>')

    def path(self, points, style="line"):
        self.parts.append(f'<polyline points="{" ".join(f"{x:g},{y:g}" for x, y in points)}" class="{style}"/>')

    def arrow(self, x, y, to_x, to_y, style="line"):
        self.parts.append(
            f'<line x1="{x:g}" y1="{y:g}" x2="{to_x:g}" y2="{to_y:g}" class="{style}" marker-end="url(#tip)"/>'
        )

    def dot(self, x, y, style="dot"):
        self.parts.append(f'<circle cx="{x:g}" cy="{y:g}" r="4.5" class="{style}"/>')

    def svg(self) -> str:
        tip = '<marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">'
        tip += '<path d="M0,0.5 L7,4 L0,7.5" class="line"/></marker>'
        lines = [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {self.height}" role="img" '
            f'width="{WIDTH}" height="{self.height}">',
            f"<title>{escape(self.title)}</title>",
            f"<style>{STYLE}</style>",
            f"<defs>{tip}</defs>",
            f'<rect x="0.5" y="0.5" width="{WIDTH - 1}" height="{self.height - 1}" rx="6" class="back"/>',
            *self.parts,
            "</svg>",
        ]
        return "\n".join(lines) + "\n"


KEYS = [1, 3, 4, 4, 6, 7, 7, 8, 9, 9]
CURRENT = 5  # the first 7


def row_of_keys(picture, y, inside, style, label, note):
    """The ten rows, of which some are inside; the current one has a mark under it."""
    picture.text(24, y + 15, label, "strong")
    picture.text(24, y + 31, note, "small faint")
    for place, key in enumerate(KEYS):
        x = 320 + 41 * place
        picture.box(x, y, 36, 30, style if place in inside else "none", str(key), "" if place in inside else "faint")
        if place == CURRENT:
            picture.line(x, y + 34, x + 36, y + 34, "mark")


def frames() -> Picture:
    """ROWS, RANGE and GROUPS of the same rows."""
    picture = Picture("The frames ROWS, RANGE and GROUPS between 2 preceding and current row, of one row", 242)
    picture.text(320, 28, "ten rows in order; the number is the order key", "small faint")
    row_of_keys(picture, 42, range(10), "box", "rows of a partition", "equal keys are peers")
    row_of_keys(picture, 92, {3, 4, 5}, "one", "rows", "2 preceding: two rows before")
    row_of_keys(picture, 142, {4, 5, 6}, "two", "range", "2 preceding: keys 5 to 7, peers too")
    row_of_keys(picture, 192, {2, 3, 4, 5, 6}, "three", "groups", "2 preceding: two groups of peers")
    return picture


def exclude() -> Picture:
    """What EXCLUDE takes out of a frame."""
    picture = Picture("What EXCLUDE leaves of a frame", 216)
    frame = {2, 3, 4, 5, 6}
    row_of_keys(picture, 16, frame, "three", "exclude no others", "the frame as it is")
    row_of_keys(picture, 66, frame - {5}, "three", "exclude current row", "")
    row_of_keys(picture, 116, frame - {5, 6}, "three", "exclude group", "the row and its peers")
    row_of_keys(picture, 166, frame - {6}, "three", "exclude ties", "its peers, not the row")
    return picture


def algebra() -> Picture:
    """A mean by lift, combine and lower."""
    picture = Picture("The mean of four rows: lift makes partials, combine joins neighbours, lower answers", 262)
    steps = [(44, "rows"), (94, "lift"), (154, "combine"), (204, "combine"), (246, "lower")]
    for y, words in steps[:4]:
        picture.text(24, y, words, "strong")
    places = [200, 330, 460, 590]
    for x, value in zip(places, (5, 7, 4, 9), strict=True):
        picture.box(x - 22, 24, 44, 30, "box", str(value))
        picture.arrow(x, 56, x, 74)
        picture.box(x - 34, 76, 68, 28, "one", f"({value}, 1)")
    for x, words in ((265, "(12, 2)"), (525, "(13, 2)")):
        picture.arrow(x - 60, 106, x - 12, 134)
        picture.arrow(x + 60, 106, x + 12, 134)
        picture.box(x - 40, 136, 80, 28, "one", words)
    picture.arrow(300, 166, 375, 188)
    picture.arrow(490, 166, 415, 188)
    picture.box(350, 190, 90, 28, "one", "(25, 4)")
    picture.arrow(395, 220, 395, 232)
    picture.text(24, 248, "lower", "strong")
    picture.text(395, 250, "25 / 4 = 6.25", "strong", "middle")
    picture.text(620, 154, "the older is on the left", "small faint")
    return picture


def axis(picture, y, first, last, scale, start, labels):
    """A line of time with labels below."""
    picture.arrow(start - 10, y, start + (last - first) * scale + 18, y)
    for at, words in labels:
        x = start + (at - first) * scale
        picture.line(x, y - 4, x, y + 4)
        picture.text(x, y + 19, words, "small faint", "middle")


def slices() -> Picture:
    """Two queries over the same slices."""
    picture = Picture("Two queries share slices of five minutes", 268)
    start, scale = 190, 17.0

    def at(minute):
        return start + minute * scale

    for y, label, note, style, windows in (
        (30, "peak", "range 15, slide 5", "one", [(0, 15), (5, 20), (10, 25)]),
        (112, "mean", "range 20, slide 10", "two", [(0, 20), (10, 30)]),
    ):
        picture.text(24, y + 14, label, "strong")
        picture.text(24, y + 30, note, "small faint")
        for place, (low, high) in enumerate(windows):
            words = f"window that ends at {high}"
            picture.box(at(low), y + 24 * place, (high - low) * scale, 19, style, words, "small")
    picture.text(24, 196, "slices", "strong")
    picture.text(24, 212, "a partial each, by key", "small faint")
    for slice_at in range(0, 30, 5):
        picture.box(at(slice_at) + 1, 182, 5 * scale - 2, 30, "three", f"{slice_at} to {slice_at + 5}", "small")
        picture.line(at(slice_at), 166, at(slice_at), 222, "dash")
    picture.line(at(30), 166, at(30), 222, "dash")
    axis(picture, 232, 0, 30, scale, start, [(m, f"08:{m:02}") for m in range(0, 31, 5)])
    return picture


def slicers() -> Picture:
    """Where panes, pairs and cutty cut."""
    picture = Picture("Where panes, pairs and cutty cut for a range of 7 and a slide of 5 minutes", 286)
    start, scale = 250, 22.5

    def at(minute):
        return start + minute * scale

    picture.text(24, 44, "windows", "strong")
    picture.text(24, 60, "range 7, slide 5", "small faint")
    for place, low in enumerate((0, 5, 10)):
        picture.box(at(low), 24 + 23 * place, 7 * scale, 18, "one", f"{low} to {low + 7}", "small")
    cuts = [
        (112, "panes", "multiples of 1, by which both divide", range(21)),
        (162, "pairs", "starts and ends of windows", sorted({*range(0, 21, 5), *range(2, 21, 5)})),
        (212, "cutty", "starts of windows", range(0, 21, 5)),
    ]
    for y, label, note, edges in cuts:
        picture.text(24, y + 10, label, "strong")
        picture.text(24, y + 26, note, "small faint")
        edges = list(edges)
        for low, high in pairwise(edges):
            picture.box(at(low) + 1, y, (high - low) * scale - 2, 24, "three")
    axis(picture, 254, 0, 20, scale, start, [(m, str(m)) for m in range(0, 21, 5)])
    return picture


def spans() -> Picture:
    """Calls in the windows that they overlap."""
    picture = Picture(
        "Three calls in four windows: each slice counts the calls that end in it and those that go on", 318
    )
    start, scale = 210, 4.2  # a minute

    def at(minute):
        return start + minute * scale

    for edge in range(0, 121, 30):
        picture.line(at(edge), 20, at(edge), 226 if edge % 60 else 270, "dash")
    for place, (low, high, words) in enumerate([(2, 5, ""), (20, 100, "09:20–10:40"), (50, 70, "09:50–10:10")]):
        picture.box(at(low), 26 + 28 * place, (high - low) * scale, 22, "one", words, "small")
    picture.text(at(5) + 6, 42, "09:02–09:05", "small")
    picture.text(24, 68, "calls", "strong")
    rows = [
        (118, "end in the slice", "", (1, 0, 1, 1), "three"),
        (158, "go on after it", "", (1, 2, 1, 0), "two"),
    ]
    for y, label, _, values, style in rows:
        picture.text(24, y + 20, label, "strong")
        for place, value in enumerate(values):
            picture.box(at(30 * place) + 3, y, 30 * scale - 6, 30, style, str(value))
    picture.text(24, 218, "windows of 30 minutes", "strong")
    for place, words in enumerate(("1 + 1 = 2", "0 + 2 = 2", "1 + 1 = 2", "1 + 0 = 1")):
        picture.text(at(30 * place + 15), 218, words, "strong", "middle")
    picture.text(24, 248, "windows of an hour", "strong")
    for low, words in ((0, "1 + 0 + 2 = 3"), (60, "1 + 1 + 0 = 2")):
        picture.line(at(low) + 4, 254, at(low + 60) - 4, 254)
        picture.text(at(low + 30), 248, words, "strong", "middle")
    axis(picture, 278, 0, 120, scale, start, [(m, f"{9 + m // 60:02}:{m % 60:02}") for m in range(0, 121, 30)])
    return picture


def watermark() -> Picture:
    """Events as they come, the watermark behind them, and when a window is answered."""
    picture = Picture("Events in order of arrival, and the watermark that follows the latest one", 330)
    start, scale, top = 150, 40.0, 56

    def at(minute):
        return start + minute * scale

    events = [0.5, 2, 1.2, 4.5, 4, 6.5, 8.5, 3, 10.5, 12]
    delay, latest, edge = 2, 0.0, []
    picture.text(24, top + 4, "arrival", "strong")
    picture.arrow(48, top + 14, 48, top + 210)
    picture.box(at(0), top - 30, 6 * scale, 20, "one", "window 08:00 to 08:06", "small")
    picture.line(at(6), top - 34, at(6), top + 224, "dash")
    picture.line(at(9), top - 34, at(9), top + 224, "dash")
    picture.text(at(9) + 6, top - 22, "end + postpone (3 minutes)", "small faint")
    for place, event in enumerate(events):
        y = top + 8 + 22 * place
        late = latest - delay >= 6 and event < 6
        picture.dot(at(event), y, "red" if late else "dot")
        if late:
            picture.text(at(event) - 10, y + 4, "late: its window has been answered", "small red", "end")
        edge.append((at(max(latest - delay, 0)), y + 11))
        latest = max(latest, event)
        edge.append((at(max(latest - delay, 0)), y + 11))
    edge = [(at(0), top), *edge, (edge[-1][0], top + 226)]
    picture.path(edge, "mark")
    passed = next(y for x, y in edge if x >= at(6))
    picture.text(at(9) + 8, passed - 12, "passes 08:06: the window", "small")
    picture.text(at(9) + 8, passed + 3, "is answered", "small")
    picture.arrow(at(9) + 4, passed, at(6.6), passed)
    spans_at = next(y for x, y in edge if x >= at(9))
    picture.text(at(12) + 10, spans_at - 12, "passes 08:09:", "small")
    picture.text(at(12) + 10, spans_at + 3, "spans answered", "small")
    picture.arrow(at(12) + 6, spans_at, at(10.1), spans_at)
    picture.text(at(0) + 8, top + 222, "watermark: the latest less 2 minutes", "small red")
    axis(picture, top + 240, 0, 14, scale, start, [(m, f"08:{m:02}") for m in range(0, 15, 2)])
    return picture


def planner() -> Picture:
    """From a frame to a frame, and where the algorithm is chosen."""
    picture = Picture("Columns become bounds and codes, the planner chooses a kernel, answers become columns", 236)
    boxes = [
        ("table", "Spark, Arrow,\npandas, polars"),
        ("columns", "sorted once for\neach window"),
        ("bounds", "for each row up to\nthree ranges [lo, hi)"),
        ("kernel", "compiled for\nthe aggregate"),
        ("columns", "in the order\nthe rows came"),
    ]
    for place, (words, note) in enumerate(boxes):
        x = 22 + 146 * place
        picture.box(x, 130, 126, 36, "two" if words == "kernel" else "box", words, "strong")
        for line, text in enumerate(note.split("\n")):
            picture.text(x + 63, 186 + 16 * line, text, "small faint", "middle")
        if place:
            picture.arrow(x - 20, 148, x - 2, 148)
    picture.box(226, 22, 380, 66, "one")
    picture.text(416, 44, "planner", "strong", "middle")
    picture.text(416, 62, "of one size? only forward? how many rows? any holes?", "small", "middle")
    picture.text(416, 78, "an inverse? exact? one of its inputs? a list of costs", "small", "middle")
    picture.arrow(377, 130, 377, 90)
    picture.arrow(523, 88, 523, 128)
    return picture


FACADE = {"sash", "checking", "frames", "streams"}
COMMON = {"errors", "libraries", "options", "version"}  # what every room may use
ROOMS = {  # by column: what stands there, in words
    "cli": (1, "sash run, sql, new, demo"),
    "pipelines": (1, "TOML files, checked and run"),
    "façade": (1, "withColumns, sql, stream, explain"),
    "sql": (1, "a query's window calls"),
    "spark": (1, "exchanges, tasks, state"),
    "functions": (2, "sf.max, sf.median …"),
    "engine": (1, "sorts, bounds, answers, in Arrow"),
    "watching": (2, "a page of a running board"),
    "planner": (0, "which algorithm, and why"),
    "kernels": (1, "the algorithms, compiled"),
    "windows": (1, "frames, extents, bounds"),
    "algebra": (2, "aggregates and calls"),
    "expressions": (1, "columns and predicates"),
}
WAY = ("façade sql", "sql spark", "spark engine", "façade engine", "engine planner", "engine kernels")


def used_rooms() -> dict[str, set[str]]:
    """Which rooms each room imports, wherever in its files; those that all use are left out."""

    def room(name):
        first = name.split(".")[1] if "." in name else "sash"
        return "façade" if first in FACADE else first

    used = {}
    for file in sorted(SOURCES.rglob("*.py")):
        here = room(".".join(["sash", *file.relative_to(SOURCES).with_suffix("").parts]).removesuffix(".__init__"))
        names = set()
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.Import):
                names |= {name.name for name in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module == "sash":
                modules = {path.stem for path in SOURCES.iterdir()}
                names |= {f"sash.{name.name}" if name.name in modules else "sash" for name in node.names}
            elif isinstance(node, ast.ImportFrom):
                names.add(node.module)
        rooms = {room(name) for name in names if name.split(".")[0] == "sash"}
        used.setdefault(here, set()).update(rooms - COMMON - {here})
    return {name: others for name, others in used.items() if name not in COMMON}


def below(name, used) -> set[str]:
    """All rooms that a room uses, by way of others, too."""
    return set().union(*({each} | below(each, used) for each in used[name]))


def rooms() -> Picture:
    """What imports what, and the way of a query."""
    used = used_rooms()
    levels = dict.fromkeys(used, 0)
    for name in sorted(used, key=lambda name: len(below(name, used)), reverse=True):
        for each in used[name]:
            levels[each] = max(levels[each], levels[name] + 1)
    picture = Picture(
        "The rooms of Sash: each imports rooms below it; a query goes the red way", 60 * len({*levels.values()}) + 46
    )
    wide, high = 200, 40

    def corner(name):
        return 24 + 256 * ROOMS[name][0], 22 + 60 * levels[name]

    for name, others in used.items():
        direct = {each for each in others if not any(each in below(other, used) for other in others)}
        way = {to for start, to in map(str.split, WAY) if start == name}
        if not way <= others:
            raise ValueError(f"a query goes from {name} to {way - others}, which {name} does not import")
        x, y = corner(name)
        for each in sorted(direct | way):
            to_x, to_y = corner(each)
            style = "mark" if each in way else "line"
            if x == to_x and levels[each] > levels[name] + 1 and each in way:  # around those between
                picture.path([(x, y + 20), (x - 36, y + 20), (x - 36, to_y + 20)], style)
                picture.arrow(x - 36, to_y + 20, to_x - 2, to_y + 20, style)
                picture.text(x - 46, (y + to_y) / 2 + 24, "Arrow, pandas, polars", "small faint", "end")
                continue
            side = (to_x > x) - (to_x < x)
            start, end = x + wide / 2 + 95 * side, to_x + wide / 2 - 95 * side
            picture.arrow(start, y + high, end, to_y - 2, style)
    for name, (_, words) in ROOMS.items():
        x, y = corner(name)
        picture.box(x, y, wide, high, "two" if any(name in step.split() for step in WAY) else "box")
        picture.text(x + wide / 2, y + 17, name, "strong", "middle")
        picture.text(x + wide / 2, y + 33, words, "small faint", "middle")
    picture.text(736, picture.height - 14, f"used by all: {', '.join(sorted(COMMON))}", "small faint", "end")
    return picture


PICTURES = {
    each.__name__: each for each in (frames, exclude, algebra, slices, slicers, spans, watermark, planner, rooms)
}


def all_pictures() -> dict[str, Callable[[], Picture]]:
    """Those above, and those of the guides, which are drawn with the same shapes."""
    sys.path.insert(0, str(Path(__file__).parent))
    import guide_pictures

    return PICTURES | guide_pictures.PICTURES


def main() -> int:
    stale, check = [], "--check" in sys.argv
    FOLDER.mkdir(exist_ok=True)
    for name, draw in all_pictures().items():
        file, drawn = FOLDER / f"{name}.svg", draw().svg()
        if not file.exists() or file.read_text() != drawn:
            stale.append(file.name)
            if not check:
                file.write_text(drawn)
    print(f"{', '.join(stale) or 'nothing'} {'is stale' if check else 'written'}")
    return len(stale) if check else 0


if __name__ == "__main__":
    sys.exit(main())
