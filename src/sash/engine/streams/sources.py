"""Where a stream comes from: a frame in memory, an iterator of batches, or nothing yet."""

from __future__ import annotations

import sys
import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from threading import Event
from time import monotonic
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
import pyarrow as pa

from sash.engine.streams.explaining import explain
from sash.engine.streams.lateness import Late
from sash.engine.streams.operator import Operator
from sash.engine.streams.partial_reading import frames_of, take_partials
from sash.engine.streams.queries import Query, Settings
from sash.engine.streams.scheme import Scheme
from sash.engine.streams.slice_partials import PARTIALS
from sash.engine.streams.times import ticks_of
from sash.engine.tables import NULLABLE, as_arrow, backend_of, column_names, one_array
from sash.errors import Refused, SashError, SashWarning, outside
from sash.expressions.evaluation import evaluate
from sash.planner.stream_plan import StreamPlan
from sash.watching.samples import sample, set_aside
from sash.watching.sight import Sight
from sash.windows.slicers import SLICERS

CHUNK = 1 << 20  # rows of an ordered table that are answered at a time
LATE = "late"
Run = Callable[[Event], None]  # ends when the event is set, or by itself


class Source(ABC):
    """What a board reads."""

    schema: pa.Schema

    @property
    def sample(self) -> pa.Table | None:
        """Some rows, where there are any yet."""
        return None

    def scheme(self, settings: Settings, queries: tuple[Query, ...], before: Scheme | None = None) -> Scheme:
        """The queries, checked against the columns there are; those of a scheme before have been."""
        if before is None:
            return Scheme(self.schema, settings, queries)
        return before.plus(queries[len(before.queries) :])

    def explain(self, board: Any) -> StreamPlan:
        """The plan of a board."""
        return explain(board._scheme, board._slicer, self.explained(board._scheme), self.sample)

    def explained(self, scheme: Scheme) -> list[str]:
        """What a plan says of the way that rows take from here."""
        return []

    @abstractmethod
    def results(self, board: Any, emit: str, starts: bool, late: bool, fill: Any = False) -> Any:
        """The answers of a board."""

    @abstractmethod
    def late(self, board: Any) -> Any:
        """What a board set aside."""

    def answered(self, board: Any, partials: Any, operator: Operator) -> Any:
        """The answers of a board from partials that were kept, of an operator that has no rows."""
        frames = frames_of(partials)
        operator.unmoved()
        take_partials(operator, frames)
        return like(frames[0], operator.close())

    def watched(self, board: Any, sight: Sight, query: Any) -> Run:
        """What runs a board for a page until it ends, or is to stop."""
        if query is not None:
            raise SashError(f"query must be a streaming query of Spark, of a board on Spark; got {query!r}")
        operator, batches = self.opened_watched(board)

        def run(stopping: Event) -> None:
            for batch in batches:
                if stopping.is_set():
                    return
                begin = monotonic()
                answers = operator.push(batch)
                _tell(sight, operator, answers)
                sight.took(batch.num_rows, 1000 * (monotonic() - begin))
            _tell(sight, operator, operator.close())

        return run

    def opened_watched(self, board: Any) -> tuple[Operator, Iterator[pa.Table]]:
        """An operator, and the rows that it takes as they come."""
        raise SashError("a stream of a schema has no rows to run; give it a table, batches or a Spark DataFrame")


def _tell(sight: Sight, operator: Operator, answers: pa.Table) -> None:
    """Tell a page what a batch gave."""
    aside = operator.late()
    if aside.num_rows:
        counts, rows = set_aside(aside[aside.column_names[-1]], aside.drop_columns(aside.column_names[-1:]))
        sight.sampled({"answers": {}, "late": counts, "rows": rows})
    sight.sampled(sample(answers, sight.wanted))
    sight.answers, sight.late = (sight.answers or 0) + answers.num_rows, operator.late_count
    sight.size = operator.size
    if operator.watermark is not None and operator.scheme.by_time and not operator.closed:
        ticks = pa.array([operator.watermark], pa.int64()).view(operator.scheme.time_type)
        sight.watermark = ticks.cast(pa.timestamp("us", "UTC"))[0].as_py()


