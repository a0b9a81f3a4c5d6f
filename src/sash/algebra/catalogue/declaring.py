"""How a function is declared: its names, its parameters, what it computes, and who else has it.

The vocabulary of ``sash.functions``, that of SQL, the checks, the errors and the reference follow from declarations.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

from sash.errors import SashError

Make = Callable[..., Any]  # gives the Aggregate or the WindowFunction for some constants

COLUMN = "column"
COLUMNS = "columns"  # as many as are given
ROWS = "rows"  # a column, or "*" for the rows themselves
CONDITION = "condition"  # what holds for a row or does not
CONSTANT = "constant"
SHARE = "share"  # of the rows, between 0 and 1: a constant, several of them, or a column
OPTIONAL = "optional column"  # a column, or None; whether there is one is told to what makes the function
FREQUENCY = "frequency"  # of the rows: 1, another constant, or a column
CALL = "call"  # a function and its columns
TEXT = "text"  # a constant, or a column of each row's own
NUMBER = "number"  # a whole number: a constant, or a column of each row's own
DISTANCE = "distance"  # in the window's order: a constant, of which texts are intervals, or a column
DEFAULT = "default"  # a column, or a constant even where it is a string
NULLS = "nulls"  # whether NULLs are ignored
FROM_LAST = "from last"  # whether places are counted from the last row
UNUSED = "unused"  # taken because PySpark's function takes it

CONSTANTS = (
    CONSTANT,
    SHARE,
    TEXT,
    NUMBER,
    DISTANCE,
    FROM_LAST,
    OPTIONAL,
    FREQUENCY,
    CALL,
)  # what makes the function, or says how

REQUIRED: Any = object()


@dataclass(frozen=True)
class Parameter:
    """One parameter of a function: what it is called, what it takes, and what it is where it is not given.

    ``words`` are those of errors about SQL, ``type`` is its annotation, ``example`` a constant to try it with.
    """

    name: str
    takes: str = COLUMN
    default: Any = REQUIRED
    type: str = "Column"
    words: str = ""
    example: Any = None
    keyword: bool = False

    @property
    def said(self) -> str:
        """What an error calls it."""
        return self.words or self.name


@dataclass(frozen=True)
class Synonym:
    """Another name that a function has in SQL alone: with other defaults, or with its columns the other way round."""

    name: str
    swapped: bool = False
    defaults: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Function:
    """A function of the vocabulary.

    Args:
        name: what ``sash.functions`` and SQL call it.
        make: gives the Aggregate or the WindowFunction for the constants of a call.
        parameters: what it takes, with PySpark's names where PySpark has the function.
        does: what its answer is: a sentence, and more below it where need be.
        examples: calls as SQL writes them; the first one is shown everywhere.
        heading: where the reference has it.
        in_python: whether ``sash.functions`` has it.
        in_sql: whether SQL has it.
        spark: whether Spark answers it over its own windows as Sash does.
        postgres: whether PostgreSQL's documentation has it over windows.
        by_order: whether its column may be written as the order of the call: ``median() within group (order by x)``.
        spans: whether it is of events that last, and so for continuous queries alone.
        weights: columns that it has beside those of the user.
        base: the function whose constants these are, where this one is a way to call that.
        then: what is done to the call of the base.
        synonyms: other names in SQL.
        stands_for: names of PySpark that it stands for, and what to say of that.

    """

    name: str
    make: Make
    parameters: tuple[Parameter, ...]
    does: str
    examples: tuple[str, ...]
    heading: str
    in_python: bool = True
    in_sql: bool = True
    spark: bool = False
    postgres: bool = False
    by_order: bool = False
    spans: bool = False
    weights: tuple[str, ...] = ()
    base: str = ""
    then: Callable[[Any], Any] | None = None
    synonyms: tuple[Synonym, ...] = ()
    stands_for: Mapping[str, str] = field(default_factory=dict)

    def takes(self, what: str) -> bool:
        """Whether it has a parameter of this sort."""
        return any(each.takes == what for each in self.parameters)

    @property
    def sentence(self) -> str:
        """What its answer is, in a line."""
        return self.does.partition("\n")[0]

    @property
    def examples_of_constants(self) -> tuple[Any, ...]:
        """Constants to try it with: those that it cannot do without."""
        constants = (each for each in self.parameters if each.takes in CONSTANTS)
        return tuple(
            each.takes not in (OPTIONAL, FREQUENCY) and (each.example if each.default is REQUIRED else each.default)
            for each in constants
        )


def always(thing: Any) -> Make:
    """What a function without constants computes."""
    return lambda: thing


def also(function: Function, name: str, does: str = "", **changes: Any) -> Function:
    """The function by another name; Spark and PostgreSQL have that name only if this is said."""
    sentence = does or f"{function.sentence.rstrip('.')}: another name of ``{function.name}``."
    make = cache(lambda *constants: function.make(*constants).but(name=name))
    changed = {"spark": False, "postgres": False, "synonyms": (), "stands_for": {}, **changes}
    examples = tuple(each.replace(f"{function.name}(", f"{name}(", 1) for each in function.examples[:1])
    return replace(function, name=name, make=make, does=sentence, **{"examples": examples, **changed})


def by_name(functions: Iterable[Function]) -> dict[str, Function]:
    """Functions by their names, of which no two are the same."""
    table: dict[str, Function] = {}
    for function in functions:
        if function.name in table:
            raise ValueError(f"two functions are called {function.name}")
        table[function.name] = function
    return table


def whole(name: str, value: object, *, least: int = 1, most: int | None = None) -> int:
    """Check a parameter that is a whole number."""
    number = value.__index__() if hasattr(value, "__index__") and not isinstance(value, bool) else None
    if number is None or number < least or (most is not None and number > most):
        upto = "" if most is None else f" and at most {most}"
        raise SashError(f"{name} must be a whole number, at least {least}{upto}, got {value!r}")
    return number


COL = Parameter("col")
EACH = (COL,)
