"""A window that its user manages: rows come, leave and change in any order, and it is asked at any time."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa

from sash.algebra import Aggregate, Call
from sash.engine.batch_schema import schema_of, table_of
from sash.engine.sliding_fold import Fold
from sash.engine.sliding_state import LiveRows, arrays_of, rows_of, written
from sash.engine.sorted_partitions import SortedPartitions
from sash.engine.tables import as_arrow
from sash.errors import Refused, SashError
from sash.expressions.binding import check_names
from sash.expressions.columns import as_column
from sash.expressions.parsing import as_predicate
from sash.kernels.answers import Answered
from sash.kernels.fifo.flatfat_window import FlatFat

FORMAT = b"sash sliding window 1\n"  # how a snapshot begins: with its version
SEAL = 32  # bytes of the digest behind that


class SlidingWindow:
    """A window of rows that are inserted, evicted and updated by hand, and aggregates of all or some of them.

    Args:
        calls: what is asked, such as ``sf.max("load")``; or a dict of several, whose answers are dicts then.
        schema: the types of the columns: an Arrow schema, or a dict of Arrow or NumPy types by name.

    Rows are known by the numbers of their arrival, which do not change. What is answered for no row, or for rows
    that are all NULL, is as in ``sash.withColumns``.

    >>> from sash import functions as sf
    >>> window = SlidingWindow(sf.max("load"), {"load": "int64"})
    >>> ids = window.insert({"load": [3, 9, None, 4]})
    >>> window.query()
    9
    >>> window.evict(ids[1])
    >>> window.update(ids[2], {"load": [7]})
    >>> window.query(), window.prefix(ids[0]), len(window)
    (7, 3, 3)

    """

    def __init__(self, calls: Call | Mapping[str, Call], schema: Any) -> None:
        self._several = isinstance(calls, Mapping)
        named = dict(calls) if isinstance(calls, Mapping) else {"": calls}
        if not named or not all(isinstance(name, str) for name in named):
            raise SashError(f"calls must hold at least one call, each under a name, got {calls!r}")
        whole = schema_of(schema)
        asked = {name: _checked(call) for name, call in named.items()}
        reads = {name for call in asked.values() for name in _reads(call, whole.names)}
        self._schema = pa.schema([field for field in whole if field.name in reads])
        empty = SortedPartitions(as_arrow(whole.empty_table(), reads), (), ())
        self._folds = {name: Fold(call, empty) for name, call in asked.items()}
        self._rows = LiveRows()
        self._of = ", ".join(f"{name} = {call}" if name else str(call) for name, call in named.items())
        self._of += "" if all(fold.compiled for fold in self._folds.values()) else " in plain Python"
        self._of += " over " + (", ".join(f"{field.name} {field.type}" for field in self._schema) or "no columns")

    def __len__(self) -> int:
        """How many rows are in the window, those that are not counted included."""
        return len(next(iter(self._folds.values())).tree)

    @property
    def capacity(self) -> int:
        """How many rows there is room for, holes included: a power of two."""
        return next(iter(self._folds.values())).tree.capacity

    def insert(self, batch: Any) -> np.ndarray:
        """Append rows: an Arrow table or record batch, or a dict of columns; returns their arrival numbers."""
        columns, sources, _ = self._taken(batch)
        for fold, values in zip(self._folds.values(), columns, strict=True):
            ids = fold.tree.insert(*values)
        self._rows.put(ids, sources)
        return ids

    def evict(self, ids: Any) -> None:
        """Take rows out of the window, wherever they stand: one arrival number, or an array of them."""
        numbers = _numbers(ids)
        for fold in self._folds.values():
            fold.tree.evict(numbers)
        self._rows.drop(numbers)

    def update(self, ids: Any, batch: Any) -> None:
        """Replace rows of the window by those of a batch, in place."""
        numbers = _numbers(ids)
        columns, sources, length = self._taken(batch)
        if length != len(numbers):
            raise SashError(f"batch must have a row for each of {len(numbers)} ids, got {length} rows")
        for fold, values in zip(self._folds.values(), columns, strict=True):
            fold.tree.update(numbers, *values)
        self._rows.put(numbers, sources)

    def query(self) -> Any:
        """The answer of the whole window as a Python value, None for NULL; of several calls, a dict of answers."""
        return self._answer(lambda tree: tree.suffix([0]))

    def prefix(self, id: int) -> Any:
        """The answer of the rows up to and including an arrival number, whether that row is still there or not."""
        last = _number("id", id)
        return self._answer(lambda tree: tree.prefix([last]))

    def suffix(self, id: int) -> Any:
        """The answer of the rows from an arrival number on, whether that row is still there or not."""
        first = _number("id", id)
        return self._answer(lambda tree: tree.suffix([first]))

    def range(self, first: int, last: int) -> Any:
        """The answer of the rows from one arrival number to another, both included, still there or not."""
        lo, hi = _number("first", first), _number("last", last)
        return self._answer(lambda tree: tree.ranges([lo], [hi]))

    def snapshot(self) -> bytes:
        """All that the window holds, for ``restore`` of a window of the same calls and types, elsewhere or later."""
        arrays = {"of": np.frombuffer(self._of.encode(), np.uint8)}
        for number, fold in enumerate(self._folds.values()):
            if not fold.compiled:
                raise Refused(f"{fold.call} has no snapshot: with compiled=False its partials are Python's own objects")
            arrays |= {f"{number} {name}": array for name, array in fold.tree.state().items()}
        arrays["ids"], arrays["rows"] = self._rows.packed()
        payload = written(arrays)
        return FORMAT + _seal(payload) + payload

    def restore(self, snapshot: bytes) -> None:
        """Go on where a window of the same calls and types was when its snapshot was taken."""
        if not isinstance(snapshot, bytes) or not snapshot.startswith(FORMAT):
            begins = repr(snapshot[: len(FORMAT)]) if isinstance(snapshot, bytes) else type(snapshot).__name__
            raise SashError(f"snapshot must be bytes that begin with {FORMAT!r}, got {begins}")
        body = len(FORMAT) + SEAL
        payload = snapshot[body:]
        if snapshot[len(FORMAT) : body] != _seal(payload):
            raise SashError(f"snapshot must be unchanged, got {len(snapshot)} bytes that do not fit their digest")
        arrays = arrays_of(payload)
        if not {"of", "ids", "rows"} <= arrays.keys():
            raise SashError(f"snapshot must have its calls, ids and rows, got {', '.join(arrays) or 'nothing'}")
        if (of := arrays["of"].tobytes().decode(errors="replace")) != self._of:
            raise SashError(f"snapshot must be of a window of {self._of}, got one of {of}")
        trees = []
        for number, fold in enumerate(self._folds.values()):
            state = {name.partition(" ")[2]: each for name, each in arrays.items() if name.startswith(f"{number} ")}
            trees.append(fold.planted())
            trees[-1].restore(state)
        live, arrived = trees[0].live_ids, trees[0].arrived
        if any(tree.arrived != arrived or not np.array_equal(tree.live_ids, live) for tree in trees):
            raise SashError("snapshot must have the same rows for all calls, got others")
        sources = self._taken(self._schema.empty_table())[1]
        rows = rows_of(arrays, None if sources is None else sources.schema, live)
        for fold, tree in zip(self._folds.values(), trees, strict=True):
            fold.tree = tree
        self._rows = rows

    def _taken(self, batch: Any) -> tuple[list[tuple[np.ndarray, ...]], pa.Table | None, int]:
        """The columns that each call lifts, those that answers are taken from, and the number of rows."""
        rows = SortedPartitions(table_of(batch, self._schema), (), ())
        columns = [fold.columns(rows) for fold in self._folds.values()]
        sources = [rows.source(as_column(fold.call.columns[0])) for fold in self._folds.values() if fold.by_row]
        plain = [each.dictionary_decode() if pa.types.is_dictionary(each.type) else each for each in sources]
        rows.forget()
        names = [name for name, fold in self._folds.items() if fold.by_row]
        return columns, pa.Table.from_arrays(plain, names) if names else None, rows.rows

    def _answer(self, ask: Callable[[FlatFat], Answered]) -> Any:
        answers = {}
        for name, fold in self._folds.items():
            answered = ask(fold.tree)
            if not fold.by_row:
                answers[name] = fold.read(answered)
            else:
                answers[name] = self._rows.value(name, int(answered.values[0])) if answered.valid[0] else None
        return answers if self._several else answers[""]


def _checked(call: Any) -> Call:
    """A call that partials can answer, wherever there are holes."""
    if not isinstance(call, Call):
        raise SashError(f'calls must be such as sf.max("load"), or a dict of such, got {call!r}')
    function = call.aggregate
    if not isinstance(function, Aggregate):
        if getattr(function, "folded", None) is None:
            raise Refused(f"{call} has no place in a sliding window: {function.name} is no aggregate of partials")
        function = function.folded
        call = replace(call, aggregate=function)
    if function.by_place:
        raise Refused(f"{call} has no place in a sliding window: {function.name} takes rows that follow each other")
    if call.unique and not function.selective:
        raise Refused(f"{call} has no place in a sliding window: what is distinct is not known of partials")
    if call.order:
        raise Refused(f"{call} has no place in a sliding window: its rows are in order of arrival")
    return call if call.condition is None else replace(call, condition=as_predicate(call.condition))  # parsed once


def _reads(call: Call, names: Sequence[str]) -> frozenset[str]:
    """The columns that a call is computed of."""
    expressions = [as_column(column) for column in call.columns]
    expressions += [] if call.condition is None else [call.condition]
    return frozenset().union(*(check_names(each, names) for each in expressions))


def _numbers(ids: Any) -> np.ndarray:
    """Arrival numbers, each once."""
    try:
        numbers = np.atleast_1d(np.asarray(ids))
    except ValueError:  # lists of different lengths
        numbers = np.zeros((0, 0))
    if numbers.ndim != 1 or (numbers.size and numbers.dtype.kind not in "iu"):
        raise SashError(f"ids must be arrival numbers as insert gives them, got {ids!r}")
    different, counts = np.unique(numbers, return_counts=True)
    if len(different) < len(numbers):
        raise SashError(f"ids must name each row once, got {different[counts > 1][0]} again")
    return numbers.astype(np.int64)


def _number(argument: str, number: Any) -> int:
    if not isinstance(number, (int, np.integer)) or isinstance(number, bool):
        raise SashError(f"{argument} must be an arrival number as insert gives it, got {number!r}")
    return int(number)


def _seal(payload: bytes) -> bytes:
    return hashlib.blake2b(payload, digest_size=SEAL).digest()
