"""Tables of partials as an operator takes them: which columns answer a board, and whether its windows fit the slices.

Where partials of slices answer all queries, each of a board's is the column of the same meaning, or made of others as
queries share them (avg of sum and count). Otherwise rows are taken out of their lists, and answered as rows are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sash.algebra import Aggregate
from sash.algebra.sharing import RULES, partial_key
from sash.engine.streams.cell_partials import POINTS
from sash.engine.streams.cells import AT, KEY, STATE
from sash.engine.streams.keyed_rows import KeyedRows
from sash.engine.streams.logged import ROW
from sash.engine.streams.operator import Operator
from sash.engine.streams.partial_columns import (
    END,
    FIRSTS,
    NAME,
    START,
    TIMES,
    VALUES,
    PartialColumn,
    cell_columns,
    column_of,
    dtypes_of,
    partial_name,
    row_columns,
    states_of,
)
from sash.engine.streams.partial_layouts import PartialLayout
from sash.engine.streams.restoring import refuse_outside
from sash.engine.streams.scheme import Scheme
from sash.engine.streams.slice_partials import refuse_no_slices
from sash.engine.streams.timed_stream import FIRST
from sash.engine.streams.times import ticks_of
from sash.engine.tables import as_arrow, backend_of, column_names, one_array
from sash.errors import SashError, column_named
from sash.kernels.slices.partials import columns_of as numbers_of
from sash.kernels.slices.partials import of_partials
from sash.libraries import is_spark
from sash.windows.slicers import edges_of

MANY = 1 << 20  # partials that are worth a table of their own


class PartialSource(NamedTuple):
    """A column of partials that others are made of, and the layout of its numbers."""

    name: str
    layout: PartialLayout


class PartialReader:
    """How a board takes partials of some columns."""

    def __init__(self, scheme: Scheme, names: Sequence[str]) -> None:
        """Find the columns; those that are missing are refused."""
        refuse_no_slices(scheme)
        self.scheme, self.names = scheme, list(names)
        absent = [name for name in (*scheme.key_names, START, END) if name not in self.names]
        if absent:
            raise SashError(f"partials must have the columns {', '.join((*scheme.key_names, START, END))}, got none "
                            f"named {absent[0]}: {_listed(self.names)}")  # fmt: skip
        self._of_meaning = {match["meaning"]: (name, int(match["number"]))
                            for name in reversed(self.names) if (match := NAME.fullmatch(name))}  # fmt: skip
        self._edges = edges_of(scheme.cuts, "pairs")
        self._parts: list[_DerivedPartial] = []
        lists = row_columns(scheme)
        missing = [column for column in lists.values() if self._column(column) is None]
        lacking: list[PartialColumn] = []
        if not scheme.buffered:
            lacking = self._match_cells()
        self.by_rows = bool(scheme.buffered or lacking)
        if self.by_rows and missing:
            raise self._refused(lacking or missing)
        names_of = {what: self._column(column) for what, column in lists.items()}
        self._lists = {what: name for what, name in names_of.items() if name is not None} if self.by_rows else {}

    def _refused(self, lacking: list[PartialColumn]) -> SashError:
        labels = dict.fromkeys(column.label for column in lacking)
        needed = dict.fromkeys(column.name for column in lacking)
        return SashError(
            f"partials must have {', '.join(labels)} to answer this board ({', '.join(needed)}), got "
            f"{_listed([name for name in self.names if NAME.fullmatch(name)])}: the same words with another ending are "
            "of another filter, time, type of column or version of a function; fold the rows again"
        )

    # Which columns

    def _column(self, column: PartialColumn) -> str | None:
        """The name of a column of this meaning, if there is one; one of another format is refused."""
        name, number = self._of_meaning.get(column.meaning, (None, column.number))
        if number != column.number:
            raise SashError(
                f"partials of {column.label} are of format {number} in the column {name}, and this Sash has format "
                f"{column.number}: fold the rows again"
            )
        return name

    def _match_cells(self) -> list[PartialColumn]:
        """Find what each partial of the board is read from; gives those that nothing answers."""
        lacking, scheme = [], self.scheme
        for k, (partial, column) in enumerate(zip(scheme.partials, cell_columns(scheme), strict=True)):
            layout: PartialLayout = partial.layout
            name = self._column(column)
            if name is not None:
                self._parts.append(_same(PartialSource(name, layout)))
                continue
            derived = None if partial.part != POINTS else self._derived(scheme.shared.partials[k][0], partial)
            if derived is None:
                lacking.append(column)
            else:
                self._parts.append(derived)
        return lacking

    def _derived(self, aggregate: Aggregate, partial: Any) -> _DerivedPartial | None:
        """What makes a partial of others, as queries that share slices do."""
        scheme, planned = self.scheme, partial.planned
        for rule in RULES:
            if partial_key(rule.target) != partial_key(aggregate):
                continue
            sources = []
            for source in rule.sources:
                if partial_name(scheme, source, planned) is None:
                    break  # of other types than the columns
                layout = PartialLayout(source, dtypes_of(scheme, source, planned) if source.inputs else ())
                name = self._column(column_of(scheme, source, planned, partial.part, layout.partial.state))
                sources.append(None if name is None else PartialSource(name, layout))
            known = [source for source in sources if source is not None]
            if len(known) == len(rule.sources):
                return _derived_from(known, partial.layout, aggregate, rule.make)
        return None

    # What of a table

    @cached_property
    def columns(self) -> list[str]:
        """The columns that are read."""
        used = {name for part in self._parts for name in part.names} if not self.by_rows else set(self._lists.values())
        return [name for name in self.names if name in used or name in (*self.scheme.key_names, START, END)]

    def entry(self, table: pa.Table) -> pa.Table:
        """The cells or, where these do not suffice, the rows of a table of partials."""
        start, end = self.moments(table, START), self.moments(table, END)
        if (end <= start).any():
            raise SashError(f"{END} must be after {START} in every row of partials, got one that is not")
        if len(start):
            refuse_outside(start, START, *self.scheme.slice_reach)
        keys = {f"{KEY} {k}": one_array(table[name]) for k, name in enumerate(self.scheme.key_names)}
        keys = {name: _as_key(array, dtype, shown) for (name, array), dtype, shown in
                zip(keys.items(), self.scheme.key_types, self.scheme.key_names, strict=True)}  # fmt: skip
        return self._rows(table, keys, start, end) if self.by_rows else self._cells(table, keys, start, end)

    def _cells(self, table: pa.Table, keys: dict[str, pa.Array], start: np.ndarray, end: np.ndarray) -> pa.Table:
        columns: dict[str, Any] = dict(keys)
        if len(start):
            floors = self._edges.floor(start)
            wrong = self._edges.floor(end - 1) != floors
            if wrong.any():
                place = int(np.flatnonzero(wrong)[0])
                shown = pa.array([start[place], end[place]]).view(self.scheme.time_type).cast(pa.string()).to_pylist()
                raise SashError(
                    f"partials must be of slices within which no window of the board starts or ends, got one from "
                    f"{shown[0]} to {shown[1]}; fold the rows again with a query as fine as this board's"
                )
            start = start if self.scheme.spans else floors
        columns[AT] = pa.array(start)
        for part, name in zip(self._parts, self.scheme.partial_ids, strict=True):
            columns[f"{STATE} {name}"] = part(table)
        return pa.table(columns)

    def _rows(self, table: pa.Table, keys: dict[str, pa.Array], start: np.ndarray, end: np.ndarray) -> pa.Table:
        scheme = self.scheme
        lists = {what: _as_list(table[name], name) for what, name in self._lists.items()}
        lengths = _lengths(lists[TIMES])
        for what, name in self._lists.items():
            if not np.array_equal(_lengths(lists[what]), lengths):
                raise SashError(f"{name} must have a value for each row of a slice, as {self._lists[TIMES]} has")
        if not scheme.spans and len(lengths) and not lengths.all():
            raise SashError(f"{self._lists[TIMES]} must have the rows of every slice, got a slice without any")
        which = np.repeat(np.arange(len(lengths)), lengths)
        offsets = self._flat(lists[TIMES], pa.int64(), self._lists[TIMES]).to_numpy()
        begins = start[which]
        if len(offsets) and ((offsets < 0) | (offsets >= end[which] - begins)).any():
            raise SashError(f"{self._lists[TIMES]} must be within the slices of the rows, got one that is not")
        columns: dict[str, Any] = {name: array.take(pa.array(which)) for name, array in keys.items()}
        columns[AT] = pa.array(begins + offsets)
        for name in scheme.needed:
            field = scheme.schema.field(name)
            what = f"{VALUES} {name}"
            columns[f"{ROW} {name}"] = self._flat(lists[what], field.type, self._lists[what])
        if not scheme.needed:
            columns[f"{ROW} "] = pa.nulls(len(which))
        if scheme.spans:
            firsts = self._flat(lists[FIRSTS], pa.int64(), self._lists[FIRSTS]).to_numpy()
            columns[f"{ROW} {FIRST}"] = pa.array(begins + firsts)
        return pa.table(columns)

    def _flat(self, array: pa.Array, dtype: pa.DataType, name: str) -> pa.Array:
        values = pc.list_flatten(array)
        try:
            return values if values.type == dtype else values.cast(dtype)
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
            raise SashError(f"{name} must be lists of {dtype}, got {array.type}: {error}") from None

    def moments(self, table: pa.Table, name: str) -> np.ndarray:
        """Starts or ends of slices."""
        column, wanted = table[name], self.scheme.time_type
        if pa.types.is_timestamp(column.type) and (column.type.tz is None) != (wanted.tz is None):
            raise SashError(f"{name} must be of type {wanted} as the times of the board are, got {column.type}")
        with column_named(name):
            ticks, known = ticks_of(column, wanted)
        if known is not None:
            raise SashError(f"{name} must be known in every row of partials, got NULL")
        return ticks


class _DerivedPartial:
    """A partial of the board, as bytes, made of columns of a table."""

    def __init__(self, sources: list[PartialSource], make: Callable[[list[Any]], pa.Array]) -> None:
        """Say of which columns, and how."""
        self.sources, self._make = sources, make
        self.names = [source.name for source in sources]

    def __call__(self, table: pa.Table) -> pa.Array:
        """The partials of a table."""
        return self._make([table[name] for name in self.names])


def _same(source: PartialSource) -> _DerivedPartial:
    """The partial as it is."""
    state = source.layout.partial.state

    def make(columns: list[Any]) -> pa.Array:
        if state.hasobject:
            return one_array(columns[0]).cast(pa.binary())
        return source.layout.binary(*states_of(columns[0], state, source.name))

    return _DerivedPartial([source], make)


def _derived_from(
    sources: list[PartialSource], layout: PartialLayout, aggregate: Aggregate, how: Callable[..., Any]
) -> _DerivedPartial:
    """A partial made of others."""
    lifting = of_partials(aggregate, how, [source.layout.partial for source in sources])

    def make(columns: list[Any]) -> pa.Array:
        stores = [states_of(column, source.layout.partial.state, source.name)
                  for column, source in zip(columns, sources, strict=True)]  # fmt: skip
        filled = np.logical_and.reduce([flags != 0 for _, flags in stores])
        values = tuple(number[filled] for states, _ in stores for number in numbers_of(states))
        derived = PartialLayout(lifting, tuple(value.dtype for value in values))
        states = np.zeros(len(filled), derived.partial.state)
        flags = np.zeros(len(filled), np.uint8)
        derived.fold(values, np.flatnonzero(filled), states, flags)
        out = np.zeros(len(filled), layout.partial.state)
        _copy(states, out)
        return layout.binary(out, flags)

    return _DerivedPartial(sources, make)


def _copy(states: np.ndarray, out: np.ndarray) -> None:
    """The numbers of one layout in another that has as many."""
    if out.dtype.names is None:
        out[...] = states
        return
    for mine, theirs in zip(out.dtype.names, states.dtype.names or (), strict=True):
        out[mine] = states[theirs]


def take_partials(operator: Operator, frames: Iterable[Any]) -> None:
    """Have an operator take tables of partials, of any library."""
    readers: dict[tuple[str, ...], PartialReader] = {}
    for table, reader in tables_of(operator.scheme, frames, readers):
        take_entry(operator, reader.entry(table))


def tables_of(
    scheme: Scheme, frames: Iterable[Any], readers: dict[tuple[str, ...], PartialReader]
) -> Iterator[tuple[pa.Table, PartialReader]]:
    """Frames of partials as Arrow tables, each with what reads it; small ones of the same columns are put together."""
    together: list[pa.Table] = []
    before: PartialReader | None = None
    for frame in frames:
        names = tuple(column_names(frame))
        reader = readers.get(names)
        if reader is None:
            reader = readers[names] = PartialReader(scheme, names)
        table = as_arrow(frame, reader.columns)
        alike = before is reader and together[-1].schema.equals(table.schema)
        if before is not None and not (alike and sum(map(len, together)) + len(table) <= MANY):
            yield pa.concat_tables(together), before
            together = []
        together.append(table)
        before = reader
    if before is not None:
        yield pa.concat_tables(together), before


def take_entry(operator: Operator, entry: pa.Table) -> None:
    """Have an operator take cells, or rows."""
    if not any(name.startswith(ROW) for name in entry.column_names):
        operator.take(entry)
        return
    names = [name for name in entry.column_names if name.startswith(f"{ROW} ")]
    rows = pa.table({name.removeprefix(f"{ROW} "): entry[name] for name in names})
    codes = operator.codes_of(
        [one_array(entry[name]) for name in entry.column_names if name.startswith(KEY)], len(rows)
    )
    operator.retake(KeyedRows(rows, codes, entry[AT].to_numpy()))


def frames_of(partials: Any) -> list[Any]:
    """What a user gave as partials: a frame, or several."""
    if is_spark(partials):
        raise SashError(
            "partials must be frames in memory, got a Spark DataFrame; give its toArrow(), or ask a board of a Spark "
            "DataFrame"
        )
    try:
        backend_of(partials)
        return [partials]
    except SashError:
        pass
    if isinstance(partials, (str, bytes)) or not isinstance(partials, Iterable):
        raise SashError(
            f"partials must be what board.partials() gave, a frame or several, got {type(partials).__name__}"
        )
    frames = list(partials)
    for frame in frames:
        try:
            backend_of(frame)
        except SashError:
            raise SashError(f"partials must be frames of one library in memory, got a "
                            f"{type(frame).__name__} among them") from None  # fmt: skip
    if not frames:
        raise SashError("partials must be at least one frame, got none")
    return frames


def _as_key(array: pa.Array, dtype: pa.DataType, name: str) -> pa.Array:
    dtype = dtype.value_type if pa.types.is_dictionary(dtype) else dtype
    array = array.dictionary_decode() if pa.types.is_dictionary(array.type) else array
    try:
        return array if array.type == dtype else array.cast(dtype)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        raise SashError(f"{name} must be a key of type {dtype}, got {array.type}: {error}") from None


def _as_list(column: Any, name: str) -> pa.Array:
    array = one_array(column)
    if pa.types.is_null(array.type):
        return array.cast(pa.list_(pa.null()))
    if not (pa.types.is_list(array.type) or pa.types.is_large_list(array.type)):
        raise SashError(f"{name} must be lists, got {array.type}")
    return array


def _lengths(array: pa.Array) -> np.ndarray:
    return pc.list_value_length(array).fill_null(0).to_numpy(zero_copy_only=False).astype(np.int64)


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names) or "none"
