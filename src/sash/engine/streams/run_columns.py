"""What sorted runs hold of rows: words that order their values, or that say where each value occurred before."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
import pyarrow as pa

from sash.engine.answering.asking import Question
from sash.engine.answering.lifted import numbers
from sash.engine.sorted_partitions import SortedPartitions
from sash.engine.streams.keys import plain_array, plain_type
from sash.engine.streams.value_parts import INTEGERS, MAGNITUDE, float_words, is_text, text_bytes, whole_numbers
from sash.kernels.slices import row_rings
from sash.kernels.slices.assigning import grown
from sash.kernels.slices.interning import PairNumbers, TextNumbers
from sash.windows.over import Over

NONE = np.iinfo(np.int64).max  # the word of a row that does not count: behind all others
MANY = 1 << 12  # values that may be known of rows that left, in any case


class RunColumn(ABC):
    """A word for each row of the rings, and the runs that these are sorted into."""

    def __init__(self, over: Over) -> None:
        self.over = over
        self.words, self.levels = np.zeros(0, np.int64), np.zeros(0, np.int64)

    @abstractmethod
    def put(self, table: pa.Table, put: tuple[Any, ...], key: np.ndarray) -> None:
        """Take rows, given how they are put in."""

    def leave(self, rings: Any, keys: np.ndarray, since: np.ndarray) -> None:
        """Rows from a place of each key on will move."""
        return

    def come(self, rings: Any, keys: np.ndarray, since: np.ndarray) -> None:
        """Rows from a place of each key on have come, or have moved."""
        return

    def move(self, rings: Any, moves: tuple[Any, ...]) -> None:
        """Have larger rings."""
        self.words = moved(self.words, rings.slots, moves)
        if rings.run_slots > len(self.levels):
            levels = np.empty(max(rings.run_slots, 3 * len(self.levels) // 2), np.int64)
            levels[: len(self.levels)] = self.levels
            self.levels = levels

    @property
    def size(self) -> int:
        """About how many bytes it has."""
        return self.words.nbytes + self.levels.nbytes

    def wasteful(self, rows: int) -> bool:
        """Whether it knows much of rows that have left."""
        return False

    def _columns(self, table: pa.Table) -> tuple[list[pa.Array], np.ndarray | None]:
        """The columns that the query is of, and which rows count; None where all do."""
        rows = SortedPartitions(table, (), ())
        question = Question(rows, self.over)
        some = question.columns[: 1 if self._alone else None]
        selection, columns = question.selection(*some), [rows.column(column) for column in some]
        rows.forget()
        return columns, selection.mask

    _alone = True  # whether only the first column is asked for


class OrderedColumn(RunColumn):
    """The values of a column as words in their order."""

    def __init__(self, over: Over, dtype: pa.DataType, as_numbers: bool, descending: bool) -> None:
        super().__init__(over)
        self.dtype, self.as_numbers, self.descending = dtype, as_numbers, descending
        self.partial = False  # whether a row has come that does not count
        self._flags, self._before = np.zeros(0, np.uint8), np.zeros(0, np.int64)

    def put(self, table: pa.Table, put: tuple[Any, ...], key: np.ndarray) -> None:
        """Write the words of rows, and whether these count."""
        (array,), mask = self._columns(table)
        words = self._words(array)
        if mask is not None:
            words = np.where(mask, words, NONE)
            if not self.partial:
                self.partial = True
                self._flags, self._before = np.ones(len(self.words), np.uint8), np.zeros(len(self.words), np.int64)
                self._uncounted = True
        row_rings.put_in(*put, words, self.words)
        if self.partial:
            flags = np.ones(len(key), np.uint8) if mask is None else mask.view(np.uint8)
            row_rings.put_in(*put, flags, self._flags)

    _uncounted = False

    def come(self, rings: Any, keys: np.ndarray, since: np.ndarray) -> None:
        """Count the rows that count."""
        if self._uncounted:
            keys, since, self._uncounted = np.arange(len(rings.base)), rings.head, False
        if self.partial:
            of = (rings.base, rings.room, rings.head, rings.tail, self._flags, self._before)
            row_rings.count_flags(keys, since, *of)

    def move(self, rings: Any, moves: tuple[Any, ...]) -> None:
        """Have larger rings."""
        super().move(rings, moves)
        if self.partial:
            self._flags, self._before = (moved(each, rings.slots, moves) for each in (self._flags, self._before))

    def counts(self, rings: Any, keys: np.ndarray, lo: np.ndarray, hi: np.ndarray) -> np.ndarray:
        """How many rows count from one place to another."""
        if not self.partial:
            return np.maximum(hi - lo, 0)
        out = np.empty(len(keys), np.int64)
        row_rings.count_between(keys, lo, hi, rings.base, rings.room, self._flags, self._before, out)
        return out

    @property
    def size(self) -> int:
        """About how many bytes it has."""
        return super().size + self._flags.nbytes + self._before.nbytes

    def _words(self, array: pa.Array) -> np.ndarray:
        if self.as_numbers:
            array = array.cast(pa.int64()) if pa.types.is_duration(array.type) else array
            words = float_words(numbers(array, "").astype(np.float64, copy=False))
        else:
            words = whole_numbers(array)
        return ~words if self.descending else words

    def values(self, words: np.ndarray) -> np.ndarray:
        """What words stand for: doubles, or whole numbers as the type has them."""
        words = ~words if self.descending else words
        return floats_of(words) if self.as_numbers else words

    def array(self, words: np.ndarray, valid: np.ndarray) -> pa.Array:
        """The same as an array of the column's type."""
        values, mask = self.values(words), None if valid.all() else ~valid
        if pa.types.is_boolean(self.dtype):
            return pa.array(values != 0, mask=mask)
        return pa.array(values.astype(INTEGERS[self.dtype.bit_width]), mask=mask).view(self.dtype)


