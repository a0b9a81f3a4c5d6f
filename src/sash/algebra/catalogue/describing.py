"""A function in words, for help() and the reference: what it does, what it takes, what NULLs do, and an example."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from sash.algebra.catalogue import declaring as d
from sash.algebra.window_function import RankFunction

COLUMN = 'a column by its name, or an expression such as ``sash.col("qty") * 2``'
TAKES = {
    d.COLUMN: COLUMN,
    d.COLUMNS: "columns by their names, or expressions",
    d.ROWS: 'a column, or ``"*"`` for the rows themselves',
    d.CONDITION: 'what holds for a row or does not: Spark SQL such as ``"qty > 0"``, or an expression',
    d.SHARE: "a share between 0 and 1, several in a list, or a column",
    d.OPTIONAL: f"{COLUMN}, or None",
    d.NUMBER: "a whole number, or a column of each row's own",
    d.TEXT: "a string, or a column of each row's own",
    d.DISTANCE: 'a distance in the window\'s order: a number, an interval such as ``"30 minutes"``, or a column',
    d.DEFAULT: "what is answered where there is no such row: a constant, or a column",
    d.NULLS: "whether NULLs are passed over",
    d.FROM_LAST: "whether it is counted from the last row of the frame",
    d.FREQUENCY: "how many times a row counts: a whole number, or a column",
    d.CALL: 'a function without a window, such as ``sf.sum("x")``',
    d.UNUSED: "changes nothing: it is there because PySpark has it",
}


def described(function: d.Function, thing: Any = None) -> str:
    """The text of a function's entry; what NULLs do is told by what it makes, where that is given."""
    parts = [function.does]
    if function.parameters:
        parts.append("\n".join(["Args:", *(f"    {_argument(each)}" for each in function.parameters)]))
    said = nulls(function, thing) if thing is not None else ""
    parts += [said] if said else []
    parts.append(f"In Python: ``sf.{example(function)}{'' if function.spans else '.over(window)'}``")
    parts += [f"In SQL: ``{function.examples[0]}``"] if function.in_sql else []
    return "\n\n".join(parts)


def nulls(function: d.Function, thing: Any) -> str:
    """What NULLs do, told by the traits of the aggregate or window function that it makes."""
    columns = [each.name for each in function.parameters if each.takes in (d.COLUMN, d.COLUMNS, d.CONDITION)]
    if not columns or isinstance(thing, RankFunction) or function.heading == OVER_TIME:  # which say it themselves
        return ""
    if getattr(thing, "nulls", False):
        return "NULLs are values like others; ``.ignore_nulls()`` passes over them."
    if getattr(thing, "returns", "") == "row" and len(columns) == 1:
        ignoring = next((each.name for each in function.parameters if each.takes == d.NULLS), None)
        return "NULLs are values like others" + (f"; ``{ignoring}=True`` passes over them." if ignoring else ".")
    if getattr(thing, "returns", "") == "row":
        return f"Rows where ``{columns[-1]}`` is NULL do not count."
    which = f"``{columns[0]}`` is" if len(columns) == 1 else "one of the columns is"
    return f"Rows where {which} NULL do not count; where no other row is left, the answer is {_empty(thing)}."


def _empty(thing: Any) -> str:
    if thing.name in EMPTY:
        return EMPTY[thing.name]
    if (getattr(thing, "returns", "") == "rows" and thing.name not in TEXTS) or thing.name in LISTS:
        return "an empty list"
    return "0" if getattr(thing, "empty", None) == 0 or thing.name == "count_distinct" else "NULL"


def _argument(parameter: d.Parameter) -> str:
    name = f"*{parameter.name}" if parameter.takes == d.COLUMNS else parameter.name
    words = TAKES.get(parameter.takes) or f"a constant: {TYPES.get(parameter.type, parameter.type)}"
    default = parameter.default
    given = "" if default is d.REQUIRED or parameter.takes == d.UNUSED else f"; ``{default!r}`` unless given"
    return f"{name}: {words}{given}."


def example(function: d.Function) -> str:
    """A call of columns x and y, with the constants that it cannot do without.

    >>> from sash.algebra.catalogue import FUNCTIONS
    >>> example(FUNCTIONS["max_by"]), example(FUNCTIONS["ntile"])
    ('max_by("x", "y")', 'ntile(3)')
    """
    names = iter(("x", "y", "z"))
    arguments = []
    for each in function.parameters:
        if each.takes in (d.COLUMN, d.ROWS):
            arguments.append(f'"{next(names)}"')
        elif each.takes == d.CONDITION:
            arguments.append('"x > 0"')
        elif each.takes == d.CALL:
            arguments.append('sf.sum("x")')
        elif each.default is d.REQUIRED and each.takes != d.COLUMNS:
            of_time = isinstance(each.example, timedelta)
            shown = repr(list(each.example) if isinstance(each.example, tuple) else each.example).replace("'", '"')
            arguments.append('"30 minutes"' if of_time else shown)
    return f"{function.name}({', '.join(arguments)})"


OVER_TIME = "Averages over time"
TEXTS = ("concat", "listagg", "string_agg")
LISTS = ("top_k", "collect_set", "collect_distinct")  # of values, not of rows
EMPTY = {"by_bucket": "an empty map", "histogram": "a list of zeros"}
TYPES = {"int": "a whole number", "float": "a number", "str": "a text", "Any": "a value"}
