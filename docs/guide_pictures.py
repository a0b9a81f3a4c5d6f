"""The pictures of docs/guides: what happened over time, and the frame that each guide asks of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import NamedTuple

from pictures import Picture

LEFT, RIGHT, LANE, BAR = 190, 736, 34, 36
Draw = Callable[[], Picture]


class Frame(NamedTuple):
    """A stretch of time that an answer is of, and the words in it."""

    start: float
    end: float
    words: str
    style: str = "one"


class Guide(NamedTuple):
    """Lanes of what happened, at shares of the width: moments, or stretches as pairs; and frames of it."""

    title: str
    lanes: Mapping[str, Sequence[float | tuple[float, float]]]
    frames: Mapping[str, Sequence[Frame]]
    now: float | None = None
    note: str = ""


def _draw(guide: Guide) -> Picture:
    """Lanes above, frames below them, and the row or the time that asks as a mark through both."""
    top = 34 if guide.note else 16
    picture = Picture(guide.title, round(top + LANE * len(guide.lanes) + BAR * len(guide.frames) + 14))

    def x(share: float) -> float:
        return LEFT + share * (RIGHT - LEFT)

    if guide.now is not None:
        picture.line(x(guide.now), top - 4, x(guide.now), top + LANE * len(guide.lanes), "mark")
        picture.text(x(guide.now) + 4, 22, guide.note, "small faint", "end" if guide.now > 0.5 else "start")
    else:
        picture.text(LEFT, 22, guide.note, "small faint")
    y = top
    for name, happened in guide.lanes.items():
        picture.text(24, y + 20, name, "strong")
        picture.line(LEFT, y + 16, RIGHT, y + 16, "dash")
        for each in happened:
            if isinstance(each, tuple):
                picture.box(x(each[0]), y + 8, x(each[1]) - x(each[0]), 16, "box")
            else:
                picture.dot(x(each), y + 16, "red" if each == guide.now else "dot")
        y += LANE
    for name, frames in guide.frames.items():
        picture.text(24, y + 20, name, "strong")
        for each in frames:
            picture.box(x(each.start), y + 2, x(each.end) - x(each.start), 28, each.style, each.words, "small")
        y += BAR
    return picture


GUIDES = {
    "moving_percentiles": Guide(
        "Two frames of one request: the last 100 rows of its service, and its last 7 days",
        {"cart": [0.04, 0.2, 0.33, 0.45, 0.6, 0.72, 0.85], "search": [0.1, 0.16, 0.28, 0.4, 0.55, 0.66, 0.8, 0.93]},
        {
            "rows": [Frame(0.33, 0.86, "the service's last rows: the median")],
            "range": [Frame(0.12, 0.86, "the last 7 days, however many rows: the 99th percentile", "two")],
        },
        now=0.85,
        note="this request",
    ),
    "monthly_active_users": Guide(
        "Windows of 30, 7 and 1 days that end at the same midnight",
        {"ann": [0.08, 0.5, 0.86], "bob": [0.02, 0.3, 0.62], "cleo": [0.7, 0.76, 0.9]},
        {
            "monthly": [Frame(0.05, 0.95, "30 days: ann, bob, cleo; each counts once")],
            "weekly": [Frame(0.68, 0.95, "7 days: ann, cleo", "two")],
            "daily": [Frame(0.88, 0.95, "cleo", "three")],
        },
        now=0.95,
        note="window_end",
    ),
    "leaderboards": Guide(
        "A score is ranked among the last 1,000, by another order than that of the window",
        {"games, in order": [0.02, 0.1, 0.19, 0.3, 0.38, 0.47, 0.55, 0.66, 0.74, 0.82, 0.95]},
        {
            "window": [Frame(0.29, 0.83, "the last 1,000, as they came")],
            "rank": [Frame(0.29, 0.83, "the same, by score desc: its place", "two")],
        },
        now=0.82,
        note="this score",
    ),
    "features_without_leakage": Guide(
        "Of an order, only what was before it counts: the frame is closed on its left",
        {"this customer": [0.06, 0.25, 0.44, 0.7, 0.9], "same category": [0.12, 0.3, 0.36, 0.52, 0.7, 0.84]},
        {
            "orders before": [Frame(0.0, 0.69, "all of the customer's that came before; not the order itself")],
            "a week ago": [Frame(0.28, 0.54, "the category's", "two")],
            "its future": [Frame(0.71, 1.0, "in no frame", "none")],
        },
        now=0.7,
        note="this order",
    ),
    "call_concurrency": Guide(
        "Five calls; each counts in every quarter of an hour that it overlaps",
        {
            "team a": [(0.022, 0.089), (0.556, 0.889)],
            "team a, too": [(0.056, 0.356)],
            "team b": [(0.111, 0.156), (0.444, 0.489)],
        },
        {
            "windows": [
                Frame(0.0, 0.165, "3 calls"),
                Frame(0.165, 0.33, "1"),
                Frame(0.33, 0.5, "2"),
                Frame(0.5, 0.665, "1"),
                Frame(0.665, 0.83, "1"),
                Frame(0.83, 1.0, "1"),
            ],
        },
        note="9:00, and a quarter of an hour each",
    ),
    "sensor_dashboards": Guide(
        "Many ranges and slides over the same slices, each folded once",
        {"oven": [each / 20 for each in range(1, 20)], "fridge": [each / 20 + 0.02 for each in range(1, 19)]},
        {
            "slices": [Frame(each / 12, (each + 1) / 12, "", "box") for each in range(12)],
            "5 minutes": [Frame(11 / 12, 1.0, "1 slice", "three")],
            "15 minutes": [Frame(9 / 12, 1.0, "3 slices", "two")],
            "1 hour": [Frame(0.0, 1.0, "12 slices, joined as far as they were joined before")],
        },
    ),
    "own_aggregates": Guide(
        "An aggregate of one's own over the last three trades: lift each, combine, lower once",
        {"trades": [0.06, 0.25, 0.44, 0.63, 0.82]},
        {
            "lift": [
                Frame(0.38, 0.5, "(36, 4)", "three"),
                Frame(0.57, 0.69, "(24, 2)", "three"),
                Frame(0.76, 0.88, "(80, 8)", "three"),
            ],
            "combine": [Frame(0.38, 0.88, "(140, 14): one partial of the whole frame")],
            "lower": [Frame(0.55, 0.71, "140 / 14 = 10", "two")],
        },
        now=0.82,
        note="this trade",
    ),
    "a_year_folded_once": Guide(
        "Days folded once to partials, from which any number of days is answered",
        {"events": [each / 40 for each in range(1, 40)]},
        {
            "a file a day": [Frame(each / 8, (each + 1) / 8, f"day {each + 1}", "box") for each in range(8)],
            "partials": [Frame(each / 8 + 0.03, (each + 1) / 8 - 0.03, "", "three") for each in range(8)],
            "answers": [Frame(1 / 8, 1.0, "7 days, from 7 days of partials; no event is read again")],
        },
    ),
}
PICTURES: dict[str, Draw] = {f"guide_{name}": partial(_draw, guide) for name, guide in GUIDES.items()}
