"""Window expressions on Arrow batches that come one after the other, or that are pushed by hand."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import pyarrow as pa

from sash.engine.row_streams.row_operator import RowOperator
from sash.engine.row_streams.row_scheme import RowScheme
from sash.engine.streams.settings import settings_of
from sash.engine.streams.sources import BatchesSource, SchemaSource, arrow_batch, source_of, with_late
from sash.errors import SashError
from sash.windows.over import Over


def answer_stream(source: Any, columns: Mapping[str, Over], watermark: Any, emit: str, late: bool) -> Any:
    """The rows of batches as they leave, in tables; of a schema, an operator to push batches through."""
    opened = source_of(source)
    delay = settings_of(None, None, watermark, None, None).watermark
    operator = RowOperator(RowScheme(opened.schema, columns, delay, emit))
    if isinstance(opened, SchemaSource):
        if late:
            raise SashError(
                "late adds rows to those of a stream; ask the operator of a schema for late(), got late=True"
            )
        return operator
    assert isinstance(opened, BatchesSource)
    if late:
        _ = with_late(operator.answer_schema.empty_table(), operator.late())
    return _answered(opened.batches, operator, late)


def _answered(batches: Iterable[Any], operator: RowOperator, late: bool) -> Iterator[pa.Table]:
    for batch in batches:
        yield from _given(operator, operator.push(arrow_batch(batch)), late)
    yield from _given(operator, operator.close(), late)


def _given(operator: RowOperator, rows: pa.Table, late: bool) -> Iterator[pa.Table]:
    aside = operator.late()
    if late:
        rows = with_late(rows, aside)
    if rows.num_rows:
        yield rows
