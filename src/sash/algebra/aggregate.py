"""An aggregate: lift a row to a partial, combine partials, lower a partial to an answer.

Only associativity of ``combine`` is required; everything else is a promise that lets the planner
choose a faster algorithm. The older partial is always the left operand.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any, ClassVar

from sash.algebra.call import TIME, Call
from sash.errors import SashError

TAKES = ("numbers", "order", "integers", "texts", "values", "limbs", "times", "hashes")
ENDS = ("first", "last", "smallest", "largest")

State = Any  # a scalar or a nested tuple of scalars: integers, floats, booleans


def itself(state: State) -> State:
    """Lower a partial that is the answer already."""
    return state


@dataclass(frozen=True, eq=False)
class Aggregate:
    """A user's own aggregate, or a built-in one: both go through this door.

    Args:
        name: what it is called in plans, messages and SQL.
        lift: makes the partial of one row; one parameter per column (with ``rows=True`` the row's
            position comes first).
        combine: merges two adjacent partials, the older on the left. Must be associative.
        lower: makes the answer of a partial; ``None`` from it is NULL. By default the partial itself.
        identity: a partial that changes nothing. Optional.
        inverse: ``inverse(combine(a, b), a) == b``: takes the older part away. Optional.
        commutative: ``combine(a, b) == combine(b, a)``.
        selective: ``combine(a, b)`` is always ``a`` or ``b``.
        compiled: ``False`` runs the functions as plain Python: slow, and any state will do.
        rows: ``lift`` takes the position of the row in arrival order as its first argument.
        returns: ``"value"``; ``"row"``, where ``lower`` gives the position of the row whose first
            argument is the answer; ``"rows"``, where it gives a ``(start, stop)`` range of positions.
        cast: the NumPy type that inputs are converted to before ``lift``.
        takes: what ``lift`` makes of a column: ``"numbers"``; ``"order"`` where it only compares values, so that any
            type that has an order will do; ``"integers"``; ``"texts"``; ``"values"``, which are Python's own, of any
            type; ``"limbs"``, four for each whole number of 128 bits; ``"times"``, numbers but for the last column,
            which is the time of the row, lifted as the whole number that Arrow keeps: where a call does not give it,
            it is the first key of the window's order, or the stream's ``time``; ``"hashes"``, a whole number of 64 bits
            for each value of any type, the same wherever the values are equal, in every process.
        gives_input: whether answers are values of the column, and so of its type.
        exact: whether rows give the very same answer in any order, as long as no value is a float.
        unique: whether each value is taken once.
        counts: whether the answer is the number of rows, so that with DISTINCT it is that of different values.
        few: the rows that alone can matter: ``("first", 1)``, ``("largest", 3)``; also last and smallest. Of those that
            are counted, and by the one column that ``lift`` takes; of equal ones the first. Optional.
        by_place: whether a partial is where its rows start and stop, and ``lower`` chooses among places.
        prorated: the aggregate that also takes the share of a span that is in a window. Optional.
        typed: gives the definition for input types (NumPy dtypes), for aggregates that depend on them.
        for_type: gives the definition for the Arrow type of the first column, or None where that is no other one; with
            ``takes="times"`` for that of the last.
        finish: turns the array of answers into the final one, and may raise ``SashError``: the NumPy array
            of what ``lower`` gave, or, with ``returns="rows"``, the Arrow array of lists of values.
        combine_without_nan: a cheaper ``combine`` that gives the same where no input is NaN.
        moment: which moment of the values of one column answers it, and how: ``(1, f)``, where ``f(n, total)`` is the
            answer of n values, or ``(2, f)``, of n and the sum of squared distances from their mean. Optional.
        empty: the answer of an empty frame; by default NULL.
        bulk: makes the partial of many rows at once, of NumPy arrays where ``lift`` takes values. Optional.
        pack: turns a partial into bytes, for snapshots. Optional; comes with ``unpack``.
        unpack: turns these bytes into the partial again.
        format: the number of the partial's format: another wherever ``lift`` and ``combine`` come to give partials
            another meaning, so that state of before is refused, not misread.

    >>> import math
    >>> geomean = Aggregate(
    ...     "geomean",
    ...     lift=lambda x: (math.log(x), 1),
    ...     combine=lambda a, b: (a[0] + b[0], a[1] + b[1]),
    ...     lower=lambda s: math.exp(s[0] / s[1]),
    ...     commutative=True,
    ... )
    >>> geomean("price")
    geomean(price)

    """

    name: str
    lift: Callable[..., State]
    combine: Callable[[State, State], State]
    lower: Callable[[State], Any] = itself
    identity: State | None = None
    inverse: Callable[[State, State], State] | None = None
    commutative: bool = False
    selective: bool = False
    compiled: bool = True
    rows: bool = False
    returns: str = "value"
    cast: str | None = None
    takes: str = "numbers"
    gives_input: bool = False
    exact: bool = False
    unique: bool = False
    counts: bool = False
    few: tuple[str, int] | None = None
    by_place: bool = False
    prorated: Aggregate | None = None
    for_type: Callable[[Any], Aggregate | None] | None = None
    typed: Callable[[tuple[Any, ...]], Aggregate] | None = None
    finish: Callable[[Any], Any] | None = None
    combine_without_nan: Callable[[State, State], State] | None = None
    moment: tuple[int, Callable[[Any, Any], Any]] | None = None
    empty: Any = None
    bulk: Callable[..., State] | None = None
    pack: Callable[[State], bytes] | None = None
    unpack: Callable[[bytes], State] | None = None
    format: int = 1
    origin: tuple[Any, ...] | None = field(default=None, init=False)  # of a built-in: its name and parameters
    maker: Callable[..., Aggregate] | None = field(default=None, init=False, repr=False)  # makes it of these

    per_row: ClassVar[bool] = False
    of_spans: ClassVar[bool] = False
    framed: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name:
            raise SashError(f"name must be a non-empty string, got {self.name!r}")
        _takes(self.lift, "lift", least=int(self.rows))
        _takes(self.combine, "combine", exactly=2)
        _takes(self.lower, "lower", exactly=1)
        if self.inverse is not None:
            _takes(self.inverse, "inverse", exactly=2)
        if self.combine_without_nan is not None:
            _takes(self.combine_without_nan, "combine_without_nan", exactly=2)
        if self.moment is not None:
            _check_moment(self.moment)
        if self.bulk is not None:
            _takes(self.bulk, "bulk", exactly=self.inputs + int(self.rows))
        if (self.pack is None) != (self.unpack is None):
            raise SashError(f"pack and unpack must be given together, got only {'un' * (self.pack is None)}pack")
        if self.pack is not None:
            _takes(self.pack, "pack", exactly=1)
            _takes(self.unpack, "unpack", exactly=1)
        if not isinstance(self.format, int) or isinstance(self.format, bool) or self.format < 1:
            raise SashError(f"format must be a whole number, at least 1, got {self.format!r}")
        if self.returns not in ("value", "row", "rows"):
            raise SashError(f'returns must be "value", "row" or "rows", got {self.returns!r}')
        if self.returns != "value" and not self.rows:
            raise SashError(f'returns="{self.returns}" needs rows=True, so that lift sees positions')
        if self.takes not in TAKES:
            raise SashError(f"takes must be one of {', '.join(TAKES)}, got {self.takes!r}")
        if self.few is not None and not _is_few(self.few):
            raise SashError(f'few must be such as ("largest", 3), with one of {", ".join(ENDS)}, got {self.few!r}')
        self._check_traits()
        if self.prorated is not None and not isinstance(self.prorated, Aggregate):
            raise SashError(f"prorated must be a sash.Aggregate, got {self.prorated!r}")
        if self.for_type is not None:
            _takes(self.for_type, "for_type", exactly=1)

    def _check_traits(self) -> None:
        """Refuse traits that say nothing together."""
        if self.by_place and self.returns == "value":
            raise SashError('by_place needs returns="rows" or "row", so that lower gives places')
        if self.unique and not (self.by_place and self.returns == "rows"):
            raise SashError(f'unique needs by_place=True and returns="rows": {self.name} would take equal values again')
        if self.takes == "values" and self.compiled:
            raise SashError('takes="values" needs compiled=False')

    def _check_inputs(self) -> None:
        """Refuse traits of one column where ``lift`` takes another number of them, and texts that nothing joins."""
        if self.takes == "texts" and not (self.by_place and self.finish is not None):
            raise SashError('takes="texts" needs by_place=True, and finish, which joins them')
        of_one = self.few is not None and self.few[0] in ("smallest", "largest")
        for trait, needed in (
            ("gives_input", self.gives_input),
            ("few", of_one),
            ('takes="values"', self.takes == "values"),
        ):
            if needed and self.inputs != 1:
                raise SashError(f"{self.name}: {trait} needs a lift of one column, got one of {self.inputs}")
        if self.few is not None and not (self.inputs or self.rows):
            raise SashError(f"{self.name}: few needs a lift of a column or of the position, got one of neither")
        if self.by_place and self.inputs:
            raise SashError(
                f"{self.name}: by_place needs a lift of the position alone, got one of {self.inputs} columns"
            )

    def __call__(self, *columns: Any) -> Call:
        """The aggregate of these columns."""
        self._check_inputs()
        gathers, free = self.returns != "value", self.inputs == 0
        if self.takes == "times" and len(columns) == self.inputs - 1:
            columns = (*columns, TIME)
        least, most = self.inputs + gathers, self.inputs + int(gathers or free)
        if not least <= len(columns) <= most:
            takes = str(least) if least == most else f"{least} or {most}"
            raise SashError(f"{self.name} takes {takes} columns, got {len(columns)}: {columns!r}")
        return Call(self, columns)

    def __reduce_ex__(self, protocol: Any) -> Any:
        """Pickle a built-in by its name, so that whoever unpickles it has the very same."""
        return super().__reduce_ex__(protocol) if self.origin is None else (self.maker, self.origin)

    def __repr__(self) -> str:
        return f"<aggregate {self.name}>"

    @property
    def inputs(self) -> int:
        """How many columns ``lift`` takes: the last so many of the call's arguments."""
        code = getattr(self.lift, "__code__", None)  # its parameters are plain positional ones
        count = code.co_argcount if code is not None else len(inspect.signature(self.lift).parameters)
        return count - int(self.rows)

    def counted(self, columns: tuple[Any, ...]) -> tuple[Any, ...]:
        """Those of a call's columns of which a row must have a value to count."""
        if self.by_place:
            return columns[:1] if self.returns == "rows" else ()
        inputs = columns[len(columns) - self.inputs :]
        return columns if self.returns != "row" and not inputs else inputs

    @property
    def invertible(self) -> bool:
        """Whether the oldest rows can be taken away from a partial."""
        return self.inverse is not None

    @property
    def cumulative(self) -> bool:
        """Whether every row leaves its mark on the partial, so that duplicates do harm."""
        return not self.selective

    @property
    def nth(self) -> tuple[int, bool] | None:
        """The place of the row whose value is the answer, and whether it is counted from the last; None for others."""
        one = (
            self.returns == "row" and not self.by_place and self.few in (("first", 1), ("last", 1)) and not self.inputs
        )
        return (1, self.few == ("last", 1)) if one else None

    @property
    def ordered(self) -> bool:
        """Whether it may have an order of its own."""
        return self.returns == "rows" or self.nth is not None

    @property
    def ignores_nulls(self) -> bool:
        """Whether it can be told to ignore NULLs."""
        return self.nth is not None

    @property
    def no_distinct(self) -> str | None:
        """Why it cannot be distinct, or None."""
        return f"{self.name} cannot be distinct: its answer is one row" if self.returns == "row" else None

    def of(self, dtypes: tuple[Any, ...]) -> Aggregate:
        """The definition for inputs of these NumPy types."""
        return self if self.typed is None else _typed(self, dtypes)

    def but(self, **changes: Any) -> Aggregate:
        """The same aggregate with some fields changed, and so whatever its types make of it."""
        if self.moment is not None and not changes.keys().isdisjoint(("lift", "combine", "lower")):
            changes = {"moment": None, **changes}  # it says of the others what they are
        typed = self.typed
        if typed is not None and "typed" not in changes:
            return replace(self, typed=lambda dtypes: typed(dtypes).but(**changes), **changes)
        return replace(self, **changes)


