"""Frames in and out: an Arrow table, a pandas or a polars frame; the same kind comes back."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import types

from sash.errors import SashError
from sash.libraries import library_of

INTEGERS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
MANY_BYTES = 2**31  # more than one array with 32-bit offsets holds
WIDER = {
    pa.string(): pa.large_string(),
    pa.binary(): pa.large_binary(),
    pa.string_view(): pa.large_string(),
    pa.binary_view(): pa.large_binary(),
}
NARROWER = {pa.string_view(): pa.string(), pa.binary_view(): pa.binary()}  # Arrow takes no rows of views
NULLABLE = {
    **{dtype: str(dtype).replace("uint", "UInt").replace("int", "Int") for dtype in map(pa.type_for_alias, INTEGERS)},
    pa.float32(): "Float32",
    pa.float64(): "Float64",
    pa.bool_(): "boolean",
}
TEXTS = (pa.string(), pa.large_string(), pa.binary(), pa.large_binary())


def backend_of(frame: Any) -> str:
    """Which library a frame is of: ``"pyarrow"``, ``"pandas"`` or ``"polars"``."""
    if isinstance(frame, (pa.Table, pa.RecordBatch)):
        return "pyarrow"
    for library in ("pandas", "polars"):
        if library in sys.modules and isinstance(frame, sys.modules[library].DataFrame):
            return library
    library, name = library_of(frame), type(frame).__name__
    if (library, name) == ("polars", "LazyFrame"):
        raise SashError("frame must be in memory, got a polars LazyFrame; call collect() first")
    raise SashError(f"frame must be a pyarrow Table, a pandas or a polars DataFrame, got {name}")


def column_names(frame: Any) -> list[str]:
    """The names of a frame's columns."""
    return [str(name) for name in (frame.schema.names if backend_of(frame) == "pyarrow" else frame.columns)]


def as_arrow(frame: Any, wanted: Iterable[str]) -> pa.Table:
    """These columns of a frame, as an Arrow table of all its rows."""
    backend, wanted_names, names = backend_of(frame), set(wanted), column_names(frame)
    places = [place for place, name in enumerate(names) if name in wanted_names]
    take = {"pyarrow": _of_arrow, "pandas": _of_pandas, "polars": _of_polars}[backend]
    columns = [_plain(take(frame, place)) for place in places]
    if not columns:  # for the number of rows
        return pa.table({"": pa.nulls(frame.num_rows if backend == "pyarrow" else len(frame))})
    return pa.Table.from_arrays(columns, [names[place] for place in places])


def one_array(column: Any) -> pa.Array:
    """A column as one array, without a copy where it is one already."""
    if not isinstance(column, pa.ChunkedArray):
        return column
    if column.num_chunks == 1:
        return column.chunk(0)
    array = column.combine_chunks()
    return array if isinstance(array, pa.Array) else pa.concat_arrays(array.chunks)


def _of_arrow(frame: Any, place: int) -> pa.ChunkedArray:
    column = frame.column(place)
    return pa.chunked_array([column]) if isinstance(column, pa.Array) else column


def _of_pandas(frame: Any, place: int) -> pa.ChunkedArray:
    try:
        column = pa.array(frame.iloc[:, place], from_pandas=True)
    except (pa.ArrowException, TypeError, ValueError) as error:
        why = str(error).splitlines()[0]
        raise SashError(f"the column {str(frame.columns[place])!r} has no one type that Arrow has: {why}") from None
    return pa.chunked_array([column]) if isinstance(column, pa.Array) else column


def _of_polars(frame: Any, place: int) -> pa.ChunkedArray:
    series = frame.to_series(place)
    if str(series.dtype) in ("Object", "Int128", "UInt128"):
        raise SashError(f"the column {series.name!r} of type {series.dtype} has no type that Arrow has; cast it")
    return pa.chunked_array([series.to_arrow()])