class TableSource(Source):
    """A frame in memory: all of it is pushed, and the tail flushed; nothing in it is late."""

    def __init__(self, frame: Any) -> None:
        self.frame = frame
        self.table = as_arrow(frame, column_names(frame))
        self.schema = self.table.schema

    @property
    def sample(self) -> pa.Table | None:
        """The first rows."""
        return self.table.slice(0, 1 << 16)

    def results(self, board: Any, emit: str, starts: bool, late: bool, fill: Any = False) -> Any:
        """The answers, as the kind of frame that was given."""
        operator = board._opened(emit, starts, fill)
        operator.unmoved()
        tables = [*self._pushed(board, operator), operator.close()]
        answers = pa.concat_tables(tables).combine_chunks()
        if operator.late_count and not late:
            warn_of_late(operator.late_count)
        return like(self.frame, with_late(answers, operator.late()) if late else answers, exact=emit == PARTIALS)

    def _pushed(self, board: Any, operator: Operator) -> Iterator[pa.Table]:
        named = board._settings.slicer
        if named is None or not SLICERS[named].in_order or not board._scheme.by_time:
            yield operator.push(self.table)
            return
        times, known = ticks_of(evaluate(board._settings.time, self.table), board._scheme.time_type)
        known = np.ones(len(times), np.bool_) if known is None else known
        if np.any(times[known][1:] < times[known][:-1]):
            raise Refused(f"{named} needs input in order; the times of this table go back")
        for start in range(0, self.table.num_rows, CHUNK):
            yield operator.push(self.table.slice(start, CHUNK))
            if len(part := times[start : start + CHUNK][known[start : start + CHUNK]]):
                yield operator.advance(int(part[-1]))

    def late(self, board: Any) -> Any:
        """What has no place."""
        operator = board._opened("final")
        operator.unmoved()
        operator.push(self.table)
        operator.close()
        return like(self.frame, operator.late())

    def opened_watched(self, board: Any) -> tuple[Operator, Iterator[pa.Table]]:
        """All rows are one batch."""
        operator = board._opened("final")
        operator.unmoved()
        return operator, iter([self.table])


def warn_of_late(count: int) -> None:
    """Say that rows are in no answer, to one who did not ask for them."""
    rows = "1 row is" if count == 1 else f"{count:,} rows are"
    message = f"{rows} in no window, and so in no answer; board.late() has them with the reason"
    warnings.warn(message, SashWarning, stacklevel=outside())


def like(frame: Any, table: pa.Table, exact: bool = False) -> Any:
    """A table as the library of a frame has it; ``exact`` numbers stay what they are beside NULLs."""
    backend = backend_of(frame)
    if backend == "pandas":
        if not exact:
            return table.to_pandas()
        types = {column.type for column in table.columns if column.null_count and column.type in NULLABLE}
        dtypes = {dtype: sys.modules["pandas"].api.types.pandas_dtype(NULLABLE[dtype]) for dtype in types}
        return table.to_pandas(types_mapper=dtypes.get, integer_object_nulls=True)
    if backend == "polars":
        import polars

        return polars.from_arrow(table)
    return table


