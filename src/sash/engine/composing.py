"""Expressions of answers: which calls over windows they need, in which order, and what is computed of the answers.

A call that several expressions have in common is answered once. A call that reads the answers of others (``sf.avg`` of
a difference to ``sf.lag``) is answered a stage after these.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from sash.algebra.catalogue import builtin
from sash.engine.columns_read import expressions_of, expressions_of_others, not_a_column, rewritten
from sash.errors import SashError
from sash.expressions.binding import check_names
from sash.expressions.columns import Alias, Column, Foreign, Literal, Name, Operation, as_column
from sash.expressions.naming import resolve
from sash.planner.plan import Composed, Plan
from sash.windows import as_window
from sash.windows.over import Over


@dataclass(frozen=True)
class Composition:
    """Calls in stages, by the names of their answers; and each column as an expression of columns and answers.

    ``labels`` has for the name of an answer the column that it was first needed for.
    """

    stages: tuple[dict[str, Over], ...]
    columns: dict[str, Column]
    labels: dict[str, str]
    asked: dict[str, Column]

    @property
    def is_plain(self) -> bool:
        """Whether each column is one answer, and the other way round."""
        return len(self.stages) == 1 and list(self.stages[0]) == list(self.columns)

    @property
    def answers(self) -> list[str]:
        """The names of all answers."""
        return [name for stage in self.stages for name in stage]

    def reads(self, names: Sequence[str]) -> frozenset[str]:
        """The columns of the frame that calls and expressions need."""
        known = [*names, *self.answers]
        read = [check_names(each, known) for each in self.columns.values()]
        read += [
            check_names(each, known)
            for stage in self.stages
            for over in stage.values()
            for each in expressions_of(over)
        ]
        return frozenset().union(*read) & frozenset(names)

    def plan(self, stages: Sequence[Plan]) -> Plan:
        """The plans of all stages as one."""
        sortings = tuple(sorting for plan in stages for sorting in plan.sortings)
        moves = tuple(move for plan in stages for move in plan.moves)
        return replace(stages[0], sortings=sortings, moves=moves, composed=self._composed())

    def _composed(self) -> tuple[Composed, ...]:
        """What each column is made of."""
        calls = {name: over for stage in self.stages for name, over in stage.items()}

        def parts(column: Any) -> list[str]:
            """The answers that an expression needs, those first that its calls read."""
            own = [name for name in calls if (name,) in column.paths]
            inner = [part for name in own for read in expressions_of(calls[name]) for part in parts(read)]
            return list(dict.fromkeys([*inner, *own]))

        return tuple(
            Composed(name, repr(self.asked[name]), tuple(parts(column))) for name, column in self.columns.items()
        )


def composition(columns: Mapping[str, Any], names: Sequence[str]) -> Composition:
    """What columns need; ``names`` are those of the frame.

    >>> from sash import Window, col, functions as sf
    >>> w = Window.orderBy("ts")
    >>> asked = {"z": (col("x") - sf.avg("x").over(w)) / sf.stddev("x").over(w), "mean": sf.avg("x").over(w)}
    >>> composition(asked, ["ts", "x"]).columns
    {'z': (x - `z#1`) / `z#2`, 'mean': `z#1`}
    """
    if not isinstance(columns, Mapping):
        raise SashError(f"columns must map names to window expressions, got {type(columns).__name__}")
    for name, column in columns.items():
        if not isinstance(name, str) or not name:
            raise SashError(f"the name of a column must be a non-empty string, got {name!r}")
        if not isinstance(column, Column):
            raise not_a_column(name, column)
        if names.count(name) > 1:
            raise SashError(f"the column {name!r} cannot be replaced: there are {names.count(name)} of that name")
    bare = {name: _bare(column) for name, column in columns.items()}
    if bare and all(isinstance(each, Over) and _is_simple(each) for each in bare.values()):
        overs = {name: each for name, each in bare.items() if isinstance(each, Over)}
        meanings = {_meaning(over) for over in overs.values()}
        if len(meanings) == len(overs):
            return Composition((overs,), {name: Name((name,)) for name in overs}, {}, dict(columns))
    parts = _Parts([*names, *columns])
    texts = {name: parts.of(name, column) for name, column in bare.items()}
    for column in bare.values():
        check_names(column, names)
    return Composition(tuple(parts.stages), texts, parts.labels, dict(columns))


@dataclass(frozen=True)
class Narrowing:
    """What ``select`` gives: columns to add first, and then those to take, each with the name it is to have."""

    computed: dict[str, Column]
    names: list[tuple[str, str]]


def narrowing(columns: Iterable[Any], names: Sequence[str]) -> Narrowing:
    """Columns by their names, expressions, and names with expressions; "*" is all columns of the frame.

    >>> from sash import col
    >>> narrowing(["a", (col("a") + 1).alias("next")], ["a", "b"])
    Narrowing(computed={"next'": a + 1 AS next}, names=[('a', 'a'), ("next'", 'next')])
    """
    computed: dict[str, Column] = {}
    taken: list[tuple[str, str]] = []
    for name, column in _named(columns, names):
        bare = _bare(column)
        source = resolve(bare.path, names) if isinstance(bare, Name) else ("", ("",))
        if not source[1]:
            taken.append((source[0], name))
            continue
        temporary = name + "'"
        while temporary.lower() in {each.lower() for each in (*names, *computed)}:
            temporary += "'"
        computed[temporary] = column
        taken.append((temporary, name))
    wanted = [name for _, name in taken]
    if again := [name for name in wanted if wanted.count(name) > 1]:
        raise SashError(f"select takes one column of each name, got {wanted.count(again[0])} called {again[0]!r}")
    if not wanted:
        raise SashError("select takes at least one column, got none")
    return Narrowing(computed, taken)


def _named(columns: Iterable[Any], names: Sequence[str]) -> Iterator[tuple[str, Column]]:
    for each in columns:
        if isinstance(each, Mapping):
            for name, column in each.items():
                if not isinstance(name, str) or not name or not isinstance(column, Column):
                    raise not_a_column(repr(name), column)
                yield name, column
        elif isinstance(each, str):
            yield from ((name, Name((name,))) for name in (names if each == "*" else [resolve((each,), names)[0]]))
        elif isinstance(each, Alias):
            yield each.name, each
        elif isinstance(each, Name):
            yield each.path[-1], each
        elif isinstance(each, Column):
            yield repr(each), each
        elif isinstance(each, list | tuple):
            yield from _named(each, names)
        else:
            raise not_a_column("a column of select", each)


@dataclass
class _Parts:
    """The calls that were come across, each once."""

    taken: list[str]
    stages: list[dict[str, Over]] = field(default_factory=list)
    labels: dict[str, str] = field(default_factory=dict)
    _known: dict[Any, tuple[str, int]] = field(default_factory=dict)

    def of(self, label: str, column: Column) -> Column:
        """The expression with the names of answers in the place of calls."""
        return self._placed(label, column)[0]

    def _placed(self, label: str, column: Column) -> tuple[Column, int]:
        """The expression without calls, and how many stages must be answered before it can be computed."""
        if isinstance(column, Over):
            if column.min_samples is not None:
                return self._placed(label, guarded(column))
            name, stage = self._answer(label, column)
            return Name((name,)), stage + 1
        deepest = 0

        def change(part: Column) -> Column:
            nonlocal deepest
            placed, stage = self._placed(label, part)
            deepest = max(deepest, stage)
            return placed

        return column.rebuilt(change), deepest

    def _answer(self, label: str, over: Over) -> tuple[str, int]:
        """The name of a call's answer, and the stage in which it is answered."""
        over = replace(over, window=as_window(over.window))
        meaning = _meaning(over)
        if meaning not in self._known:
            stage = 0

            def change(read: Any) -> Any:
                nonlocal stage
                if isinstance(read, Foreign):
                    return read
                placed, needed = self._placed(label, read)
                stage = max(stage, needed)
                return placed

            def unchanged(read: Any) -> Any:
                return read

            if not _is_simple(over):
                over = rewritten(over, change, None if over.window.others is None else unchanged)
            name = self._unused(label)
            while len(self.stages) <= stage:
                self.stages.append({})
            self.stages[stage][name] = over
            self._known[meaning] = name, stage
            self.labels[name] = label
        return self._known[meaning]

    def _unused(self, label: str) -> str:
        """A name for an answer beside those of the frame and of what is asked for."""
        number = 1 + sum(each == label for each in self.labels.values())
        name, known = f"{label}#{number}", {each.lower() for each in self.taken}
        while name.lower() in known:
            name += "'"
        self.taken.append(name)
        return name


