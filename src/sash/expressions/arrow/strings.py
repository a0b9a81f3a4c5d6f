"""Strings: text put together, cut and matched."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from sash.expressions.arrow.casting import convert
from sash.expressions.arrow.operands import Trouble, Value, is_scalar, row_by_row
from sash.expressions.arrow.promotion import family_of, spark_name


def concatenated(*values: Value) -> Value:
    """The values as text, one after the other; NULL where one of them is."""
    texts = [text(value) for value in values]
    dtype = pa.large_string() if any(each.type == pa.large_string() for each in texts) else pa.string()
    return pc.binary_join_element_wise(*(convert(each, dtype) for each in texts), pa.scalar("", dtype))


def upper(value: Value) -> Value:
    """The text in capitals."""
    return pc.utf8_upper(text(value))


def lower(value: Value) -> Value:
    """The text in small letters."""
    return pc.utf8_lower(text(value))


def length(value: Value) -> Value:
    """How many characters the text has, or how many bytes."""
    count = pc.binary_length(value) if family_of(value) == "binary" else pc.utf8_length(text(value))
    return pc.cast(count, pa.int32())


def substring(value: Value, start: Value, size: Value | None = None) -> Value:
    """A part of the text: characters count from 1, and from the end below zero."""
    value = text(value)
    for name, each in (("start", start), ("length", size)):
        if each is not None and family_of(each) not in ("integer", "null"):
            raise Trouble(f"the {name} of a substring must be a whole number, not {spark_name(each)}")
    fixed = all(each is None or (is_scalar(each) and each.is_valid) for each in (start, size))
    if fixed and start.as_py() >= 0 and (size is None or size.as_py() >= 0):
        first = max(start.as_py() - 1, 0)
        return pc.utf8_slice_codeunits(value, first, first + size.as_py() if size is not None else None)

    def part(whole: str, at: int, count: int = 2**31) -> str:
        first = at - 1 if at > 0 else len(whole) + at if at < 0 else 0
        return whole[max(first, 0) : max(first + count, 0)]

    return row_by_row(part, [value, start] if size is None else [value, start, size], value.type)


def like(value: Value, pattern: Value) -> Value:
    """Whether the text matches a pattern in which % is any text and _ any character."""
    if not is_scalar(pattern):
        raise Trouble("the pattern of LIKE must be the same for all rows")
    value = text(value)
    if not pattern.is_valid or family_of(pattern) != "string":
        return pc.equal(value, convert(pattern, value.type))
    return pc.match_like(value, pattern.as_py())


def text(value: Value) -> Value:
    """The value as text."""
    return value if family_of(value) == "string" else convert(value, pa.string(), explicit=True)
