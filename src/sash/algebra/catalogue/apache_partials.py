"""The partials of Apache's sketches, and values as these sketches take them.

A partial holds a sketch that nobody changes once it is made; merging gives a new one. It is pickled as bytes, and
equal to another where both could be of the same rows, so that ``sash.check`` can try the laws.
"""

from __future__ import annotations

import copy
import math
from collections import Counter, deque
from collections.abc import Iterable
from decimal import Decimal
from itertools import takewhile
from typing import Any

import numpy as np

from sash.errors import SashError


class ApachePartial:
    """A sketch that is never changed: what the three kinds have in common."""

    __slots__ = ("sketch",)

    def __init__(self, sketch: Any) -> None:
        self.sketch = sketch

    def packed(self) -> bytes:
        """The partial as bytes."""
        raise NotImplementedError

    @classmethod
    def unpacked(cls, data: bytes) -> Any:
        """The partial that these bytes were made of."""
        raise NotImplementedError

    def alike(self, other: Any) -> bool:
        """Whether both can be of the same rows, as far as sketches can say."""
        raise NotImplementedError

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and self.alike(other)

    def __reduce__(self) -> Any:
        return type(self).unpacked, (self.packed(),)

    def __repr__(self) -> str:
        return f"<{type(self).__name__.lower()}, {len(self.packed())} bytes>"


class Quantiles(ApachePartial):
    """A KLL sketch of the numbers, and how many NaN there are, which the sketch leaves out."""

    __slots__ = ("nans",)

    def __init__(self, sketch: Any, nans: int) -> None:
        super().__init__(sketch)
        self.nans = nans

    @classmethod
    def of(cls, k: int, numbers: np.ndarray) -> Quantiles:
        """The sketch of an array of doubles."""
        from datasketches import kll_doubles_sketch

        sketch = kll_doubles_sketch(k)
        sketch.update(numbers)
        return cls(sketch, len(numbers) - sketch.n)

    @classmethod
    def of_one(cls, k: int, number: float) -> Quantiles:
        """The sketch of one number."""
        from datasketches import kll_doubles_sketch

        sketch = kll_doubles_sketch(k)
        sketch.update(number)
        return cls(sketch, 1 - sketch.n)

    def merged(self, other: Quantiles) -> Quantiles:
        """The sketch of both."""
        sketch = copy.copy(self.sketch)
        sketch.merge(other.sketch)
        return Quantiles(sketch, self.nans + other.nans)

    def at(self, share: float) -> float | None:
        """The first value at or below which a share of the rows lies; NaN is above every number."""
        known = self.sketch.n
        rows = known + self.nans
        if not rows:
            return None
        if not known or share * rows > known:
            return math.nan
        return float(self.sketch.get_quantile(share * rows / known if self.nans else share, True))

    def packed(self) -> bytes:
        """The number of NaN in eight bytes, and the sketch."""
        return self.nans.to_bytes(8, "little") + self.sketch.serialize()

    @classmethod
    def unpacked(cls, data: bytes) -> Quantiles:
        """The partial that these bytes were made of."""
        from datasketches import kll_doubles_sketch

        return cls(kll_doubles_sketch.deserialize(data[8:]), int.from_bytes(data[:8], "little"))

    def alike(self, other: Quantiles) -> bool:
        """Whether every value has the same rank in both, within twice the error of each."""
        a, b = self.sketch, other.sketch
        if (a.n, self.nans) != (b.n, other.nans):
            return False
        slack = sum(2 * each.normalized_rank_error(False) for each in (a, b) if each.is_estimation_mode())
        values = {value for sketch in (a, b) for value, _ in sketch}
        return all(abs(a.get_rank(value, True) - b.get_rank(value, True)) <= slack for value in values)


class Distinct(ApachePartial):
    """A HyperLogLog sketch of hashes."""

    __slots__ = ()

    @classmethod
    def of(cls, lg_k: int, values: Iterable[Any]) -> Distinct:
        """The sketch of values that are hashable."""
        from datasketches import hll_sketch

        sketch = hll_sketch(lg_k)
        deque(map(sketch.update, values), maxlen=0)  # the quickest loop there is: the sketch takes no arrays
        return cls(sketch)

    def merged(self, other: Distinct) -> Distinct:
        """The sketch of both."""
        from datasketches import hll_union, tgt_hll_type

        union = hll_union(self.sketch.lg_config_k)
        union.update(self.sketch)
        union.update(other.sketch)
        return Distinct(union.get_result(tgt_hll_type.HLL_8))

    def count(self) -> int:
        """About how many different values there are."""
        return round(self.sketch.get_estimate())

    def packed(self) -> bytes:
        """The sketch as bytes."""
        return self.sketch.serialize_compact()

    @classmethod
    def unpacked(cls, data: bytes) -> Distinct:
        """The partial that these bytes were made of."""
        from datasketches import hll_sketch

        return cls(hll_sketch.deserialize(data))

    def alike(self, other: Distinct) -> bool:
        """Whether nothing is in one and not in the other: then each counts as many as both do."""
        pairs = (self, self), (other, other), (self, other)
        counts = [a.merged(b).sketch.get_estimate() for a, b in pairs]
        return math.isclose(min(counts), max(counts))