def guarded(over: Over) -> Column:
    """The answer where as many rows count as it asks for, else NULL.

    >>> from sash import Window, functions as sf
    >>> guarded(sf.avg("x").over(Window, min_samples=3))
    CASE WHEN count(x) over (all rows) >= 3 THEN avg(x) over (all rows) ELSE NULL END
    """
    call, alone = over.call, replace(over, min_samples=None)
    counted = tuple(map(as_column, call.counted))
    if len(counted) > 1:
        counted = (_all_known(over, counted),)
    rows = replace(builtin("count")(*counted), condition=call.condition)
    enough = replace(alone, call=rows, using=None) >= over.min_samples
    return Operation("case", (enough, alone, Literal(None)))


def _all_known(over: Over, columns: tuple[Any, ...]) -> Column:
    """What is NULL where one of the columns is."""
    if any(isinstance(each, Foreign) for each in columns):
        raise SashError(f"min_samples of {over.call} takes columns of sash.col, got a PySpark column")
    known: Column = columns[0].is_not_null()
    for each in columns[1:]:
        known = known & each.is_not_null()
    return Operation("case", (known, Literal(True), Literal(None)))


def _bare(column: Column) -> Column:
    return _bare(column.of) if isinstance(column, Alias) else column


def _is_simple(over: Over) -> bool:
    """Whether a call asks for nothing but columns of a table."""
    if over.min_samples is not None:
        return False
    read = [*expressions_of(over), *expressions_of_others(over)]
    return not any(_has_answers(each) for each in read)


def _has_answers(column: Any) -> bool:
    if isinstance(column, Over):
        return True
    return isinstance(column, Column) and any(map(_has_answers, column.children()))


def _meaning(over: Over) -> Any:
    """What makes two calls have the same answer; a call of constants that do not hash is like no other."""
    whole = replace(over, window=as_window(over.window))
    try:
        hash(whole.meaning)
    except TypeError:
        return id(over)
    return whole.meaning