class OccurringColumn(RunColumn):
    """Where the value of each row occurred before, among the rows of its key: a value counts where it is first."""

    _alone = False

    def __init__(self, over: Over) -> None:
        super().__init__(over)
        self._codes, self._last = np.zeros(0, np.int64), np.zeros(0, np.int64)
        self._texts: dict[int, TextNumbers] = {}
        self._pairs: dict[int, PairNumbers] = {}
        self._values = PairNumbers()  # of a key and a value

    def put(self, table: pa.Table, put: tuple[Any, ...], key: np.ndarray) -> None:
        """Write the numbers of values."""
        columns, mask = self._columns(table)
        valid = np.ones(table.num_rows, np.uint8) if mask is None else mask.view(np.uint8)
        words = None
        for place, array in enumerate(columns):
            for part, more in enumerate(self._parts(place, array, valid)):
                words = more if words is None else self._paired(place + part * MANY, words, more, valid)
        assert words is not None
        codes = self._values.numbers(key, words, valid)
        if self._values.count > len(self._last):
            fresh = np.full(2 * self._values.count, -1)
            fresh[: len(self._last)] = self._last
            self._last = fresh
        row_rings.put_in(*put, codes, self._codes)

    def leave(self, rings: Any, keys: np.ndarray, since: np.ndarray) -> None:
        """Forget where values occurred last."""
        row_rings.unlink(keys, since, rings.base, rings.room, rings.tail, self._codes, self.words, self._last)

    def come(self, rings: Any, keys: np.ndarray, since: np.ndarray) -> None:
        """Say where values occurred before."""
        of = (rings.base, rings.room, rings.tail, self._codes, NONE, self.words, self._last)
        row_rings.link(keys, since, *of)

    def move(self, rings: Any, moves: tuple[Any, ...]) -> None:
        """Have larger rings."""
        super().move(rings, moves)
        self._codes = moved(self._codes, rings.slots, moves)

    @property
    def size(self) -> int:
        """About how many bytes it has."""
        return super().size + self._codes.nbytes + self._last.nbytes + sum(table.size for table in self._tables)

    def wasteful(self, rows: int) -> bool:
        """Whether most values that it knows are of rows that have left."""
        return any(table.count > 4 * rows + MANY for table in self._tables)

    @property
    def _tables(self) -> list[PairNumbers | TextNumbers]:
        return [self._values, *self._texts.values(), *self._pairs.values()]

    def _parts(self, place: int, array: pa.Array, valid: np.ndarray) -> list[np.ndarray]:
        """Words that are equal where the values of a column are."""
        array = plain_array(array, plain_type(array.type))
        dtype = array.type
        if is_text(dtype):
            texts = self._texts.setdefault(place, TextNumbers())
            return [texts.numbers(*text_bytes(array), valid)]
        if pa.types.is_decimal(dtype):
            whole = array.cast(pa.decimal128(38, dtype.scale))
            pairs = np.frombuffer(whole.buffers()[1], np.int64)[2 * whole.offset : 2 * (whole.offset + len(whole))]
            return [np.ascontiguousarray(pairs[::2]), np.ascontiguousarray(pairs[1::2])]
        if pa.types.is_floating(dtype):
            return [float_words(numbers(array, "").astype(np.float64, copy=False))]
        return [whole_numbers(array)]

    def _paired(self, place: int, first: np.ndarray, second: np.ndarray, valid: np.ndarray) -> np.ndarray:
        return self._pairs.setdefault(place, PairNumbers()).numbers(first, second, valid)


def floats_of(words: np.ndarray) -> np.ndarray:
    """The doubles that words stand for."""
    return (words ^ ((words >> 63) & MAGNITUDE)).view(np.float64)


def moved(ring: np.ndarray, slots: int, moves: tuple[Any, ...]) -> np.ndarray:
    """A ring with so many slots, and what was in it where it is now."""
    ring = grown(ring, slots) if slots > len(ring) else ring
    row_rings.move_rings(*moves, ring, ring)
    return ring
