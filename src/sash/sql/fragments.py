"""Functions and frames that stand alone, as steps of pipelines have them: SQL without a query around."""

from __future__ import annotations

from sash.algebra import Call
from sash.errors import SashError, meant
from sash.sql.named_functions import NAMES, REGISTERED
from sash.sql.parsed_arguments import ParsedArguments
from sash.sql.syntax import aggregate_at, windowed
from sash.sql.tokens import read
from sash.sql.vocabulary import call_of, known
from sash.sql.windows import bounds_of
from sash.windows.window import WindowSpec


def function_of(text: str) -> Call:
    """The call that a text is, for any window.

    >>> function_of("count(distinct shop) filter (where amount > 5)")
    count_distinct(shop) filter (where amount > 5)
    """
    source = read(text)
    called = aggregate_at(source, 0, len(source.tokens))
    if called is None or not known(called.name):
        wrong = "a function of a window is written alone, such as median(price)"
        if called is not None:
            wrong = f"there is no function {called.name} over windows{meant(called.name, [*NAMES, *REGISTERED])}"
        raise source.error(wrong, 0)
    try:
        return call_of(called, ParsedArguments(source))
    except SashError as error:
        raise source.error(str(error), 0) from None


def framed(window: WindowSpec, text: str) -> WindowSpec:
    """The window with a frame as SQL writes it.

    >>> from sash import Window
    >>> framed(Window.orderBy("ts"), "range between '7 days' preceding and current row").frame
    range between 7 days preceding and current row
    """
    source = read(text)
    clause = windowed(source, 0, len(source.tokens))
    if clause.frame is None or clause.partition or clause.order:
        raise source.error("a frame begins with ROWS, RANGE or GROUPS", 0)
    try:
        between = getattr(window, f"{clause.frame.kind}Between")
        spec: WindowSpec = between(*bounds_of(source, clause.frame, ParsedArguments(source)))
        return spec if clause.frame.exclude == "no others" else spec.exclude(clause.frame.exclude)
    except SashError as error:
        raise source.error(str(error), clause.frame.place) from None
