"""The built-in functions: each an ``Aggregate`` like a user's own, or a ``WindowFunction``, declared where it is made.

``FUNCTIONS`` has them by name; ``sash.functions``, SQL and the docs are made of it.
"""

from __future__ import annotations

from typing import Any

from sash.algebra.catalogue import (
    apache_sketches,
    bits,
    bucketed,
    extremes,
    holistic,
    moments,
    ordered,
    over_time,
    pairs,
    positions,
    ranks,
    sessions,
    sketches,
    spans,
    sums,
    values,
)
from sash.algebra.catalogue.declaring import CONSTANTS, Function, by_name
from sash.errors import SashError

_MODULES = (sums, extremes, bits, moments, pairs, over_time, positions, ordered, sketches, apache_sketches, ranks,
            values, holistic, sessions, spans, bucketed)  # fmt: skip

FUNCTIONS: dict[str, Function] = by_name(function for module in _MODULES for function in module.FUNCTIONS)


def builtin(name: str, *constants: object) -> Any:
    """The built-in aggregate or window function of this name, for these constants.

    >>> builtin("top_k", 3)
    <aggregate top_k>
    >>> builtin("ntile", 4).parameters
    (4,)
    """
    if name not in FUNCTIONS:
        raise SashError(f"name must be a built-in function, got {name!r}; there are {', '.join(sorted(FUNCTIONS))}")
    declared = FUNCTIONS[name]
    computed = declared.make(*constants)
    object.__setattr__(computed, "origin", (declared.base or name, *constants))
    object.__setattr__(computed, "maker", builtin)
    return computed


for _name, _function in FUNCTIONS.items():
    if not any(_function.takes(each) for each in CONSTANTS):
        builtin(_name)  # one object for all calls, which others of the catalogue refer to
