"""Aggregates over frames: every built-in that folds, and users' own; DISTINCT too."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from sash.algebra import Aggregate
from sash.engine.answering.asking import Evaluation, Question, occurring
from sash.engine.answering.lifted import Lifted, lifted
from sash.engine.placing import Answer, Numbers, Taken, Whole, gathered
from sash.engine.sorted_rows import Ranking, Selection
from sash.errors import SashError
from sash.kernels.algorithm import DISTINCT_FOLD, FOLD
from sash.kernels.answers import Answered
from sash.kernels.compiling import specialise
from sash.kernels.coordinates import Indices, Positions
from sash.kernels.fifo.forward_folding import trailing
from sash.kernels.inputs import Inputs, exact
from sash.kernels.operations.merging import unlowered
from sash.kernels.structures.prefix import prefix
from sash.planner import Choice, Task
from sash.windows.bounds import Bounds


def aggregate(question: Question) -> Evaluation:
    """The aggregate of each frame."""
    columns, frame = question.columns, question.over.window.frame
    selection, lifted = counted(question)
    bounds = selection.bounds(frame)
    distinct = question.call.unique and not question.function.selective
    task = folding(question, selection, lifted, bounds, DISTINCT_FOLD if distinct else FOLD)

    def answer(choices: Sequence[Choice]) -> Answer:
        run, elsewhere = choices[0].run, question.elsewhere
        if distinct:
            values = occurring(question, columns, selection)
            answered = run(lifted.aggregate, lifted.columns, values, bounds, selection.groups(frame))
        elif elsewhere is None:
            answered = run(lifted.aggregate, lifted.columns, selection.length, bounds, selection.segments)
        else:
            local = run(unlowered(lifted.aggregate), lifted.columns, selection.length, bounds, selection.segments)
            inputs = Inputs(lifted.aggregate, tuple(column.dtype for column in lifted.columns))
            answered = elsewhere.merged(inputs, local, frame, question.rows.segments)
        return read(question, lifted, selection, answered)

    return Evaluation((task,), answer, bounds)


def counted(question: Question) -> tuple[Selection, Lifted]:
    """The rows that an aggregate counts, and the aggregate for its columns of these rows."""
    function: Aggregate = question.function
    columns = question.columns
    inputs = columns[len(columns) - function.inputs :]
    selection = question.selection(*function.counted(columns))
    return selection, lifted(question, inputs, selection)


def folding(question: Question, selection: Selection, lifted: Lifted, bounds: Bounds, asks: str = FOLD) -> Task:
    """The task of folding these frames."""
    facts = {
        "trailing": trailing(lifted.aggregate, bounds, selection.segments),
        "partitions": max(len(selection.segments) - 1, 1),
    }
    return question.task(asks, bounds, aggregate=lifted.aggregate, exact=_exact(lifted), **facts)


def _exact(lifted: Lifted) -> bool:
    """Whether differences of partials are exact: integers all through."""
    if not lifted.aggregate.invertible or not lifted.aggregate.compiled:
        return False
    inputs = Inputs(lifted.aggregate, tuple(column.dtype for column in lifted.columns))
    if any(dtype.kind == "f" for dtype in inputs.dtypes):
        return False
    return exact(specialise(prefix, inputs.aggregate, inputs.dtypes).state)


def read(question: Question, lifted: Lifted, selection: Selection, answered: Answered) -> Answer:
    """Answers of a kernel as values of the type they stand for."""
    function, (values, valid) = question.function, answered
    if function.returns == "row":
        indices = _indices(function, np.where(valid, values, -1), selection.length).astype(question.rows.dtype)
        return Taken(selection.positions_of(Indices(indices)), question.rows.source(question.columns[0]))
    if function.returns == "rows":
        column = question.rows.column(question.columns[0])
        column = column if selection.positions is None else column.take(pa.array(selection.positions))
        return Whole(gathered(function, column, values, valid))
    meaning = lifted.meaning
    if isinstance(meaning, Ranking):
        return _coded(question, meaning, selection, values, valid)
    if isinstance(values, np.ndarray) and values.dtype != object and values.dtype.names is None:
        return Numbers(values, valid, meaning)
    try:
        return Whole(_arrow(values, valid, meaning))
    except (pa.ArrowException, OverflowError) as error:
        said = str(error).splitlines()[0]
        raise SashError(f"{function.name}: lower must give answers of one type that Arrow has: {said}") from None


def _indices(function: Aggregate, answers: np.ndarray, length: int) -> np.ndarray:
    """Indices of rows as ``lower`` gave them, -1 for none; what is no index is no row of another frame either."""
    whole = answers.astype(np.int64) if answers.dtype.kind in "iu" else _whole(answers)
    wrong = (whole != answers) | (whole < -1) | (whole >= length)
    if wrong.any():
        answer = answers[wrong.argmax()]
        raise SashError(f"{function.name}: lower must give the position of a row, below {length}, or -1, got {answer}")
    return whole


def _whole(answers: np.ndarray) -> np.ndarray:
    """Numbers cut to whole ones; -2 for what is no number."""
    try:
        return np.nan_to_num(answers.astype(np.float64), nan=-2, posinf=-2, neginf=-2).astype(np.int64)
    except (TypeError, ValueError):
        return np.full(len(answers), -2)


def _coded(question: Question, ranking: Ranking, selection: Selection, values: Any, valid: np.ndarray) -> Answer:
    """Codes as the values that they number."""
    codes = ranking.codes
    firsts: np.ndarray = selection.positions_of(codes.firsts)
    source = question.rows.source(question.columns[-1])
    if isinstance(values, pa.ListArray):
        if question.rows.permutation is not None:
            firsts = question.rows.permutation[firsts]
        items = source.take(pa.array(firsts)).take(values.flatten())
        return Whole(_masked(pa.ListArray.from_arrays(values.offsets, items), valid))
    positions = firsts[np.where(valid, values, 0)] if codes.distinct else np.zeros(len(valid), np.int64)
    return Taken(Positions(np.where(valid, positions, -1).astype(question.rows.dtype)), source)


def _arrow(values: Any, valid: np.ndarray, meaning: pa.DataType | None) -> pa.Array:
    """Answers of more than one number, or of plain Python, as Arrow has them."""
    if isinstance(values, np.ndarray):
        if values.dtype.names is None:
            return pa.array(values.tolist(), mask=~valid)
        fields = [pa.array(np.ascontiguousarray(values[name])) for name in values.dtype.names]
        return pa.StructArray.from_arrays(fields, list(values.dtype.names), mask=pa.array(~valid))
    array = values.combine_chunks() if isinstance(values, pa.ChunkedArray) else values
    if meaning is not None and pa.types.is_list(array.type):
        array = pa.ListArray.from_arrays(array.offsets, array.flatten().cast(meaning))
    return _masked(array, valid)


def _masked(array: pa.Array, valid: np.ndarray) -> pa.Array:
    import pyarrow.compute as pc

    return array if valid.all() else pc.if_else(pa.array(valid), array, pa.scalar(None, array.type))
