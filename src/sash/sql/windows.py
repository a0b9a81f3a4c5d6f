"""Windows of a query: named ones looked up and extended, frames with their bounds, as ``sash.Window`` has them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta
from typing import Any, Protocol

from sash.errors import SashError
from sash.expressions.columns import lit
from sash.expressions.intervals import Months
from sash.sql.syntax import Edge, Framed, Span, Windowed, windowed
from sash.sql.tokens import Source
from sash.sql.vocabulary import Arguments, order_of
from sash.windows import Window
from sash.windows.frame import CURRENT, UNBOUNDED, Bound, Frame, as_bound
from sash.windows.intervals import Interval
from sash.windows.window import WindowSpec

FAR = 2**62  # more rows than there are


class Offsets(Arguments, Protocol):
    """What turns pieces of the query into columns, constants and offsets."""

    def forward(self, span: Span, backward: bool) -> Any:
        """A column of offsets, each row's own, that refuses NULLs and what is below zero; or its negative."""


def resolved(source: Source, window: Windowed, named: Mapping[str, Windowed]) -> Windowed:
    """A window with what it takes over from those it names."""
    if window.base is None:
        return window
    name = source.tokens[window.base].name
    if name.lower() not in named:
        known = f"; there are {', '.join(named)}" if named else "; there is no WINDOW clause"
        raise source.error(f"there is no window {name}{known}", window.base)
    base = named[name.lower()]
    if window.only_base:
        return base
    if window.partition:
        raise source.error(
            f"a window that extends {name} cannot have a PARTITION BY of its own", window.partition[0][0]
        )
    if window.order and base.order:
        raise source.error(f"{name} has an ORDER BY already, which cannot be replaced", window.order[0].span[0])
    if base.frame is not None:
        raise source.error(f"{name} has a frame, so that it cannot be extended", window.base)
    return replace(window, base=None, partition=base.partition, order=window.order or base.order)


def definitions(source: Source, lo: int, hi: int) -> dict[str, Windowed]:
    """The windows that a WINDOW clause defines, by their names in lower case; each may name any of the others."""
    written: dict[str, Windowed] = {}
    for start, stop in source.parts(lo, hi):
        if source.word(start + 1) != "AS" or stop < start + 3 or stop != source.after(start + 2):
            raise source.error("WINDOW takes definitions such as w AS (ORDER BY x)", min(start, hi - 1))
        name = source.tokens[start].name.lower()
        if name in written:
            raise source.error(f"the window {source.tokens[start].name} is defined twice", start)
        if source.word(start + 2) == "(":
            written[name] = windowed(source, start + 3, source.closing[start + 2])
        else:
            written[name] = Windowed(start + 2, base=start + 2)
    windows: dict[str, Windowed] = {}
    while len(windows) < len(written):
        ready = {
            name: resolved(source, window, written | windows)
            for name, window in written.items()
            if name not in windows and (_base(source, window) in windows or _base(source, window) not in written)
        }
        if not ready:
            window = next(window for name, window in written.items() if name not in windows)
            raise source.error("the windows extend each other, in a circle", window.place)
        windows |= ready
    return windows


def _base(source: Source, window: Windowed) -> str | None:
    """The name, in lower case, of the window that another one extends."""
    return None if window.base is None else source.tokens[window.base].name.lower()


def window_of(source: Source, window: Windowed, offsets: Offsets) -> WindowSpec:
    """A window, already resolved, for ``over``."""
    spec = Window.partitionBy(*(offsets.column(each) for each in window.partition))
    if window.order:
        spec = spec.orderBy(*(order_of(each, offsets) for each in window.order))
    if window.frame is None:
        return spec
    frame = window.frame
    if frame.kind == "groups" and not window.order:
        raise source.error("GROUPS needs an ORDER BY to tell what a group is", frame.place)
    if frame.kind == "range" and len(window.order) != 1 and (frame.start.span or frame.end.span):
        got = len(window.order)
        raise source.error(f"RANGE with an offset needs exactly one ORDER BY expression, got {got}", frame.place)
    start, end = bounds_of(source, frame, offsets)
    try:
        own_frame = Frame(frame.kind, start, end)
    except SashError:  # the start is after the end: an empty frame, which each row may have
        own_frame = Frame(frame.kind, _own(start), _own(end))
    return replace(spec, given=own_frame, exclusion=frame.exclude)._agreeing()


def bounds_of(source: Source, frame: Framed, offsets: Offsets) -> tuple[Bound, Bound]:
    """Where a frame starts, and where it ends."""
    return _bound(source, frame.start, frame.kind, offsets), _bound(source, frame.end, frame.kind, offsets)


def _bound(source: Source, edge: Edge, kind: str, offsets: Offsets) -> Bound:
    if edge.unbounded:
        return UNBOUNDED
    if edge.span is None:
        return CURRENT
    backward = edge.way == "preceding"
    if not offsets.is_constant(edge.span):
        return Bound("column", offsets.forward(edge.span, backward))
    try:
        value = offsets.offset(edge.span, kind)
        if _is_negative(value):
            raise SashError(f"an offset must not be negative, got {value}")
        if isinstance(value, int) and value >= 2**63 - 2:  # which PySpark takes for no bound
            if kind == "range":
                return Bound("column", lit(-value if backward else value))
            value = FAR
        side = "start" if backward else "end"
        return as_bound(-value if backward else value, side, kind) if value else CURRENT
    except SashError as error:
        raise source.error(str(error).replace(f"{kind}Between: ", f"{kind.upper()}: "), edge.place) from None


def _is_negative(value: Any) -> bool:
    return bool(value) and value.backward if isinstance(value, Interval) else value < 0


def _own(bound: Bound) -> Bound:
    """A constant bound as one that each row has of its own, which is never checked against the other."""
    offset = bound.constant
    if not isinstance(offset, Interval):
        return Bound("column", lit(offset))
    time = timedelta(days=offset.days, microseconds=offset.microseconds)
    return Bound("column", lit(Months(offset.months)) if offset.months and not time else lit(time))
