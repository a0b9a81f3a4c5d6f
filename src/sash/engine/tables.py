"""Frames in and out: an Arrow table, a pandas or a polars frame; the same kind comes back."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import pyarrow as pa

from sash.errors import SashError


def kind_of(frame: Any) -> str:
    """Which library a frame is of: ``"pyarrow"``, ``"pandas"`` or ``"polars"``."""
    library, name = type(frame).__module__.partition(".")[0], type(frame).__name__
    if (library, name) in (("pyarrow", "Table"), ("pandas", "DataFrame"), ("polars", "DataFrame")):
        return library
    if (library, name) == ("polars", "LazyFrame"):
        raise SashError("frame must be in memory, got a polars LazyFrame; call collect() first")
    if library == "pyspark":
        raise SashError("a Spark DataFrame is not supported yet; collect it with toArrow()")
    raise SashError(f"frame must be a pyarrow Table, a pandas or a polars DataFrame, got {type(frame).__name__}")


def column_names(frame: Any) -> list[str]:
    """The names of a frame's columns."""
    return [str(name) for name in (frame.column_names if kind_of(frame) == "pyarrow" else frame.columns)]


def as_arrow(frame: Any, wanted: Iterable[str]) -> pa.Table:
    """These columns of a frame, as an Arrow table of all its rows."""
    kind = kind_of(frame)
    if kind == "pyarrow":
        return frame
    asked = set(wanted)
    kept = [name for name in frame.columns if str(name) in asked]
    if not kept and len(frame.columns):
        kept = [frame.columns[0]]  # for the number of rows
    if kind == "polars":
        return frame.select(kept).to_arrow()
    table = pa.Table.from_pandas(frame[kept], preserve_index=False)
    return table if len(frame.columns) else pa.table({"": pa.nulls(len(frame))})


def with_columns(frame: Any, columns: Mapping[str, pa.Array]) -> Any:
    """The frame with columns added, or put in the place of those of the same name."""
    kind = kind_of(frame)
    if kind == "polars":
        import polars

        return frame.with_columns(polars.DataFrame(pa.table(dict(columns))).get_columns()) if columns else frame
    if kind == "pandas":
        made = {name: column.to_pandas() for name, column in columns.items()}
        for values in made.values():
            values.index = frame.index
        return frame.assign(**made)
    for name, column in columns.items():
        place = frame.schema.get_field_index(name)
        frame = frame.append_column(name, column) if place < 0 else frame.set_column(place, name, column)
    return frame
