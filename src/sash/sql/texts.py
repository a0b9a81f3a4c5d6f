"""Texts for Spark that name DataFrames: marked where these stand, until PySpark gives them names."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from sash.errors import SashError

_MARK = re.compile("\0(\\w+)\0")


def marked(name: str) -> str:
    """What stands in a text for the DataFrame of this name."""
    return f"\0{name}\0"


def quoted(name: str) -> str:
    """A name in backticks."""
    return "`" + name.replace("`", "``") + "`"


def sent(spark: Any, text: str, args: Any, views: Mapping[str, Any]) -> Any:
    """What Spark gives for a text; the DataFrames that it marks are handed over with it."""
    used = {name: views[name] for name in _MARK.findall(text)}
    if used:  # PySpark formats the text then, so that other braces are doubled
        pieces = _MARK.split(text)
        pieces[::2] = [each.replace("{", "{{").replace("}", "}}") for each in pieces[::2]]
        pieces[1::2] = [f"{{{each}}}" for each in pieces[1::2]]
        text = "".join(pieces)
    return spark.sql(text, args, **used)


def shown(text: str) -> str:
    """A text with the marks as names."""
    return _MARK.sub(r"\1", text)


def checked(text: str) -> str:
    """A query as the user gives it."""
    if "\0" in text:
        raise SashError("a query must not hold the character U+0000")
    return text