def _plain(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """A column as it is, unless it is encoded in a way of which Arrow cannot take rows."""
    dtype = column.type
    if types.is_run_end_encoded(dtype):
        return _plain(pa.chunked_array([pc.run_end_decode(chunk) for chunk in column.chunks], dtype.value_type))
    if dtype in WIDER and column.nbytes >= MANY_BYTES:
        return column.cast(WIDER[dtype])
    if dtype in NARROWER:
        return column.cast(NARROWER[dtype])
    if not types.is_dictionary(dtype):
        return column
    if dtype.value_type not in TEXTS:
        return _plain(column.cast(dtype.value_type))
    column = null_by_index(column)
    if dtype.ordered:
        return _of_one_order(column)
    if column.num_chunks > 1 and _may_overflow(column):
        return _plain(column.cast(dtype.value_type))
    return column


def _of_one_order(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Ordered categories; refused where chunks do not agree about the order."""
    if any(not chunk.dictionary.equals(column.chunk(0).dictionary) for chunk in column.chunks[1:]):
        raise SashError("the ordered categories of a column must be the same in all its chunks, got others")
    if column.num_chunks and len(column.chunk(0).dictionary.unique()) < len(column.chunk(0).dictionary):
        raise SashError("ordered categories must differ from each other, got one of them twice")
    return column


def null_by_index(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """The column with NULL among its indices, not among its values: Arrow joins no dictionaries that hold one."""
    if not types.is_dictionary(column.type) or not any(chunk.dictionary.null_count for chunk in column.chunks):
        return column
    return pa.chunked_array([_without_null(chunk) for chunk in column.chunks], column.type)


def _without_null(array: pa.DictionaryArray) -> pa.DictionaryArray:
    known = array.dictionary.is_valid()
    places = pa.array(np.cumsum(known.to_numpy(zero_copy_only=False)) - 1, array.indices.type)
    places = pc.if_else(known, places, pa.scalar(None, places.type))
    return pa.DictionaryArray.from_arrays(
        places.take(array.indices), array.dictionary.drop_null(), ordered=array.type.ordered
    )


def _may_overflow(column: pa.ChunkedArray) -> bool:
    """Whether the values of all chunks may be more than an index can count."""
    dtype = column.type.index_type
    bits = dtype.bit_width - types.is_signed_integer(dtype)
    return sum(len(chunk.dictionary) for chunk in column.chunks) > 2**bits and bits < 32


def with_columns(frame: Any, columns: Mapping[str, pa.Array]) -> Any:
    """The frame with columns added, or put in the place of those of the same name."""
    backend, names = backend_of(frame), column_names(frame)
    for name in columns:
        if names.count(name) > 1:
            raise SashError(f"the column {name!r} cannot be replaced: there are {names.count(name)} of that name")
    if backend == "polars":
        return frame.with_columns([_as_polars(name, column) for name, column in columns.items()])
    if backend == "pandas":
        series = {name: _as_series(column, frame) for name, column in columns.items()}
        return frame.assign(**series)
    for name, column in columns.items():
        place = frame.schema.get_field_index(name)
        frame = frame.append_column(name, column) if place < 0 else frame.set_column(place, name, column)
    return frame


def only_columns(frame: Any, names: Iterable[tuple[str, str]]) -> Any:
    """Some columns of a frame, each under the name that it is to have."""
    library_name, known, pairs = backend_of(frame), column_names(frame), list(names)
    wanted = [name for _, name in pairs]
    places = [known.index(source) for source, _ in pairs]
    if library_name == "polars":
        return frame.select([frame.to_series(place).alias(name) for place, name in zip(places, wanted, strict=True)])
    if library_name == "pandas":
        return frame.iloc[:, places].set_axis(wanted, axis="columns")
    return pa.Table.from_arrays([frame.column(place) for place in places], wanted)


def _as_polars(name: str, column: pa.Array) -> Any:
    """A column as a polars Series; a dictionary that has an order is an Enum."""
    polars = sys.modules["polars"]
    if types.is_dictionary(column.type) and column.type.ordered:
        categories = polars.Enum(column.dictionary.to_pylist())
        return polars.Series(name, column.cast(column.type.value_type)).cast(categories)
    return polars.Series(name, column)


def _as_series(column: pa.Array, frame: Any) -> Any:
    """A column in the kind of types that the frame has; integers and booleans stay what they are beside NULLs."""
    pandas = sys.modules["pandas"]
    strings = [each for each in frame.dtypes if isinstance(each, pandas.StringDtype)]
    nullable = bool(strings) or not set(NULLABLE.values()).isdisjoint(map(str, frame.dtypes))

    def dtype(arrow: pa.DataType) -> Any:
        if any(isinstance(each, pandas.ArrowDtype) for each in frame.dtypes):
            return pandas.ArrowDtype(arrow)
        if strings and (types.is_string(arrow) or types.is_large_string(arrow)):
            return strings[0]
        if getattr(arrow, "extension_name", "") == "pandas.period":
            return arrow.to_pandas_dtype()
        exact = column.null_count and not types.is_floating(arrow)
        return pandas.api.types.pandas_dtype(NULLABLE[arrow]) if arrow in NULLABLE and (nullable or exact) else None

    values = column.to_pandas(types_mapper=dtype)
    values.index = frame.index
    return values
