"""Window expressions on Arrow batches that come one after the other, or that are pushed by hand."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import pyarrow as pa

from sash.engine.adding import composed
from sash.engine.composing import Composition, composition
from sash.engine.row_streams.row_operator import RowOperator
from sash.engine.row_streams.row_scheme import RowScheme
from sash.engine.streams.settings import settings_of
from sash.engine.streams.sources import BatchesSource, SchemaSource, arrow_batch, source_of, with_late
from sash.engine.tables import with_columns
from sash.errors import SashError


def answer_stream(source: Any, columns: Mapping[str, Any], watermark: Any, emit: str, late: bool) -> Any:
    """The rows of batches as they leave, in tables; of a schema, an operator to push batches through."""
    opened = source_of(source)
    delay = settings_of(None, None, watermark, None, None).watermark
    whole = None if isinstance(opened, SchemaSource) else stage_of(columns, opened.schema.names)
    stage = columns if whole is None else whole.stages[0]
    operator = RowOperator(RowScheme(opened.schema, stage, delay, emit))
    if isinstance(opened, SchemaSource):
        if late:
            raise SashError(
                "late adds rows to those of a stream; ask the operator of a schema for late(), got late=True"
            )
        return operator
    assert isinstance(opened, BatchesSource)
    assert whole is not None
    asked = _asked(operator.answer_schema.empty_table(), whole)
    if late:
        _ = with_late(asked, operator.late())
    return _answered(opened.batches, operator, whole, late)


def stage_of(columns: Mapping[str, Any], names: list[str]) -> Composition:
    """What columns need of a stream, whose rows are answered once."""
    whole = composition(columns, names)
    if len(whole.stages) != 1:
        some = "none" if not whole.stages else "one of another's answers"
        raise SashError(f"columns of a stream must be of windows over its rows, got {some}; what they leave can be "
                        "asked again")  # fmt: skip
    return whole


def _asked(rows: pa.Table, whole: Composition) -> pa.Table:
    """Rows with the columns asked for in the place of the answers that these are made of."""
    if whole.is_plain:
        return rows
    return with_columns(rows.drop_columns(whole.answers), composed(rows, whole))


def _answered(batches: Iterable[Any], operator: RowOperator, whole: Composition, late: bool) -> Iterator[pa.Table]:
    for batch in batches:
        yield from _given(operator, operator.push(arrow_batch(batch)), whole, late)
    yield from _given(operator, operator.close(), whole, late)


def _given(operator: RowOperator, rows: pa.Table, whole: Composition, late: bool) -> Iterator[pa.Table]:
    aside, rows = operator.late(), _asked(rows, whole)
    if late:
        rows = with_late(rows, aside)
    if rows.num_rows:
        yield rows
