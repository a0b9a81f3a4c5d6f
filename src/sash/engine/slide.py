"""Windows over whole columns, of Arrow or NumPy, for any aggregate: what ``slide`` of the engine answers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from sash.algebra import Aggregate, Call
from sash.engine.placing import gathered
from sash.kernels.answers import Answered
from sash.kernels.fifo import slide as slide_values


def slide(aggregate: Aggregate | Call, *columns: Any, **frames: Any) -> Answered:
    """Answer windows over the columns of a call, in its order: ``size=``, or ``lo=`` and ``hi=``; ``using=``.

    The column that an aggregate such as ``max_by`` or ``collect_list`` takes its answer from may be of
    any type; the answer is then an Arrow array.

    >>> from sash import functions as sf
    >>> slide(sf.max_by("who", "price"), ["ann", "bob", "cleo"], [3, 9, 4], size=2).values.to_pylist()
    ['ann', 'bob', 'bob']
    """
    definition = aggregate.aggregate if isinstance(aggregate, Call) else aggregate
    extra = len(columns) - definition.inputs if isinstance(definition, Aggregate) else 0
    if extra != 1 or (definition.returns == "value" and definition.inputs):
        return slide_values(definition, *columns, **frames)
    first, rest = columns[0], columns[1:]
    answered = slide_values(definition, *rest, rows=len(first), **frames)
    if definition.returns == "value":  # a count of the column's rows
        return answered
    source = first if isinstance(first, (pa.Array, pa.ChunkedArray)) else pa.array(first)
    values = gathered(definition, source, np.asarray(answered.values), answered.valid)
    return Answered(values, ~np.asarray(values.is_null()))
