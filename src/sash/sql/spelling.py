"""Window calls that Spark answers, with what the names of their windows stand for."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from sash.sql.around import Scope, WholeQuery
from sash.sql.syntax import Called, Span, Windowed


def spelled(query: WholeQuery, called: Called, window: Windowed, scope: Scope) -> str:
    """A call of Spark's, with what the name of its window stands for."""
    source = query.source
    words = []
    if window.partition:
        words.append("PARTITION BY " + ", ".join(query.left_to_spark(*each, scope) for each in window.partition))
    if window.order:
        lo, hi = window.order[0].span[0], window.order[-1].span[1]
        while source.word(hi) in ("ASC", "DESC", "NULLS", "FIRST", "LAST"):
            hi += 1
        words.append("ORDER BY " + query.left_to_spark(lo, hi, scope))
    if window.frame is not None:
        lo = hi = window.frame.place
        while hi < len(source.tokens) and source.word(hi) != ")":
            hi = source.after(hi)
        words.append(query.left_to_spark(lo, hi, scope))
    return f"{query.left_to_spark(called.span[0], called.over, scope)} OVER ({' '.join(words)})"


def spelled_out(
    query: WholeQuery, span: Span, calls: Iterable[Called], windows: Mapping[Span, Windowed], scope: Scope
) -> str:
    """A piece of the text as Spark reads it, these calls in it spelled; they come in order."""
    (lo, hi), text = span, ""
    at = lo
    for called in calls:
        text += query.gap(at, called.span[0], lo, hi, scope) + spelled(query, called, windows[called.span], scope)
        at = called.span[1]
    return text + query.gap(at, hi, lo, hi, scope)
