"""Partials as columns of a plain table: what each is called, what its metadata says, and how numbers become Arrow.

Such a table outlives the process that made it, and often its metadata. So the name of a column tells the partial by
itself: a few words for the reader, the number of its format, and a digest of whose it is: the function, its columns
with their types, the filter, and the times it goes by. A name that no storage refuses has letters, digits and _.
"""

from __future__ import annotations

import hashlib
import json
import re
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sash.algebra import Aggregate
from sash.algebra.catalogue import FUNCTIONS, builtin
from sash.algebra.catalogue.declaring import CONSTANTS
from sash.algebra.sharing import partial_key
from sash.engine.streams.cell_partials import BEYOND, POINTS
from sash.engine.streams.partial_layouts import PartialLayout
from sash.engine.streams.query_answers import PlannedQuery
from sash.engine.streams.scheme import Scheme
from sash.engine.tables import one_array
from sash.errors import SashError
from sash.expressions.evaluation import infer
from sash.expressions.parsing import as_predicate
from sash.kernels.sealing import making

START, END = "slice_start", "slice_end"
ABOUT = "sash.partial"  # the metadata of a column
NAME = re.compile(r".*_v(?P<number>\d+)_(?P<meaning>[0-9a-f]{10})")
EXACT = 2**53  # whole numbers up to here are the same as floats
VALUES, TIMES, FIRSTS = "values", "times of rows", "first moments of rows"
ROWS_FORMAT = 1  # of lists of rows


class PartialColumn(NamedTuple):
    """A column of partials: what a user reads of it, whose it is, and its type."""

    label: str
    aggregate: str
    number: int  # of its format
    meaning: str
    dtype: pa.DataType

    @property
    def name(self) -> str:
        """What it is called, wherever it is stored."""
        words = re.sub(r"[^0-9A-Za-z]+", "_", self.label).strip("_")
        return f"{words[:40].lower()}_v{self.number}_{self.meaning}"

    @property
    def about(self) -> dict[str, Any]:
        """What its metadata says."""
        return {"aggregate": self.aggregate, "of": self.label, "format": self.number}

    @property
    def field(self) -> pa.Field:
        """The column in a schema."""
        return pa.field(self.name, self.dtype, metadata={ABOUT: json.dumps(self.about)})


def cell_columns(scheme: Scheme) -> tuple[PartialColumn, ...]:
    """A column for each partial that cells hold, in their order."""
    columns = []
    for k, partial in enumerate(scheme.partials):
        source = next((first for first, beyond in scheme.beyond.items() if beyond == k), k)
        aggregate = scheme.shared.partials[source][0]
        columns.append(column_of(scheme, aggregate, partial.planned, partial.part, partial.layout.partial.state))
    return tuple(columns)


def column_of(scheme: Scheme, aggregate: Aggregate, planned: PlannedQuery, part: str, state: np.dtype) -> PartialColumn:
    """The column of an aggregate, of the rows and columns of a query."""
    question = planned.question
    types = [_plain(infer(column, scheme.query_schema)) for column in question.columns]
    name = partial_name(scheme, aggregate, planned) or _own_name(aggregate, planned)
    condition = question.call.condition
    where = None if condition is None else str(as_predicate(condition))
    columns = [str(column) for column in question.columns]
    label = f"{name.partition(' ')[0]}({', '.join(columns)})"
    label += f" where {where}" if where else ""
    label += "" if part != BEYOND else f" {BEYOND}"
    meaning = _digest(scheme, [name, columns, where, types, part])
    return PartialColumn(label, name.partition(" ")[0], aggregate.format, meaning, arrow_type(state))


def row_columns(scheme: Scheme) -> dict[str, PartialColumn]:
    """A column of lists for each column of rows that a holistic query needs, and one for where in a slice each is."""
    columns = {TIMES: _row_column(scheme, "row times", TIMES, pa.int64())}
    if scheme.spans:
        columns[FIRSTS] = _row_column(scheme, "row firsts", FIRSTS, pa.int64())
    for name in scheme.needed:
        columns[f"{VALUES} {name}"] = _row_column(scheme, f"{VALUES} {name}", name, scheme.schema.field(name).type)
    return columns


def _row_column(scheme: Scheme, label: str, name: str, dtype: pa.DataType) -> PartialColumn:
    plain = dtype.value_type if pa.types.is_dictionary(dtype) else dtype
    meaning = _digest(scheme, [label, name, _plain(dtype), scheme.unit, POINTS])
    return PartialColumn(label, VALUES, ROWS_FORMAT, meaning, pa.list_(pa.field("element", plain)))  # as Parquet has it


def _digest(scheme: Scheme, parts: list[Any]) -> str:
    settings = scheme.settings
    times = [str(settings.time), str(settings.spans.start) if settings.spans else None]
    return hashlib.sha256(json.dumps([*parts, *times]).encode()).hexdigest()[:10]


def partial_name(scheme: Scheme, aggregate: Aggregate, planned: PlannedQuery) -> str | None:
    """The first built-in function without constants that has the same partial: variance and stddev have one."""
    columns = planned.question.columns
    first = infer(columns[0], scheme.query_schema) if columns else None
    return _partial_name(partial_key(aggregate), aggregate.inputs, dtypes_of(scheme, aggregate, planned), first)


