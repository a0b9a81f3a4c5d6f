"""Sketches: moment_sketch and the quantiles estimated from it, and bloom_filter.

A MomentSketch holds the smallest and largest value, counts, and sums of powers of the values and of the
logarithms of the positive ones. Like everywhere, NaN is above every number: it is the largest, it counts
as positive, and the sums become NaN.

A Bloom filter is of integers; strings and values of other types go in as codes or hashes.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from numbers import Real
from typing import Any

import numpy as np

from sash.algebra.aggregate import Aggregate
from sash.algebra.catalogue import max_entropy
from sash.algebra.catalogue.declaring import COL, CONSTANT, EACH, Function, Parameter, always, whole
from sash.algebra.catalogue.extremes import larger, smaller
from sash.algebra.tuples import replaced
from sash.errors import SashError

NOTHING = (0.0,) * max_entropy.ORDERS
BLANK = (math.nan, -math.inf, 0, NOTHING, 0, NOTHING)


def powers(x: Any) -> Any:
    """The first ten powers of a number."""
    x2 = x * x
    x3 = x2 * x
    x4 = x2 * x2
    x5 = x3 * x2
    return (x, x2, x3, x4, x5, x3 * x3, x4 * x3, x4 * x4, x5 * x4, x5 * x5)


def add_ten(a: Any, b: Any) -> Any:
    """The sums of two times ten numbers."""
    return (
        a[0] + b[0],
        a[1] + b[1],
        a[2] + b[2],
        a[3] + b[3],
        a[4] + b[4],
        a[5] + b[5],
        a[6] + b[6],
        a[7] + b[7],
        a[8] + b[8],
        a[9] + b[9],
    )


def lift_moments(x: Any) -> Any:
    """The sketch of one value."""
    if x <= 0:
        return (x, x, 1, powers(x), 0, NOTHING)
    return (x, x, 1, powers(x), 1, powers(math.log(x)))


def merge_moments(a: Any, b: Any) -> Any:
    """Merge two sketches."""
    return (
        smaller(a[0], b[0]),
        larger(a[1], b[1]),
        a[2] + b[2],
        add_ten(a[3], b[3]),
        a[4] + b[4],
        add_ten(a[5], b[5]),
    )


def records(answers: Any) -> Any:
    """Sketches as an Arrow array of structs."""
    import pyarrow as pa

    def lists(columns: list[Any]) -> Any:
        offsets = np.arange(0, len(columns) * len(answers) + 1, len(columns))
        return pa.ListArray.from_arrays(pa.array(offsets, pa.int32()), np.stack(columns, axis=1).ravel())

    columns, ten = _columns(answers, BLANK), max_entropy.ORDERS
    fields = {
        "min": pa.array(columns[0]),
        "max": pa.array(columns[1]),
        "count": pa.array(columns[2].astype(np.int64)),
        "power_sums": lists(columns[3 : 3 + ten]),
        "positive": pa.array(columns[3 + ten].astype(np.int64)),
        "log_sums": lists(columns[4 + ten :]),
    }
    return pa.StructArray.from_arrays(list(fields.values()), names=list(fields))


MOMENT_SKETCH = Aggregate(
    "moment_sketch",
    lift=lift_moments,
    combine=merge_moments,
    identity=BLANK,
    commutative=True,
    cast="float64",
    finish=records,
)


def moment_quantile(p: Any) -> Aggregate:
    """The value below which a share p of the rows lies, estimated from a moment sketch.

    The estimate suits smooth distributions: for 1,000 values the mean error of its rank is under 0.01. It
    is coarse where values repeat, or where they are far from 0 in comparison to their spread.

    >>> from sash.kernels.fifo import slide
    >>> slide(moment_quantile(0.5), np.arange(1001.0), size=1001).values[-1].round()
    np.float64(500.0)
    """
    share = float(p) if isinstance(p, Real) and not isinstance(p, bool) else math.nan
    if not 0 <= share <= 1:
        raise SashError(f"p must be a number between 0 and 1, got {p!r}")

    def estimates(answers: Any) -> Any:
        return max_entropy.quantiles(np.stack(_columns(answers, BLANK), axis=1).astype(np.float64), share)

    return MOMENT_SKETCH.but(name="moment_quantile", finish=estimates)


LOW = (1 << 32) - 1
LARGEST = (1 << 63) - 1
MOST_BITS = 4096
MOST_HASHES = 8


def signed(x: Any) -> Any:
    """The integer modulo 2^64 as a signed one: what compiled arithmetic does by itself.

    >>> signed(1 << 63) == -(1 << 63)
    True
    """
    half = ((x >> 63) & 1) << 62  # compiled, 2^63 itself would be unsigned, and mixed with others a double
    return (x & LARGEST) - half - half


GOLDEN = signed(0x9E3779B97F4A7C15)
FIRST = signed(0xBF58476D1CE4E5B9)
SECOND = signed(0x94D049BB133111EB)


def mixed(x: Any) -> Any:
    """The hash of a 64-bit integer: the finaliser of SplitMix64 (Steele et al., 2014)."""
    x = signed(int(x) + GOLDEN)
    x = signed((x ^ ((x >> 30) & (LARGEST >> 29))) * FIRST)
    x = signed((x ^ ((x >> 27) & (LARGEST >> 26))) * SECOND)
    return x ^ ((x >> 31) & (LARGEST >> 30))


def start_and_stride(x: Any) -> Any:
    """Two hashes of an integer, which make all others (Kirsch and Mitzenmacher, 2006); the second is odd."""
    both = mixed(x)
    return both & LOW, (both >> 32) & LOW | 1


def bloom_filter(bits: Any = 512, hashes: Any = 4) -> Aggregate:
    """A filter that knows every integer of the window, and takes few others for one: see ``might_contain``.

    >>> from sash.kernels.fifo import slide
    >>> filters = slide(bloom_filter(), np.array([3, 5, 8]), size=2).values
    >>> might_contain(filters[2].as_py(), 5), might_contain(filters[2].as_py(), 3)
    (True, False)
    """
    bits, hashes = _bits("bits", bits), whole("hashes", hashes, most=MOST_HASHES)
    blank = (0,) * (bits // 64)

    def lift(x: Any) -> Any:
        start, stride = start_and_stride(x)
        words = blank
        for i in range(hashes):
            bit = (start + i * stride) % bits
            words = replaced(words, bit >> 6, words[bit >> 6] | signed(1 << (bit & 63)))
        return words

    return Aggregate(
        "bloom_filter",
        lift=lift,
        combine=_either(len(blank)),
        identity=blank,
        commutative=True,
        exact=True,
        cast="int64",
        finish=lambda answers: _binary(_columns(answers, blank)),
    )


def might_contain(filter_bytes: bytes | bytearray | memoryview, value: int, hashes: int = 4) -> bool:
    """Whether an integer may be among those of a filter made with as many hashes: False is certain.

    >>> might_contain(bytes(64), 7)
    False
    """
    if not isinstance(filter_bytes, (bytes, bytearray, memoryview)):
        raise SashError(f"filter_bytes must be the bytes of a bloom_filter, got {filter_bytes!r}")
    data = bytes(filter_bytes)
    bits = _bits("the bits of filter_bytes", 8 * len(data))
    hashes = whole("hashes", hashes, most=MOST_HASHES)
    try:
        start, stride = start_and_stride(signed(operator.index(value)))
    except TypeError:
        raise SashError(f"value must be an integer, got {value!r} of type {type(value).__name__}") from None
    places = [(start + i * stride) % bits for i in range(hashes)]
    return all(data[bit >> 3] >> (bit & 7) & 1 for bit in places)


def _bits(name: str, value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value % 64 or not 64 <= value <= MOST_BITS:
        raise SashError(f"{name} must be a multiple of 64, at least 64 and at most {MOST_BITS}, got {value!r}")
    return value


def _either(words: int) -> Callable[[Any, Any], Any]:
    """The union of two filters, written out: for 64 words a compiled loop takes thirty times as long."""
    return eval(f"lambda a, b: ({' '.join(f'a[{i}] | b[{i}],' for i in range(words))})")


def _binary(words: list[Any]) -> Any:
    """Filters as an Arrow array of bytes, the first bit the lowest of the first byte."""
    import pyarrow as pa

    rows, width = len(words[0]), 8 * len(words)
    if rows * width >= 1 << 31:
        raise SashError(f"bits must be such that all filters fit 2 GiB, got {8 * width} for {rows} frames")
    data, offsets = np.stack(words, axis=1).astype("<i8"), np.arange(rows + 1, dtype=np.int32) * np.int32(width)
    return pa.Array.from_buffers(pa.binary(), rows, [None, pa.py_buffer(offsets), pa.py_buffer(data)])


def _columns(answers: Any, blank: Any) -> list[Any]:
    """The numbers of all answers, an array for each number of a partial; anything where an answer is NULL."""
    if answers.dtype != object:
        return [answers[name] for name in answers.dtype.names]
    rows = [_flat(blank if answer is None else answer) for answer in answers]
    return [np.array(column)[:-1] for column in zip(*rows, _flat(blank), strict=True)]


def _flat(state: Any) -> list[Any]:
    return [number for part in state for number in _flat(part)] if isinstance(state, tuple) else [state]


FUNCTIONS = (
    Function(
        "moment_sketch",
        always(MOMENT_SKETCH),
        EACH,
        "Extremes, counts and sums of powers of the values and their logarithms, as a struct.",
        ("moment_sketch(price)",),
        "Sketches",
    ),
    Function(
        "moment_quantile",
        moment_quantile,
        (COL, Parameter("p", CONSTANT, type="float", example=0.25)),
        "An estimate of the ``p``-quantile, from a moment sketch.",
        ("moment_quantile(price, 0.5)",),
        "Sketches",
    ),
    Function(
        "bloom_filter",
        bloom_filter,
        (COL, Parameter("bits", CONSTANT, 512, "int"), Parameter("hashes", CONSTANT, 4, "int")),
        "A Bloom filter of the values, as bytes.",
        ("bloom_filter(qty, 64)",),
        "Sketches",
    ),
)
