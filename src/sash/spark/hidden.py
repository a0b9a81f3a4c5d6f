"""Names of columns that no query can spell, and texts as a user may see them, without what keeps such names apart."""

from __future__ import annotations

import re
from typing import Any

UNSPELLABLE = "ˢᵃˢʰ"  # at the end of names that no query may mean
_QUOTED = re.compile(f"`([^\\W\\d]\\w*?){UNSPELLABLE}\\d*`")
_ENDS = re.compile(f"{UNSPELLABLE}\\d*")
TEXTS = ("_desc", "_stackTrace", "_message", "_server_stacktrace", "_messageParameters", "args")  # of PySpark's errors
ASKED = ("getMessage", "getMessageParameters")  # what an error asks the JVM for, each time


def plain(text: str) -> str:
    """A text with names as the user has them.

    >>> plain("`t" + UNSPELLABLE + "2` and `t + 1" + UNSPELLABLE + "`")
    't and `t + 1`'
    """
    return _ENDS.sub("", _QUOTED.sub(r"\1", text)) if UNSPELLABLE in text else text


def readable(error: Any) -> Any:
    """An error of PySpark, which says plainly what it says."""
    texts = {name: getattr(error, name, None) for name in TEXTS}
    if UNSPELLABLE not in str(texts):
        return error
    for name, each in texts.items():
        setattr(error, name, _all(each))
    for name in ASKED:
        method = getattr(error, name, None)
        if method is not None:
            setattr(error, name, lambda method=method: _all(method()))
    return error


def _all(text: Any) -> Any:
    """Texts alone, in a tuple or in a dict."""
    if isinstance(text, str):
        return plain(text)
    if isinstance(text, tuple):
        return tuple(map(_all, text))
    return {name: _all(each) for name, each in text.items()} if isinstance(text, dict) else text