@lru_cache(maxsize=1024)
def _typed(aggregate: Aggregate, dtypes: tuple[Any, ...]) -> Aggregate:
    assert aggregate.typed is not None
    return aggregate.typed(dtypes)


def _check_moment(moment: Any) -> None:
    if not isinstance(moment, tuple) or len(moment) != 2 or moment[0] not in (1, 2):
        raise SashError(f"moment must be such as (1, lambda n, total: total / n), of the 1st or 2nd, got {moment!r}")
    _takes(moment[1], "moment", exactly=2)


def _is_few(few: Any) -> bool:
    whole = isinstance(few, tuple) and len(few) == 2 and isinstance(few[1], int) and not isinstance(few[1], bool)
    return whole and few[0] in ENDS and few[1] >= 1


def _takes(function: Any, argument: str, *, exactly: int | None = None, least: int = 0) -> None:
    """Check that an argument is a function of the right number of positional parameters."""
    if not callable(function):
        raise SashError(f"{argument} must be a function, got {function!r} of type {type(function).__name__}")
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        raise SashError(
            f"{argument} must be a Python function, got {function!r}, whose parameters are hidden; wrap it in a lambda"
        ) from None
    wrong = [p.name for p in parameters if p.kind not in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    if wrong:
        raise SashError(f"{argument} must take plain positional parameters, got {', '.join(wrong)} of another kind")
    if exactly is not None and len(parameters) != exactly:
        raise SashError(f"{argument} must take {exactly} parameters, got a function of {len(parameters)}")
    if len(parameters) < least:
        raise SashError(f"{argument} must take the row's position first when rows=True, got a function of none")