class BatchesSource(Source):
    """Arrow batches that come one after the other; answers leave as windows end."""

    def __init__(self, batches: Iterable[Any], schema: pa.Schema) -> None:
        self.batches, self.schema = batches, schema
        self.read = False
        self.set_aside: WeakKeyDictionary[Any, list[pa.Table]] = WeakKeyDictionary()  # by the board that was read

    def results(self, board: Any, emit: str, starts: bool, late: bool, fill: Any = False) -> Iterator[pa.Table]:
        """The answers after each batch that brings some, and at the end."""
        operator = board._opened(emit, starts, fill)
        if iter(self.batches) is self.batches and self.read:
            raise SashError("the results of an iterator can be read once; give a list of batches to read them again")
        self.read, self.set_aside[board] = True, []
        return self._answers(operator, late, self.set_aside[board])

    def _answers(self, operator: Operator, late: bool, aside: list[pa.Table]) -> Iterator[pa.Table]:
        for batch in self.batches:
            yield from self._given(operator, operator.push(arrow_batch(batch)), late, aside)
        yield from self._given(operator, operator.close(), late, aside)

    def _given(self, operator: Operator, answers: pa.Table, late: bool, aside: list[pa.Table]) -> Iterator[pa.Table]:
        rows = operator.late()
        if rows.num_rows:
            aside.append(rows)
        if late:
            answers = with_late(answers, rows)
        if answers.num_rows:
            yield answers

    def opened_watched(self, board: Any) -> tuple[Operator, Iterator[pa.Table]]:
        """The batches that come."""
        if iter(self.batches) is self.batches and self.read:
            raise SashError("the results of an iterator can be read once; give a list of batches to read them again")
        self.read = True
        return board._opened("final"), map(arrow_batch, self.batches)

    def late(self, board: Any) -> pa.Table:
        """What was set aside while the results were read."""
        if board not in self.set_aside:
            raise SashError("late() of an iterator is of what its results have read; read results() first")
        return pa.concat_tables([Late.schema(self.schema).empty_table(), *self.set_aside[board]])


class SchemaSource(Source):
    """Columns alone: batches are pushed by hand."""

    def __init__(self, schema: pa.Schema) -> None:
        self.schema = schema

    def results(self, board: Any, emit: str, starts: bool, late: bool, fill: Any = False) -> Any:
        """There are none."""
        raise SashError("a stream of a schema has no rows; open() it, and push batches")

    def late(self, board: Any) -> Any:
        """There are none."""
        raise SashError("a stream of a schema has no rows; open() it, push batches, and ask the operator for late()")


def source_of(source: Any) -> Source:
    """What a user gave, as what a board reads."""
    if isinstance(source, pa.Schema):
        return SchemaSource(source)
    if isinstance(source, (pa.RecordBatchReader, pa.Table, pa.RecordBatch)) or not isinstance(source, Iterable):
        if isinstance(source, pa.RecordBatchReader):
            return BatchesSource(iter(source), source.schema)
        return TableSource(_checked(source))
    if not isinstance(source, (list, tuple, Iterator)) or isinstance(source, (str, bytes)):
        return TableSource(_checked(source))
    if isinstance(source, Iterator):
        first = next(source, None)
        batches: Iterable[Any] = chain([] if first is None else [first], source)
    else:
        first, batches = (source[0] if source else None), source
    if first is None:
        raise SashError("source must have at least one batch, which says what its columns are, got none")
    return BatchesSource(batches, arrow_batch(first).schema)


def _checked(frame: Any) -> Any:
    try:
        backend_of(frame)
    except SashError:
        raise SashError(
            "source must be a pyarrow Table, a pandas, polars or Spark DataFrame, an iterator of Arrow batches or a "
            f"pyarrow Schema, got {type(frame).__name__}"
        ) from None
    return frame


def arrow_batch(batch: Any) -> pa.Table:
    """A batch that came, as a table."""
    if not isinstance(batch, (pa.RecordBatch, pa.Table)):
        raise SashError(f"source must give Arrow batches, got {type(batch).__name__}")
    return as_arrow(batch, column_names(batch))


def with_late(answers: pa.Table, aside: pa.Table) -> pa.Table:
    """Answers, and a row for each that was set aside, in a column of their own."""
    if LATE in answers.column_names:
        raise SashError("late cannot be added: there is a column late already; rename the query")
    name = aside.column_names[-1]
    row = pa.struct([aside.schema.field(column) for column in aside.column_names[:-1]])
    late_type = pa.struct([("reason", pa.string()), ("row", row)])
    rows = pa.StructArray.from_arrays(
        [one_array(aside[column]) for column in aside.column_names[:-1]], fields=list(row)
    ) if len(row) else pa.nulls(aside.num_rows, row)  # fmt: skip
    late = pa.StructArray.from_arrays([one_array(aside[name]), rows], fields=list(late_type))
    blank = pa.table([pa.nulls(aside.num_rows, field.type) for field in answers.schema], schema=answers.schema)
    return pa.concat_tables(
        [answers.append_column(LATE, pa.nulls(answers.num_rows, late_type)), blank.append_column(LATE, late)]
    )
