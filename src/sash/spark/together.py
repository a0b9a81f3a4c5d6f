"""Rows that an earlier ``withColumns`` brought together, and that are not shuffled again for the same keys."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from pyspark.sql import DataFrame

from sash.spark.exchanges import HASHED, Exchange

_PLAIN = re.compile(r"[^\W\d]\w*")  # the name of a column, not the words of an expression
NOTE = "_sash_together"  # an attribute of the DataFrame, which is lost with whatever is done to it


@dataclass(frozen=True)
class Together:
    """Columns by which equal rows are in one partition of a DataFrame; None where that is not known."""

    keys: frozenset[str] | None = None

    @classmethod
    def of(cls, frame: Any) -> Together:
        """What an earlier ``withColumns`` noted of its result."""
        return cls(vars(frame).get(NOTE))

    def suffices(self, exchange: Exchange) -> bool:
        """Whether the rows are where an exchange would bring them: what is together by fewer keys is by more, too."""
        return exchange.how == HASHED and self.keys is not None and self.keys <= frozenset(exchange.keys)

    def after(self, exchange: Exchange) -> Together:
        """What is known of the rows behind an exchange."""
        if self.suffices(exchange):
            return self
        return Together(frozenset(exchange.keys) if exchange.how == HASHED else None)

    def noted(self, frame: Any, columns: Iterable[str]) -> Any:
        """The frame, with a note of this; keys must be columns that are as they were."""
        if not isinstance(frame, DataFrame):  # but one whose columns the user names
            return frame
        changed = set(map(str.lower, columns))
        if self.keys is not None and all(_PLAIN.fullmatch(key) and key.lower() not in changed for key in self.keys):
            setattr(frame, NOTE, self.keys)
        return frame
