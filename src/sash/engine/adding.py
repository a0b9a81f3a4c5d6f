"""Columns added to a frame in memory: answers, and expressions of answers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import pyarrow as pa

from sash.engine.columns_read import checked
from sash.engine.composing import Composition, composition, narrowing
from sash.engine.evaluating import evaluate, names_of_others
from sash.engine.evaluating import explain as plan_of
from sash.engine.tables import as_arrow, column_names, one_array, only_columns, with_columns
from sash.errors import SashError, column_named
from sash.expressions.columns import Column
from sash.expressions.evaluation import evaluate as computed
from sash.planner import Plan


def add(frame: Any, columns: Mapping[str, Column]) -> Any:
    """The frame with a column for each expression."""
    whole = composition(columns, column_names(frame))
    if whole.is_plain:
        return evaluate(frame, whole.stages[0])
    table, _ = _answered(frame, whole)
    return with_columns(frame, composed(table, whole))


def composed(table: pa.Table, whole: Composition) -> dict[str, pa.Array]:
    """The columns asked for, of a table that has the answers."""
    answers: dict[str, pa.Array] = {}
    for name, column in whole.columns.items():
        with column_named(name), _in_words(whole):
            answers[name] = one_array(computed(column, table))
    return answers


@contextmanager
def _in_words(whole: Composition) -> Iterator[None]:
    """Let errors call answers by what these are of."""
    try:
        yield
    except SashError as error:
        text = str(error)
        for stage in whole.stages:
            for name, over in stage.items():
                text = text.replace(f"`{name}`", repr(over))
        error.args = (text, *error.args[1:])
        raise


def select(frame: Any, columns: Iterable[Any]) -> Any:
    """A frame of these columns alone."""
    narrow = narrowing(columns, column_names(frame))
    return only_columns(add(frame, narrow.computed) if narrow.computed else frame, narrow.names)


def explain(frame: Any, columns: Mapping[str, Column]) -> Plan:
    """What ``add`` would do; calls that others read the answers of are answered."""
    whole = composition(columns, column_names(frame))
    return (
        plan_of(frame, whole.stages[0]) if whole.is_plain else whole.plan(_answered(frame, whole, only_plans=True)[1])
    )


def _answered(frame: Any, whole: Composition, only_plans: bool = False) -> tuple[pa.Table, list[Plan]]:
    """What expressions read of the frame, with the answers to all stages beside it; or their plans."""
    names = column_names(frame)
    known = list(names)
    for stage in whole.stages:
        with _labelled(whole.labels):
            checked(stage, known, names_of_others)
        known += stage
    table, plans = as_arrow(frame, whole.reads(names)), []
    for stage in whole.stages or ({},):
        with _labelled(whole.labels):
            if only_plans:
                plans.append(plan_of(table, stage))
            if not only_plans or stage is not whole.stages[-1]:
                table = evaluate(table, stage)
    return table, plans


@contextmanager
def _labelled(labels: Mapping[str, str]) -> Iterator[None]:
    """Let an error name the column that was asked for."""
    try:
        yield
    except SashError as error:
        error.column = labels.get(str(error.column), error.column)
        raise
