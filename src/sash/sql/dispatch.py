"""Who answers a window call: Sash, or Spark."""

from __future__ import annotations

from collections.abc import Callable

from sash.errors import meant
from sash.sql.named_functions import NAMES, REGISTERED
from sash.sql.syntax import Called, Windowed
from sash.sql.tokens import Source
from sash.sql.vocabulary import known


def is_ours(source: Source, called: Called, window: Windowed, exists: Callable[[str], bool]) -> bool:
    """Whether Sash answers a call; what it does not know is Spark's, unless Spark cannot say it."""
    if source.word(called.span[0] - 1) == ".":  # a function of some schema
        return False
    if known(called.name):
        return True
    if only_ours(called, window) or not exists(called.name):
        hint = meant(called.name, [*NAMES, *REGISTERED]) or "; sash.register makes one of your own known"
        raise source.error(f"there is no function {called.name} over windows{hint}", called.span[0])
    return False


def is_plain(source: Source, called: Called, window: Windowed) -> bool:
    """Whether Spark answers a call, too: by a name that it has, and with nothing that only Sash understands."""
    named = NAMES.get(called.name.lower())
    return named is not None and named.in_spark and not only_ours(called, window)


def only_ours(called: Called, window: Windowed) -> bool:
    """Whether a call has what Spark has no words for."""
    frame = window.frame
    extended = frame is not None and (frame.kind == "groups" or frame.exclude != "no others")
    return extended or called.distinct or bool(called.order and not called.within) or called.from_last