class Frequent(ApachePartial):
    """A frequent items sketch of values written as text, so that it is the same in every process; and the rows.

    A sketch that let go of everything it counted takes itself for empty, and forgets how many rows there were.
    """

    __slots__ = ("rows",)

    def __init__(self, sketch: Any, rows: int) -> None:
        super().__init__(sketch)
        self.rows = rows

    @classmethod
    def of(cls, lg_k: int, counted: Iterable[tuple[Any, int]]) -> Frequent:
        """The sketch of values and how often each occurs."""
        from datasketches import frequent_strings_sketch

        sketch = frequent_strings_sketch(lg_k)
        for value, times in counted:
            sketch.update(written(value), times)
        return cls(sketch, sketch.total_weight)

    def merged(self, other: Frequent) -> Frequent:
        """The sketch of both."""
        sketch = copy.copy(self.sketch)
        sketch.merge(other.sketch)
        return Frequent(sketch, self.rows + other.rows)

    def most(self, n: int) -> dict[Any, int] | None:
        """The most frequent values, and about how often each occurs; of equally frequent ones the smaller first."""
        if not self.rows:
            return None
        frequent = self.known()
        least = frequent[min(n, len(frequent)) - 1][1] if frequent else 0
        best = [(read(text), count) for text, count, *_ in takewhile(lambda item: item[1] >= least, frequent)]
        best.sort(key=lambda item: (-item[1], type(item[0]).__name__, item[0] != item[0], item[0]))  # NaN is largest
        return dict(best[:n])

    def known(self) -> list[tuple[str, int, int, int]]:
        """What the sketch counts: each with an estimate and its bounds, the most frequent first."""
        from datasketches import frequent_items_error_type

        return self.sketch.get_frequent_items(frequent_items_error_type.NO_FALSE_NEGATIVES)

    def packed(self) -> bytes:
        """The number of rows in eight bytes, and the sketch."""
        return self.rows.to_bytes(8, "little") + self.sketch.serialize()

    @classmethod
    def unpacked(cls, data: bytes) -> Frequent:
        """The partial that these bytes were made of."""
        from datasketches import frequent_strings_sketch

        return cls(frequent_strings_sketch.deserialize(data[8:]), int.from_bytes(data[:8], "little"))

    def alike(self, other: Frequent) -> bool:
        """Whether every count is the same in both, within the error of each."""
        a, b = self.sketch, other.sketch
        slack, texts = (a.epsilon + b.epsilon) * self.rows, {text for text, *_ in self.known() + other.known()}
        apart = (abs(a.get_estimate(text) - b.get_estimate(text)) for text in texts)
        return self.rows == other.rows and all(each <= slack for each in apart)


# Values


def hashable(value: Any) -> int | float | str:
    """A value as the sketch hashes it: 64-bit integers and doubles as they are, others as text."""
    if type(value) is float:
        return value  # zeros are one value, and so are NaN, by the sketch itself
    if type(value) is int:
        return value if value < 1 << 63 else value - (1 << 64)  # the sketch would take it for a double
    return written(value)  # the sketch would leave out an empty text


def different(column: np.ndarray) -> Iterable[int | float | str]:
    """The different values of a column as the sketch hashes them."""
    values, _ = counted(column.view(np.int64) if column.dtype == np.uint64 else column)
    return values if column.dtype.kind in "iuf" else map(hashable, values)


def counted(column: np.ndarray) -> tuple[Iterable[Any], Iterable[int]]:
    """The different values of a column as Python has them, and how often each occurs."""
    if column.dtype == object:
        counts = Counter(column.tolist())
        return counts.keys(), counts.values()
    values, times = np.unique(column, return_counts=True)
    return values.tolist(), times.tolist()


def written(value: Any) -> str:
    """A value as text that tells its type as well.

    >>> [read(written(value)) for value in ("5", 5, -0.0, True, b"5", Decimal("5.0"))]
    ['5', 5, 0.0, True, b'5', Decimal('5.0')]
    """
    if isinstance(value, str):
        return "s" + value
    if isinstance(value, bool):
        return f"t{value:d}"
    if isinstance(value, int):
        return f"i{value}"
    if isinstance(value, float):
        return f"f{value + 0.0!r}"  # both zeros are one value
    if isinstance(value, bytes):
        return "b" + value.decode("latin-1")
    if isinstance(value, Decimal):
        return f"d{value}"
    raise SashError(f"a sketch takes numbers, booleans, texts and bytes, got {value!r} of type {type(value).__name__}")


def read(text: str) -> Any:
    """The value that was written."""
    return _READ[text[0]](text[1:])


_READ: dict[str, Any] = {
    "s": str,
    "t": lambda text: text == "1",
    "i": int,
    "f": float,
    "b": lambda text: text.encode("latin-1"),
    "d": Decimal,
}
