"""Window expressions on a table: sorted once for each way of sorting, each asked by its family, each answered."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any

import pyarrow as pa

from sash.algebra import Aggregate
from sash.algebra.window_function import (
    BucketFunction,
    CountDistinct,
    Deviation,
    Entropy,
    Interpolation,
    JoinedFunction,
    Mode,
    QuantileFunction,
    RankFunction,
    SessionFunction,
    ShiftFunction,
    ValueFunction,
)
from sash.engine.answering.asking import Evaluation, Question
from sash.engine.answering.buckets import bucketed
from sash.engine.answering.folds import aggregate
from sash.engine.answering.frequencies import count_distinct, frequency
from sash.engine.answering.gaps import interpolated
from sash.engine.answering.lists import joined, listed
from sash.engine.answering.quantiles import quantile
from sash.engine.answering.ranks import rank
from sash.engine.answering.sessions import session
from sash.engine.answering.values import shift, value
from sash.engine.columns_read import checked, expressions_of, expressions_of_others
from sash.engine.elsewhere import Elsewhere
from sash.engine.others import OtherRows
from sash.engine.placing import placed
from sash.engine.sorted_partitions import SortedPartitions
from sash.engine.tables import as_arrow, column_names, with_columns
from sash.engine.ties import break_ties
from sash.errors import SashError, column_named
from sash.expressions.binding import check_names
from sash.kernels.threads import threads
from sash.libraries import is_spark
from sash.planner import Choice, Plan, Sorting, Step, choose
from sash.windows import WindowSpec
from sash.windows.over import Over

FAMILIES: dict[type, Callable[[Question], Evaluation]] = {
    RankFunction: rank,
    ValueFunction: value,
    ShiftFunction: shift,
    QuantileFunction: quantile,
    Deviation: quantile,
    Mode: frequency,
    Entropy: frequency,
    CountDistinct: count_distinct,
    JoinedFunction: joined,
    SessionFunction: session,
    Interpolation: interpolated,
    BucketFunction: lambda question: bucketed(question, evaluation_of),
}
NOTHING: Mapping[str, Elsewhere] = MappingProxyType({})


def evaluate(
    frame: Any, columns: Mapping[str, Over], *, arrival: bool = True, tie_breakers: Iterable[Over] = ()
) -> Any:
    """The frame with a column for each window expression.

    Rows that are equal in the order of their window are taken as they came; without ``arrival``, in the order
    of what the expressions over this partition and order are computed of, those ``tie_breakers`` which they stand
    included, so that the answers do not depend on the order of the frame's rows.
    """
    table, columns = _opened(frame, columns, tie_breakers)
    answered: dict[str, pa.Array] = {}
    for group in _specifications(columns).values():
        rows = _sorted(table, group)
        if not arrival or _window(group).others:
            break_ties(rows, group, tie_breakers)
        answered |= answers(rows, group)
    return with_columns(frame, {name: answered[name] for name in columns})


def explain(frame: Any, columns: Mapping[str, Over]) -> Plan:
    """What ``evaluate`` would do: sorts and frames are made, for what they are like, and nothing is answered."""
    table, columns = _opened(frame, columns)
    sortings = []
    for group in _specifications(columns).values():
        rows = _sorted(table, group)
        window = _window(group)
        steps: list[Step] = []
        for name, over in group.items():
            rows.turn()
            with column_named(name):
                evaluation, choices = _planned(rows, over)
            steps.append(Step(name, str(over.call), _described(over, evaluation), tuple(choices), rows.shared()))
        sortings.append(Sorting(_sorting(rows, window), tuple(steps)))
        rows.forget()
    return Plan(table.num_rows, threads(), tuple(sortings))


def answers(
    rows: SortedPartitions, columns: Mapping[str, Over], elsewhere: Mapping[str, Elsewhere] = NOTHING
) -> dict[str, pa.Array]:
    """The answers to expressions on rows sorted for them, in the order in which the rows came.

    Where these are the rows of pieces, ``elsewhere`` has for some of the names what is known of other rows.
    """
    answered = {}
    for name, over in columns.items():
        with column_named(name):
            evaluation, choices = _planned(rows, over, elsewhere.get(name))
            answered[name] = placed(rows, evaluation.answer(choices))
    rows.forget()
    return answered


def _planned(rows: SortedPartitions, over: Over, elsewhere: Elsewhere | None = None) -> tuple[Evaluation, list[Choice]]:
    evaluation = evaluation_of(Question(rows, over, elsewhere))
    return evaluation, choose(evaluation.tasks, over.using)


def evaluation_of(question: Question) -> Evaluation:
    """What an expression comes down to, by the family of its function."""
    function = question.function
    if not isinstance(function, Aggregate):
        return FAMILIES[type(function)](question)
    if function.nth is not None:
        return value(question)
    if question.call.unique and function.counts:
        return count_distinct(question)
    if function.by_place:
        return listed(question)
    return aggregate(question)


def _opened(
    frame: Any, columns: Mapping[str, Over], tie_breakers: Iterable[Over] = ()
) -> tuple[pa.Table, dict[str, Over]]:
    """The table that a frame is, with the columns that all expressions need, and those asked for, checked."""
    names = column_names(frame)
    expressions = checked(columns, names, names_of_others)
    wanted = [
        check_names(each, names) for over in (*expressions.values(), *tie_breakers) for each in expressions_of(over)
    ]
    return as_arrow(frame, frozenset().union(*wanted)), expressions


def names_of_others(table: Any) -> list[str]:
    """The columns of the table of ``Window.of``."""
    if is_spark(table):
        raise SashError(
            "the table of Window.of must be in memory like the frame that asks, got a DataFrame of Spark; "
            "let both be of Spark, or collect it with toArrow()"
        )
    try:
        return column_names(table)
    except SashError as error:
        raise SashError(f"in the table of Window.of, {error}") from None


def _specifications(columns: Mapping[str, Over]) -> dict[Any, dict[str, Over]]:
    """Expressions by the way their rows are sorted."""
    groups: dict[Any, dict[str, Over]] = {}
    for name, over in columns.items():
        groups.setdefault((over.window.partition_key, over.window.order_key), {})[name] = over
    return groups


def _window(group: Mapping[str, Over]) -> WindowSpec:
    """The window of expressions whose rows are sorted in one way."""
    window: WindowSpec = next(iter(group.values())).window
    return window


def _sorted(table: pa.Table, group: Mapping[str, Over]) -> SortedPartitions:
    window = _window(group)
    if window.others is None:
        return SortedPartitions(table, window.partition, window.order)
    names = column_names(window.others.table)
    wanted = [check_names(each, names) for over in group.values() for each in expressions_of_others(over)]
    return OtherRows(table, as_arrow(window.others.table, frozenset().union(*wanted)), window)


def _sorting(rows: SortedPartitions, window: WindowSpec) -> str:
    count = max(len(rows.segments) - 1, 0)
    partitions = f"{count:,} partition{'s' * (count != 1)}"
    by = " ".join(f"{word} {', '.join(map(str, what))}" for word, what in
                  (("partition by", window.partition), ("order by", window.order)) if what)  # fmt: skip
    how = "in order as they came" if rows.permutation is None else "sorted once"
    if isinstance(rows, OtherRows):
        window = replace(window, given=None, sides="both")
        return f"{rows.rows:,} {window!r}: {partitions}, {how}; bounds by one merge of both sides"
    return f"{by or 'all rows'}: {partitions}, {how}"


def _described(over: Over, evaluation: Evaluation) -> str:
    shapes = {
        "constant": "of one size",
        "monotonic": "only move forward",
        "arbitrary": "go back and forth",
    }
    bounds = evaluation.bounds
    holes = ", with holes" if bounds.holes else ""
    return f"{over.window.frame}; {shapes[bounds.shape]}, up to {evaluation.tasks[-1].widest:,} rows{holes}"
