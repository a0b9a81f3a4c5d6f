"""Values of one column, each with a number in the order in which they first came; the table that knows them is kept."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from sash.engine.streams.value_parts import is_text, is_whole, text_bytes, whole_numbers
from sash.kernels.slices.interning import PairNumbers, TextNumbers


class InternedValues:
    """Numbers of values; NULL, which is a value, has the number of when it first came."""

    def __init__(self, values: pa.Array) -> None:
        """Know values, the first of which has the number 0."""
        self._texts, self._words = TextNumbers(), PairNumbers()
        self._null: int | None = None
        self.numbers(values)

    @staticmethod
    def takes(dtype: pa.DataType) -> bool:
        """Whether it is for values of a type."""
        return is_text(dtype) or is_whole(dtype)

    @property
    def count(self) -> int:
        """How many values there are."""
        return self._texts.count + self._words.count + (self._null is not None)

    @property
    def size(self) -> int:
        """How many bytes it has."""
        return self._texts.size + self._words.size

    def numbers(self, array: pa.Array) -> np.ndarray:
        """The number of each value, new ones for those not seen before."""
        if not array.null_count:
            return self._numbers(array, np.ones(len(array), np.bool_))
        valid = array.is_valid().to_numpy(zero_copy_only=False)
        if self._null is None:
            first = int(np.argmin(valid))
            before = self.numbers(array.slice(0, first))
            self._null = self.count
            return np.concatenate([before, self.numbers(array.slice(first))])
        return np.where(valid, self._numbers(array, valid), self._null)

    def _numbers(self, array: pa.Array, valid: np.ndarray) -> np.ndarray:
        if is_text(array.type):
            interned = self._texts.numbers(*text_bytes(array), valid)
        else:
            interned = self._words.numbers(whole_numbers(array), np.zeros(len(array), np.int64), valid)
        return interned if self._null is None else interned + (interned >= self._null)
