"""Calls that need an order of the rows where the query says none: one that is the same each time, and a warning."""

from __future__ import annotations

import re
import warnings
from collections.abc import Sequence
from dataclasses import replace

from sash.errors import SashError, SashWarning, outside
from sash.expressions.columns import Name
from sash.expressions.orders import asc
from sash.spark.hidden import plain
from sash.sql.inner import Inner
from sash.sql.syntax import Span
from sash.sql.tokens import NUMBER, Source
from sash.windows.over import Over

# types of Spark whose values Sash sorts by
_SORTED = re.compile(
    r"(tinyint|smallint|int|bigint|float|double|decimal|string|char|varchar|binary|boolean|date|timestamp(_ntz)?)\b"
)


def keys(inner: Inner, body: str | None, groups: Sequence[Span]) -> list[str]:
    """The columns that tell the rows apart: all that is selected from, or of groups what they are made by.

    ``body`` is the text from FROM on, and None where there is none.
    """
    if body is None:
        return [inner.derived("TRUE", "TRUE")]
    if not groups:
        return [name for name, dtype in inner.all_columns(body) if _SORTED.match(dtype)]
    listed = [name for place in sorted(inner.items) for name in inner.items[place][1]]
    return listed + [inner.column(*span) for span in groups if _is_key(inner.source, *span)]


def in_order(over: Over, words: str, columns: Sequence[str]) -> Over:
    """The call in the order of these columns."""
    if not columns:
        raise SashError(f"{words} needs an ORDER BY: there is no column to order by")
    warnings.warn(
        f"{words} has no ORDER BY: its rows are in the order of {', '.join(map(plain, columns))}, so that the answer "
        "is the same each time; write the ORDER BY that is meant",
        SashWarning,
        stacklevel=outside(),
    )
    return replace(over, window=over.window.orderBy(*(asc(Name((each,))) for each in columns)))


def _is_key(source: Source, lo: int, hi: int) -> bool:
    """Whether a part of GROUP BY is an expression, not the number of one, ALL or several sets of keys."""
    whole = hi - lo == 1 and (source.tokens[lo].kind == NUMBER or source.word(lo) == "ALL")
    return not whole and source.word(lo) not in ("(", "CUBE", "ROLLUP", "GROUPING") and source.word(hi) != "WITH"
