"""Texts for Spark that name DataFrames: marked where these stand, until PySpark gives them names."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from sash.errors import SashError
from sash.spark.hidden import UNSPELLABLE, plain

_MARK = re.compile("\0(\\w+)\0")


def marked(name: str) -> str:
    """What stands in a text for the DataFrame of this name."""
    return f"\0{name}\0"


def quoted(name: str) -> str:
    """A name in backticks."""
    return "`" + name.replace("`", "``") + "`"


def sent(spark: Any, text: str, args: Any, views: Mapping[str, Any]) -> Any:
    """What Spark gives for a text; the DataFrames that it marks are handed over with it."""
    marked_text = text
    used = {name: views[name] for name in _MARK.findall(text)}
    if used:  # PySpark formats the text then, so that other braces are doubled
        pieces = _MARK.split(text)
        pieces[::2] = [each.replace("{", "{{").replace("}", "}}") for each in pieces[::2]]
        pieces[1::2] = [f"{{{each}}}" for each in pieces[1::2]]
        text = "".join(pieces)
    try:
        return spark.sql(text, args, **used)
    except Exception as error:
        error.sent = _MARK.sub("_" * 41, marked_text)  # type: ignore[attr-defined]  # a view's name has so many letters
        raise


def shown(text: str) -> str:
    """A text as a user may see it: marks as names, names without what keeps them apart."""
    return plain(_MARK.sub(r"\1", text))


def checked(text: str) -> str:
    """A query as the user gives it."""
    for part, shown_part in (("\0", "the character U+0000"), (UNSPELLABLE, UNSPELLABLE)):
        if part in text:
            raise SashError(f"a query must not hold {shown_part}")
    return text


def after_same_words(text: str, before: str, start: int) -> int:
    """The place in a text, from a start on, that follows the last of these words; the start where they are not there.

    >>> after_same_words("select x, y frm t", "SELECT 1, y", 0)
    11
    """
    for length in range(min(40, len(before)), 2, -1):
        at = text.find(before[-length:], start)
        if at >= 0:
            return at + length
    return start
