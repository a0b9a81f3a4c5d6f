"""The keys of a stream, numbered as they first come."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sash.engine.encoding import equality_key
from sash.engine.streams.interned_values import InternedValues
from sash.engine.streams.restoring import refused, table_of
from sash.engine.tables import one_array
from sash.errors import SashError
from sash.kernels.sorting.numbering import numbered
from sash.kernels.sorting.strings import BYTES

BITS = 32  # of a number within a pair
SHORT = 1000  # rows for which calling kernels takes longer than hashing


class Numbering:
    """Values of one column, each with a number; NULL is a value, and NaN equals itself."""

    def __init__(self, dtype: pa.DataType) -> None:
        self.known = pa.array([], dtype)
        self._interned: InternedValues | None = None  # of many values, where a table for each push takes long

    def __len__(self) -> int:
        return len(self.known)

    @property
    def size(self) -> int:
        """About how many bytes it has."""
        return int(self.known.nbytes) + (0 if self._interned is None else self._interned.size)

    def numbers(self, array: pa.Array) -> np.ndarray:
        """The number of each value, new ones for those not seen before."""
        if not len(array):
            return np.zeros(0, np.int64)
        if self._interned is not None or (len(self.known) > SHORT and InternedValues.takes(self.known.type)):
            return self._numbers_of_interned(array)
        if len(array) <= SHORT:
            return self._numbers_of_few(array)
        codes, values = _distinct(array)
        if not len(self.known):
            self.known = values
            return codes
        numbers = pc.index_in(values, value_set=self.known).cast(pa.int64()).fill_null(-1).to_numpy()
        new = np.flatnonzero(numbers < 0)
        if len(new):
            numbers = numbers.copy()
            numbers[new] = len(self.known) + np.arange(len(new))
            self.known = pa.concat_arrays([self.known, values.take(pa.array(new))])
            if len(new) == len(numbers) == len(self.known):
                return codes
        return numbers[codes]

    def _numbers_of_interned(self, array: pa.Array) -> np.ndarray:
        """The same, by a table that is kept from push to push."""
        if self._interned is None:
            self._interned = InternedValues(self.known)
        numbers = self._interned.numbers(array)
        new = np.flatnonzero(numbers >= len(self.known))
        if len(new):
            _, firsts = np.unique(numbers[new], return_index=True)
            self.known = pa.concat_arrays([self.known, array.take(pa.array(new[firsts]))])
        return numbers

    def _numbers_of_few(self, array: pa.Array) -> np.ndarray:
        """The same for a few values, most of which are known: only the others are told apart."""
        found = pc.index_in(array, value_set=self.known)
        if not found.null_count:
            return found.to_numpy().astype(np.int64)
        numbers = found.fill_null(-1).to_numpy().astype(np.int64)
        new = np.flatnonzero(numbers < 0)
        codes, values = _distinct(array.take(pa.array(new)))
        numbers[new] = len(self.known) + codes
        self.known = pa.concat_arrays([self.known, values])
        return numbers


def _distinct(array: pa.Array) -> tuple[np.ndarray, pa.Array]:
    """The different values of an array in the order they first come, and which of them each row has."""
    if len(array) > SHORT:
        text = pa.types.is_string(array.type) or pa.types.is_large_string(array.type)
        short = text and (pc.max(pc.binary_length(array)).as_py() or 0) <= BYTES
        if short or pa.types.is_primitive(array.type):
            codes, firsts = numbered(equality_key(array))
            return codes, array.take(pa.array(firsts))
    coded = array.dictionary_encode(null_encoding="encode")
    return coded.indices.to_numpy(zero_copy_only=False).astype(np.int64), coded.dictionary


class Keys:
    """Combinations of the values of some columns, each with a number."""

    def __init__(self, dtypes: Sequence[pa.DataType]) -> None:
        self.dtypes = tuple(plain_type(dtype) for dtype in dtypes)
        self.columns = [Numbering(dtype) for dtype in self.dtypes]
        self.pairs = [Numbering(pa.int64()) for _ in self.dtypes[1:]]  # each of a number so far and the next column's

    def __len__(self) -> int:
        return len((self.pairs or self.columns)[-1]) if self.columns else 1

    @property
    def size(self) -> int:
        """About how many bytes it has."""
        return sum(each.size for each in (*self.columns, *self.pairs)) + 8 * len(self)

    def numbers(self, columns: Sequence[pa.Array]) -> np.ndarray | None:
        """The number of each row's key; None where there is no key."""
        if not self.columns:
            return None
        plain = [plain_array(array, dtype) for array, dtype in zip(columns, self.dtypes, strict=True)]
        numbers = self.columns[0].numbers(plain[0])
        for array, column, pairs in zip(plain[1:], self.columns[1:], self.pairs, strict=True):
            numbers = pairs.numbers(pa.array((numbers << BITS) | column.numbers(array)))
        return numbers

    def values(self, numbers: np.ndarray) -> list[pa.Array]:
        """The values of keys, an array for each column."""
        values = []
        for column, pairs in zip(reversed(self.columns[1:]), reversed(self.pairs), strict=True):
            pair = pairs.known.to_numpy()[numbers]
            values.append(column.known.take(pa.array(pair & ((1 << BITS) - 1))))
            numbers = pair >> BITS
        return [self.columns[0].known.take(pa.array(numbers)), *reversed(values)] if self.columns else []

    def all(self) -> list[pa.Array]:
        """The values of all keys, by number."""
        return self.values(np.arange(len(self)))

    @staticmethod
    def restored(dtypes: Sequence[pa.DataType], parts: Mapping[str, Any]) -> Keys:
        """Keys that were kept."""
        keys = Keys(dtypes)
        table = table_of(parts, "keys", pa.schema([(str(k), dtype) for k, dtype in enumerate(keys.dtypes)]))
        if keys.columns:
            keys.numbers([column.combine_chunks() for column in table.columns])
            if len(keys) != table.num_rows:
                raise refused("keys", "different values", "some twice")
        return keys

    @staticmethod
    def of(dtypes: Sequence[pa.DataType], values: Sequence[pa.Array]) -> Keys:
        """Keys with these values, numbered in this order."""
        keys = Keys(dtypes)
        if keys.columns:
            keys.numbers(values)
        return keys


def check_key(name: str, dtype: pa.DataType) -> None:
    """Refuse a type whose values cannot be told apart by hashing."""
    if pa.types.is_nested(dtype) or pa.types.is_interval(dtype) or pa.types.is_float16(dtype):
        raise SashError(f"key must be of numbers, strings, booleans, dates or times, got {name} of type {dtype}")


def plain_type(dtype: pa.DataType) -> pa.DataType:
    """The type that values are told apart in."""
    dtype = dtype.value_type if pa.types.is_dictionary(dtype) else dtype
    views = {pa.string_view(): pa.string(), pa.binary_view(): pa.binary()}
    return views.get(dtype, dtype)


def plain_array(array: pa.Array, dtype: pa.DataType) -> pa.Array:
    """Values of that type, of which equal ones are the same."""
    array = one_array(array)
    if array.type != dtype:
        array = array.cast(dtype)
    if pa.types.is_floating(dtype):  # -0.0 is 0.0, and every NaN the same
        values = pc.add(array, pa.scalar(0.0, dtype))
        array = pc.if_else(pc.is_nan(values), pa.scalar(float("nan"), dtype), values)
    return array
