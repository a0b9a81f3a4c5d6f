"""The formats of partials: what tells the bytes of one from those of another, wherever they are kept.

A partial is known by whose it is (the aggregate, its columns, its filter), by the number of its format, and by the
types of its fields. State that has a partial of another format is refused by the name of its function.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from sash.engine.streams.restoring import is_whole, refused
from sash.errors import SashError


class PartialFormat(NamedTuple):
    """What a partial is known by."""

    meaning: str  # a digest of whose it is, and of which rows
    number: int  # of its format
    fields: tuple[str, ...]  # the types of what it has
    words: str  # to a user

    @property
    def id(self) -> str:
        """The name of its column."""
        return f"{self.meaning}-{self.number}-{_digest(self.fields)[:8]}"

    @property
    def text(self) -> list[Any]:
        """What state says of it."""
        return [self.meaning, self.number, list(self.fields), self.words]


def format_of(number: int, meant: Any, state: np.dtype, words: str) -> PartialFormat:
    """The format of partials, given its number; ``meant`` is all that makes two of them the same."""
    fields = (state.str,) if state.names is None else tuple(state[name].str for name in state.names)
    return PartialFormat(_digest(meant)[:16], number, fields, words)


def differences(before: Sequence[Sequence[Any]], now: Sequence[PartialFormat]) -> list[str]:
    """What of partials that were kept cannot be gone on with, in words."""
    mine, wrong = {each.meaning: each for each in now}, []
    for meaning, number, fields, words in before:
        same = mine.get(meaning)
        if same is None:
            wrong.append(f"partials of {words} are made otherwise, by another version of Sash or of a function")
        elif same.number != number:
            wrong.append(f"partials of {words} are of format {same.number} and were of format {number}")
        elif list(same.fields) != list(fields):
            wrong.append(f"partials of {words} are {', '.join(same.fields)} and were {', '.join(fields)}")
    return wrong


def refuse_others(before: Sequence[Sequence[Any]], now: Sequence[PartialFormat]) -> None:
    """Refuse a state with partials of other formats."""
    refuse_odd(before)
    if wrong := differences(before, now):
        raise SashError(f"state must be of partials as this Sash makes them: {'; '.join(wrong)}; fold the rows again")


def refuse_odd(texts: Any) -> None:
    """Refuse what is no list of formats, as ``text`` has them."""
    good = isinstance(texts, list) and all(isinstance(each, list) and len(each) == 4 for each in texts)
    for meaning, number, fields, words in texts if good else ():
        good &= isinstance(meaning, str) and is_whole(number) and isinstance(words, str)
        good &= isinstance(fields, list) and all(isinstance(field, str) for field in fields)
    if not good:
        raise refused("the formats of partials", "a list of them", "another thing")


def _digest(thing: Any) -> str:
    return hashlib.sha256(repr(thing).encode()).hexdigest()
