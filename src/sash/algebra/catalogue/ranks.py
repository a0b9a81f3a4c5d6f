"""Ranks: of a row, or of given values, among the rows of a frame. What is counted, and what is made of the count."""

from __future__ import annotations

from typing import Any

import numpy as np

from sash.algebra.catalogue.declaring import COLUMNS, CONSTANT, NUMBER, Function, Parameter, always, whole
from sash.algebra.window_function import AROUND, BEFORE, EQUALS, ITSELF, VALUES, RankFunction
from sash.errors import SashError

MOST_TILES = (1 << 62) - 1


def percent_rank(below: Any, sizes: Any, outside: Any, parameters: tuple[Any, ...]) -> tuple[Any, Any]:
    """The rows before, over all the others; a row outside the frame is put into it for the question."""
    total = sizes + outside
    return np.where(total > 1, below / np.maximum(total - 1, 1), 0.0), sizes > 0


def cume_dist(below: Any, sizes: Any, outside: Any, parameters: tuple[Any, ...]) -> tuple[Any, Any]:
    """The rows up to the last equal one, over all."""
    return (below + outside) / np.maximum(sizes + outside, 1), sizes > 0


def tile(below: Any, sizes: Any, outside: Any, parameters: tuple[Any, ...]) -> tuple[Any, Any]:
    """The number of the tile that the row is in."""
    (number,) = parameters  # an array of each row's own, or one for all, however large
    total, tiles = (
        sizes + outside,
        min(number, MOST_TILES) if isinstance(number, int) else np.minimum(number, MOST_TILES),
    )
    least, larger = total // tiles, total % tiles  # so many tiles have one row more than the least
    edge = larger * (least + 1)
    bucket = np.where(below < edge, below // (least + 1), larger + (below - edge) // np.maximum(least, 1))
    return (bucket + 1).astype(np.int32), sizes > 0


def ntile(n: Any) -> RankFunction:
    """The number of the n about equal parts that the row falls into."""
    tiles = None if n is None else whole("n", n)  # of a column, each row's own
    return RankFunction("ntile", (tiles,), (int(n is None),) * 2, counts=ITSELF, lower=tile)


def last_place(below: Any, sizes: Any, outside: Any, parameters: tuple[Any, ...]) -> tuple[Any, Any]:
    """The place of the last equal row, which is the row itself where no other is in the frame."""
    return (below + outside).astype(np.int32), np.ones(len(below), np.bool_)


def middle_place(below: Any, sizes: Any, outside: Any, parameters: tuple[Any, ...]) -> tuple[Any, Any]:
    """The mean of the places of the first equal row and the last."""
    return (below + 1 + outside) / 2, np.ones(len(below), np.bool_)


METHODS = {
    "min": RankFunction("rank", counts=BEFORE, exact=True),
    "max": RankFunction("rank", ("max",), counts=EQUALS, lower=last_place, exact=True),
    "average": RankFunction("rank", ("average",), counts=AROUND, lower=middle_place, exact=True),
    "dense": RankFunction("rank", ("dense",), counts=VALUES, exact=True),
    "first": RankFunction("rank", ("first",), columns=(0, 0), counts=ITSELF),
}


def rank(method: Any = "min") -> RankFunction:
    """The place of a row among the others: of rows that are equal in the order as the method says."""
    if method not in METHODS:
        raise SashError(f"method must be one of {', '.join(METHODS)}, got {method!r}")
    return METHODS[method]


_RANKS = "Ranks"
_VALUES = (Parameter("values", COLUMNS),)


def _declared(function: RankFunction, does: str, examples: tuple[str, ...]) -> Function:
    parameters = () if function.counts == ITSELF else _VALUES
    return Function(function.name, always(function), parameters, does, examples, _RANKS, spark=True, postgres=True)


FUNCTIONS = (
    Function(
        "rank",
        rank,
        (*_VALUES, Parameter("method", CONSTANT, "min", "str", keyword=True)),
        "One more than the number of rows that come before; given values, the rank that a row with these would have."
        "\n\n"
        '``method`` says what rows that are equal in the order share: ``"min"``, ``"max"`` or ``"average"`` of the\n'
        'places that they have together; ``"dense"`` counts different values, and with ``"first"`` each has a place\n'
        "of its own, as they came.",
        ("rank()", "rank(order by price desc)", "rank(6.5) within group (order by price)",
         "rank(order by price) filter (where up)"),
        _RANKS,
        spark=True,
        postgres=True,
    ),
    _declared(
        RankFunction("dense_rank", counts=VALUES, exact=True),
        "One more than the number of different values that come before.",
        ("dense_rank()", "dense_rank(order by price)"),
    ),
    _declared(
        RankFunction("row_number", columns=(0, 0), counts=ITSELF),
        "The place of the row, counted from 1; rows that are equal in the order keep the window's.",
        ("row_number()", "row_number(order by price, n)"),
    ),
    _declared(
        RankFunction("percent_rank", counts=BEFORE, lower=percent_rank, exact=True),
        "The rank less 1, over the number of rows less 1.",
        ("percent_rank()", "percent_rank(order by price)"),
    ),
    _declared(
        RankFunction("cume_dist", counts=EQUALS, lower=cume_dist, exact=True),
        "The share of the rows that do not come after.",
        ("cume_dist()", "cume_dist(order by price)"),
    ),
    Function(
        "ntile",
        ntile,
        (Parameter("n", NUMBER, type="int | Column", words="the number of tiles", example=3),),
        "The number, from 1, of the ``n`` about equal parts that the row falls into.",
        ("ntile(2)", "ntile(2 order by price, n)"),
        _RANKS,
        spark=True,
        postgres=True,
    ),
)  # fmt: skip
