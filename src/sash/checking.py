"""``sash.check``: the laws of an aggregate, and its compiled form, tried on samples."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from sash.algebra import Aggregate
from sash.algebra.laws import Finding, Report, try_laws
from sash.errors import SashError
from sash.kernels.compiling.trial import trial

NUMBERS = "biuf"  # kinds of NumPy types that compiled functions take
MOST = 10_000  # samples that are looked at; of more, so many at equal distances


def check(aggregate: Aggregate, samples: Any, *, tolerance: float = 1e-9) -> Report:
    """Try what an aggregate promises on samples of its input, and show a counter-example.

    Tried are associativity, and whatever else is given or promised: the identity, the inverse,
    commutativity, selectivity; that states keep their shape; that no function raises; and that the
    aggregate compiles and then answers as it does in plain Python. The search is the same on every run.

    Args:
        aggregate: a ``sash.Aggregate``.
        samples: values of the column, as a sequence, a NumPy or an Arrow array; tuples of values for an
            aggregate of several columns. NULLs are left out, as they never reach ``lift``.
        tolerance: how far floats may be apart, relative to the largest magnitude of that field of the
            state among the partials involved, or to what a change of these partials by the tolerance
            makes of the result. NaN equals NaN; integers and booleans are compared exactly.

    Returns:
        A report that is true where no counter-example was found.

    >>> import math, sash
    >>> geomean = sash.Aggregate(
    ...     "geomean",
    ...     lift=lambda x: (math.log(x), 1),
    ...     combine=lambda a, b: (a[0] + b[0], a[1] + b[1]),
    ...     lower=lambda s: math.exp(s[0] / s[1]),
    ...     identity=(0.0, 0),
    ...     inverse=lambda s, old: (s[0] - old[0], s[1] - old[1]),
    ...     commutative=True,
    ... )
    >>> print(sash.check(geomean, [0.5, 1.0, 2.0, 8.0]))
    geomean: no counter-example found
    lift: gives (number, number) for each of 4 different samples
    combine: keeps that shape in 2000 trials
    associative: held in 2000 trials
    identity: held in 2000 trials
    inverse: held in 2000 trials
    commutative: held in 2000 trials
    selective: not promised
    lower: raised nothing in 2000 trials
    compiled: gives what plain Python gives

    >>> mean_of_means = sash.Aggregate("mean_of_means", lift=lambda x: x, combine=lambda a, b: (a + b) / 2)
    >>> report = sash.check(mean_of_means, [1.0, 2.0, 4.0])
    >>> bool(report)
    False
    >>> report.counterexamples["associative"]
    'combine(combine(a, b), c) = 1.5 but combine(a, combine(b, c)) = 1.25 for a = b = fold of [1.0], c = fold of [2.0]'

    """
    if not isinstance(aggregate, Aggregate):
        raise SashError(f"aggregate must be a sash.Aggregate, got {aggregate!r} of type {type(aggregate).__name__}")
    if isinstance(tolerance, bool) or not isinstance(tolerance, (int, float)) or not 0 <= tolerance < math.inf:
        raise SashError(f"tolerance must be a number, at least 0, got {tolerance!r}")
    definition, columns, rows = taken(aggregate, samples)
    report = try_laws(definition, rows, tolerance=tolerance)
    if not definition.compiled:
        return report
    wrong = trial(definition, columns, len(rows), tolerance)
    compiled = Finding("compiled", wrong or "gives what plain Python gives", broken=wrong is not None)
    return Report(report.name, (*report.findings, compiled))


def taken(aggregate: Aggregate, samples: Any) -> tuple[Aggregate, tuple[np.ndarray, ...], list[tuple[Any, ...]]]:
    """The definition of an aggregate for these samples; the samples as columns, and as rows of Python scalars."""
    values, dtype = _values(samples)
    inputs = aggregate.inputs
    rows = [value if isinstance(value, tuple) else (value,) for value in values] if inputs else [()] * len(values)
    takes = f"{inputs} value{'s' * (inputs != 1)} a row, as lift of {aggregate.name} takes"
    for row in rows:
        if len(row) != inputs:
            raise SashError(f"samples must have {takes}, got {row!r} with {len(row)}")
    rows = [row for row in rows if not any(value is None for value in row)]
    if not rows:
        raise SashError(f"samples must hold at least one row that is not NULL, got {samples!r}")
    sample = [rows[k] for k in np.linspace(0, len(rows) - 1, min(len(rows), MOST)).astype(int)]
    columns = tuple(_column(column, dtype) for column in zip(*sample, strict=True))
    definition = aggregate.of(tuple(column.dtype for column in columns))
    if definition.cast:
        columns = tuple(_cast(column, definition) for column in columns)
    if definition.compiled:
        for column in columns:
            _require_numbers(column)
    if columns and (definition.cast or definition.compiled):
        sample = list(zip(*(column.tolist() for column in columns), strict=True))
    return definition, columns, sample


def _values(samples: Any) -> tuple[list[Any], np.dtype | None]:
    """The samples as a list, and their type where they come with one."""
    if hasattr(samples, "to_pylist") and hasattr(samples, "to_numpy"):  # an Arrow array
        return samples.to_pylist(), samples.drop_null().to_numpy(zero_copy_only=False).dtype
    if hasattr(samples, "to_numpy"):
        samples = samples.to_numpy()
    if isinstance(samples, np.ndarray) and samples.ndim:
        values = samples.tolist()
        return [tuple(value) if samples.ndim > 1 else value for value in values], samples.dtype
    if isinstance(samples, (str, bytes, dict)) or not hasattr(samples, "__iter__"):
        raise SashError(f"samples must be a sequence or an array of values, got {samples!r}")
    return list(samples), None


def _column(values: tuple[Any, ...], dtype: np.dtype | None) -> np.ndarray:
    """The values as an array of numbers where they are numbers, else as one that may hold anything."""
    if dtype is not None and dtype.kind in NUMBERS:
        return np.array(values, dtype)
    try:
        column = np.array(values)
    except ValueError:  # sequences of different lengths
        column = np.empty(0, object)
    if column.shape != (len(values),):
        column = np.empty(len(values), object)
        for k, value in enumerate(values):
            column[k] = value
    return column


def _cast(column: np.ndarray, definition: Aggregate) -> np.ndarray:
    try:
        return column.astype(definition.cast)
    except (TypeError, ValueError):
        raise SashError(
            f"samples must convert to {definition.cast}, which {definition.name} computes with, got {column[0]!r}"
        ) from None


def _require_numbers(column: np.ndarray) -> None:
    if column.dtype.kind not in NUMBERS:
        value = column.tolist()[0]
        raise SashError(
            "samples of a compiled aggregate must be numbers of at most 64 bits, or booleans, "
            f"got {value!r} of type {type(value).__name__}; with compiled=False lift takes anything"
        )
