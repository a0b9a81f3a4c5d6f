"""Two columns in one type, so that their values can be compared."""

from __future__ import annotations

import pyarrow as pa

from sash.expressions.arrow.casting import convert
from sash.expressions.arrow.operands import Trouble, plain
from sash.expressions.arrow.promotion import common_type


def together(first: pa.Array, second: pa.Array) -> pa.Array | None:
    """The values of one column and then those of another, in a type that takes both; None where there is none.

    The type is the one in which Spark would compare them.

    >>> together(pa.array([1, 2], pa.int8()), pa.array([2.5])).to_pylist()
    [1.0, 2.0, 2.5]
    """
    if first.type == second.type and not pa.types.is_dictionary(first.type):
        return pa.concat_arrays([first, second])
    if first.type == second.type:
        return pa.chunked_array([first, second]).unify_dictionaries().combine_chunks()
    first, second = plain(first), plain(second)
    try:
        dtype = common_type([first, second])
        return pa.concat_arrays([convert(first, dtype), convert(second, dtype)])
    except (Trouble, pa.ArrowException):
        return None
