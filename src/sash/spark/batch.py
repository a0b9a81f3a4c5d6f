"""Window functions on a Spark DataFrame: exchanges, one UDF for each, the answers beside the rows; and its plan."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

import pyarrow as pa
from pyspark.sql import Column
from pyspark.sql import functions as F

from sash.engine.columns_read import checked, expressions_of
from sash.engine.evaluating import explain as explained
from sash.errors import Refused, SashError
from sash.options import asked_memory
from sash.planner import Plan
from sash.spark import failures
from sash.spark.columns_read import ReadColumns
from sash.spark.described import DescribedFrame
from sash.spark.exchanges import ALONE, RANGED, Exchange, tie_breakers_of, warn_of
from sash.spark.interval_columns import IntervalColumns
from sash.spark.native import SPARK, Native, for_engine
from sash.spark.others import SharedTask, first_rows, names_of, paired, pairings, sampled, sides_of
from sash.spark.passing import table_udf
from sash.spark.ranged import Ranged, find_cuts, summarised_names
from sash.spark.sides import types_of as sides_types
from sash.spark.skew import Skew, expected_bytes
from sash.spark.task_names import window_task
from sash.spark.together import Together
from sash.spark.worker import answers_of, evaluation, types_of
from sash.windows.over import Over


def with_columns(frame: Any, columns: Mapping[str, Over]) -> Any:
    """The frame with a column for each window expression."""
    intervals = IntervalColumns.of(frame, columns)
    if intervals is not None:
        return intervals.restored(_answered(intervals.frame, intervals.columns))
    return _answered(frame, columns)


def _answered(frame: Any, columns: Mapping[str, Over]) -> Any:
    """The frame with a column for each window expression, of types that workers are sent."""
    failures.foresee(frame.sparkSession)
    inputs, expressions, pairs = opened(frame, columns)
    schema = inputs.schema()
    types_of_rows = types_of(for_engine(expressions), schema)
    sides = [sides_of(pairing, inputs) for pairing in pairs]
    types_of_pairs = [sides_types(pairing.columns, each) for pairing, each in zip(pairs, sides, strict=True)]
    inputs.compute(expressions.values())
    out = inputs.frame
    answered: dict[str, Column] = {}
    for pairing, side, types in zip(pairs, sides, types_of_pairs, strict=True):
        answers = answers_of(pairing.columns, types)
        out, name = paired(out, pairing, inputs, side, answers)
        answered |= _fields(name, pairing.columns, answers)
    skew = Skew(inputs, schema)
    native = Native(inputs, schema, expressions, lambda: skew.bytes)
    by_spark, moved = native.divided(skew.is_skewed)
    together = Together() if pairs else Together.of(frame)
    for exchange in moved:
        answers = answers_of(exchange.columns, types_of_rows)
        tie_breakers = tie_breakers_of(exchange, expressions)
        out, name = _exchanged(out, exchange, tie_breakers, inputs, schema, answers, together.suffices(exchange))
        together = together.after(exchange)
        answered |= _fields(name, exchange.columns, answers)
    out, answers_of_spark = native.answered(out, by_spark, types_of_rows)
    answered |= answers_of_spark
    added = set(out.columns) - set(frame.columns)
    together = Together() if by_spark else together  # Spark's own operator moves rows
    return together.noted(out.withColumns({name: answered[name] for name in columns}).drop(*added), columns)


def _fields(struct: str, columns: Iterable[str], answers: pa.Schema) -> dict[str, Column]:
    """The answers, in a struct, by the names that the user gives them."""
    return {each: F.col(struct).getField(field) for each, field in zip(columns, answers.names, strict=True)}


def opened(frame: Any, columns: Mapping[str, Over]) -> tuple[ReadColumns, dict[str, Over], list[SharedTask]]:
    """What the window expressions read, and these expressions, checked, over what the workers receive.

    Those over other tables are by pairings.
    """
    if frame.isStreaming:
        raise SashError("withColumns takes a batch DataFrame, got a streaming one")
    checked_columns = checked(columns, frame.columns, names_of)
    inputs = ReadColumns(frame, tuple(checked_columns))
    for name, over in checked_columns.items():
        if isinstance(frame, DescribedFrame) and over.window.others:
            raise SashError(f"{name}: Window.of does not go with schema=, which says nothing of the other table")
        if over.using == SPARK.name and over.window.others:
            raise Refused(f"{name}: {SPARK.name} answers rows of the table itself, not of Window.of")
        if over.follows_rows:
            raise SashError(f"{name}: {over.call} needs an orderBy on Spark, where rows have no order of their own")
    pairs = pairings(inputs, {name: _whole(over) for name, over in checked_columns.items() if over.window.others})
    expressions = {name: inputs.read(_whole(over)) for name, over in checked_columns.items() if not over.window.others}
    return inputs, expressions, pairs


def _whole(over: Over) -> Over:
    """The expression with the frame that a range is without an order, where all rows are peers: the partition."""
    window = over.window
    if window.order or window.frame.kind != "range":
        return over
    return replace(over, window=replace(window, given=None))


def _exchanged(
    frame: Any,
    exchange: Exchange,
    tie_breakers: tuple[Over, ...],
    inputs: ReadColumns,
    schema: pa.Schema,
    answers: pa.Schema,
    together: bool,
) -> tuple[Any, str]:
    """The frame with the answers of an exchange as a struct in a new column, which is named.

    ``together`` says that the rows already are where the exchange would bring them.
    """
    is_described = isinstance(frame, DescribedFrame)  # so that nothing can be read of it now
    if exchange.how == RANGED and not is_described:
        cuts = find_cuts(exchange.columns, inputs, schema)
        if cuts is None or cuts.pieces > 1:
            return Ranged(exchange.columns, tie_breakers, inputs, cuts).answered(frame, answers)
    if exchange.how == ALONE or (is_described and not exchange.keys):
        warn_of(exchange, is_described)
    keys = inputs.spark(exchange.keys)
    placed = frame if together else frame.repartition(*keys) if keys else frame.repartition(1)
    taken = inputs.taken(tie_breakers)
    work = evaluation(exchange.columns, tie_breakers, list(taken), answers, exchange.keys, asked_memory())
    name = inputs.unused(frame, "answers")
    run = table_udf(work, answers, window_task(exchange.columns))
    return placed.withColumn(name, run(*taken.values())), name


SAMPLE = 50_000  # rows that the algorithms are chosen for


def explain(frame: Any, columns: Mapping[str, Over]) -> Plan:
    """The plan; reads the first rows of the frame."""
    intervals = IntervalColumns.of(frame, columns)
    if intervals is not None:
        frame, columns = intervals.frame, intervals.columns
    inputs, expressions, pairs = opened(frame, columns)
    schema = inputs.schema()
    types_of(for_engine(expressions), schema)
    native = Native(inputs, schema, expressions, lambda: expected_bytes(inputs.frame))
    by_spark, moved = native.divided(lambda _: False)
    words = "on Spark, one thread a task; algorithms are chosen in each task, here for the first"
    by_sash = {name: over for name, over in expressions.items() if name not in by_spark}
    every = by_sash | {name: over for pairing in pairs for name, over in sampled(pairing, SAMPLE).items()}
    rows = first_rows(inputs, expressions_of, every.values(), SAMPLE)
    moves = [f"{each}: {_said(each)}" for each in moved]
    moves += [f"{pairing}: {', '.join(pairing.columns)}" for pairing in pairs]
    moves += _late_filters(by_sash.values())
    plan = explained(rows, every)
    return replace(
        plan, moves=tuple(moves), place=words, threads=1, sortings=(*plan.sortings, *native.sortings(by_spark))
    )


def _late_filters(columns: Iterable[Over]) -> list[str]:
    """What Spark does not do for filters that are written after the columns."""
    keys = [{str(each) for each in over.window.partition} for over in columns]
    names = sorted(set.intersection(*keys)) if keys else []
    if not names:
        return []
    which = names[0] if len(names) == 1 else f"{', '.join(names[:-1])} or {names[-1]}"
    return [f"a filter on {which} belongs before these columns: after them, all rows are shuffled and answered first"]


def _said(exchange: Exchange) -> str:
    names = ", ".join(exchange.columns)
    summarised = summarised_names(exchange.columns) if exchange.how == RANGED else []
    return f"{names} (rows of other pieces as partials: {', '.join(summarised)})" if summarised else names