def dtypes_of(scheme: Scheme, aggregate: Aggregate, planned: PlannedQuery) -> tuple[np.dtype, ...]:
    """What an aggregate lifts of the columns of a query: those of the query itself or, where it lifts none, numbers."""
    lifted = planned.lifted
    assert lifted is not None
    if not aggregate.inputs or len(lifted.columns) == aggregate.inputs:
        return tuple(column.dtype for column in lifted.columns)
    types = [infer(column, scheme.query_schema) for column in planned.question.columns]
    simple = all(pa.types.is_integer(dtype) or pa.types.is_floating(dtype) for dtype in types)
    return tuple(np.dtype(dtype.to_pandas_dtype()) for dtype in types) if simple else ()


@lru_cache(maxsize=1024)
def _partial_name(kind: Any, inputs: int, dtypes: tuple[np.dtype, ...], dtype: pa.DataType | None) -> str | None:
    for name, function in FUNCTIONS.items():
        if any(function.takes(each) for each in CONSTANTS):
            continue
        other = builtin(name)
        if not isinstance(other, Aggregate) or other.inputs != inputs:
            continue
        if inputs and len(dtypes) != inputs:
            continue
        typed = None if other.for_type is None or dtype is None else other.for_type(dtype)
        if partial_key((typed or other).of(dtypes)) == kind:
            return name
    return None


def _own_name(aggregate: Aggregate, planned: PlannedQuery) -> str:
    """The name of a function with constants, or of a user's own, which is known by what its functions do."""
    origin = planned.query.call.aggregate.origin
    return f"{origin[0]} {origin[1:]}" if origin else f"{aggregate.name} {making(aggregate)}"


def _plain(dtype: pa.DataType) -> str:
    """A type as its values are, however they are stored."""
    dtype = dtype.value_type if pa.types.is_dictionary(dtype) else dtype
    if dtype in (pa.large_string(), pa.string_view()):
        return str(pa.string())
    if dtype in (pa.large_binary(), pa.binary_view()):
        return str(pa.binary())
    if pa.types.is_timestamp(dtype):
        return f"timestamp[{dtype.unit}]{'' if dtype.tz is None else ' with a zone'}"
    return str(dtype)


# Numbers as Arrow has them


def arrow_type(state: np.dtype) -> pa.DataType:
    """The plain type of a partial: its number, a struct of its numbers, or bytes where it is an object."""
    if state.hasobject:
        return pa.binary()
    if state.names is None:
        return pa.from_numpy_dtype(state)
    return pa.struct([(name, pa.from_numpy_dtype(state[name])) for name in state.names])


def as_column(layout: PartialLayout, states: np.ndarray, filled: np.ndarray) -> pa.Array:
    """Partials as a column, NULL where there is none."""
    missing = filled == 0
    if states.dtype.hasobject:
        return layout.binary(states, filled)
    if states.dtype.names is None:
        return pa.array(states, arrow_type(states.dtype), mask=missing)
    names = list(states.dtype.names)
    fields = [pa.array(np.ascontiguousarray(states[name])) for name in names]
    return pa.StructArray.from_arrays(fields, names, mask=pa.array(missing))


def states_of(column: Any, state: np.dtype, name: str) -> tuple[np.ndarray, np.ndarray]:
    """The partials of a column, and which there are."""
    array = one_array(column)
    filled = array.is_valid().to_numpy(zero_copy_only=False).view(np.uint8)
    states = np.zeros(len(array), state)
    if pa.types.is_null(array.type):
        return states, filled
    if state.names is None:
        states[...] = _numbers(array, state, name)
        return states, filled
    if not pa.types.is_struct(array.type) or [field.name for field in array.type] != list(state.names):
        raise SashError(f"{name} must be a struct of {', '.join(state.names)}, got {array.type}")
    for k, field in enumerate(state.names):
        states[field] = _numbers(pc.struct_field(array, [k]), state[field], f"{name}.{field}")
    return states, filled


def _numbers(array: pa.Array, dtype: np.dtype, name: str) -> np.ndarray:
    """Numbers of one field; a float that is NULL beside others was NaN, which pandas does not tell from it."""
    wanted = pa.from_numpy_dtype(dtype)
    if pa.types.is_floating(array.type) and dtype.kind in "iu":
        most = pc.max(pc.abs(array)).as_py()
        if most is not None and not most <= EXACT:
            raise SashError(f"{name} must be whole numbers, got floats above 2**53, which are none any more; "
                            "read the partials with pyarrow or polars")  # fmt: skip
    try:
        array = array if array.type == wanted else array.cast(wanted)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        raise SashError(f"{name} must be of type {wanted}, got {array.type}: {error}") from None
    if array.null_count:
        array = array.fill_null(
            pa.scalar(float("nan") if dtype.kind == "f" else 0 if dtype.kind != "b" else False, wanted)
        )
    return array.to_numpy(zero_copy_only=False)
