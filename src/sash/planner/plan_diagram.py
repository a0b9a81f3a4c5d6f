"""A plan as a drawing: rows are cut into slices, slices are folded, and windows made of them are answered."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

BOX, GAP, LINE, WIDTH = 68, 16, 17, 760  # heights of a box, between boxes, of a line; the width of all


def diagram(held: list[str], queries: Sequence[list[str]]) -> str:
    """An SVG element in the colours of its page: rows, what is kept of them, and a box for each query."""
    height = max(len(queries), 1) * (BOX + GAP) + GAP
    middle = height / 2
    parts = [
        _box(0, middle - BOX / 2, 120, ["rows", "as they come"]),
        _arrow(120, middle, 170, middle),
        _box(170, middle - BOX / 2, 150, held),
    ]
    for place, lines in enumerate(queries):
        top = GAP + place * (BOX + GAP)
        parts.append(_arrow(320, middle, 380, top + BOX / 2))
        parts.append(_box(380, top, WIDTH - 380, lines))
    return (
        f'<svg viewBox="-1 0 {WIDTH + 2} {height}" role="img" aria-label="the plan as a drawing" '
        f'style="width:100%;max-width:{WIDTH}px;height:auto;min-width:34rem">{"".join(parts)}</svg>'
    )


def _box(x: float, y: float, width: float, lines: list[str]) -> str:
    """Lines of text in a frame; the first is the name."""
    room = int(width / 6.4)
    texts = []
    for place, line in enumerate(lines):
        look = 'fill="var(--soft, #808890)"' if place else 'fill="var(--ink, currentColor)" font-weight="600"'
        place_of = f'x="{x + 10}" y="{y + 22 + place * LINE}"'
        texts.append(f'<text {place_of} font-size="12" {look}>{escape(_cut(line, room))}</text>')
    frame = f'<rect x="{x}" y="{y}" width="{width}" height="{BOX}" rx="5" fill="none" stroke="var(--rule, #808890)"/>'
    return frame + "".join(texts)


def _cut(text: str, room: int) -> str:
    return text if len(text) <= room else f"{text[: room - 1]}…"


def _arrow(x: float, y: float, to_x: float, to_y: float) -> str:
    bend = (to_x - x) / 2
    line = f"M{x} {y} C{x + bend} {y} {to_x - bend} {to_y} {to_x} {to_y}"
    head = f"M{to_x - 6} {to_y - 3.5} L{to_x} {to_y} L{to_x - 6} {to_y + 3.5}"
    return f'<path d="{line} {head}" fill="none" stroke="var(--soft, #808890)"/>'
