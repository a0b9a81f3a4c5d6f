"""Functions that no partial can hold: ranks, quantiles, values by their own order, counts of distinct values.

They are answered from the frame as a whole. What each of them can do is this table of flags, from which
the checks, the errors and the support matrix in the docs follow.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sash.algebra.call import Call
from sash.errors import SashError


@dataclass(frozen=True)
class WindowFunction:
    """A function over a frame, with its constant parameters.

    Args:
        name: what it is called.
        family: which question answers it: ``"rank"``, ``"value"``, ``"shift"``, ``"quantile"``,
            ``"frequency"``, ``"distinct"`` or, for spans, ``"sweep"``.
        columns: how many columns it takes, at least and at most.
        ordered: whether it may have an order of its own.
        distinct: whether DISTINCT changes anything.
        nulls: whether it may be told to ignore NULLs.
        framed: whether the frame applies without an own order, too.
        parameters: constants of this call, such as the n of ntile.

    """

    name: str
    family: str
    columns: tuple[int, int] = (1, 1)
    ordered: bool = False
    distinct: bool = False
    nulls: bool = False
    framed: bool = True
    parameters: tuple[Any, ...] = ()

    def __call__(self, *columns: Any) -> Call:
        """The function of these columns."""
        least, most = self.columns
        if not least <= len(columns) <= most:
            takes = str(least) if least == most else f"{least} to {most}"
            raise SashError(f"{self.name} takes {takes} columns, got {len(columns)}: {columns!r}")
        return Call(self, columns)

    def __repr__(self) -> str:
        return f"<window function {self.name}>"


MANY = 1000

WINDOW_FUNCTIONS = {
    function.name: function
    for function in (
        *(
            WindowFunction(name, "rank", columns=(0, MANY), ordered=True, framed=False)
            for name in ("rank", "dense_rank", "row_number", "percent_rank", "cume_dist", "ntile")
        ),
        *(
            WindowFunction(name, "value", ordered=True, nulls=True)
            for name in ("first_value", "last_value", "nth_value")
        ),
        *(
            WindowFunction(name, "shift", columns=(1, 2), ordered=True, nulls=True, framed=False)
            for name in ("lead", "lag")
        ),
        *(
            WindowFunction(name, "quantile", columns=(1, 2), ordered=True, distinct=True)
            for name in ("percentile_disc", "percentile_cont", "percentile", "median")
        ),
        WindowFunction("mad", "quantile"),
        WindowFunction("mode", "frequency", ordered=True),
        WindowFunction("entropy", "frequency"),
        WindowFunction("count_distinct", "distinct", columns=(1, MANY)),
    )
}

OF_SPANS = {name: WindowFunction(name, "sweep", columns=(0, 0)) for name in ("max_concurrent", "covered")}


def window_function(name: str, *parameters: Any) -> WindowFunction:
    """The built-in window function of this name.

    >>> window_function("ntile", 4).parameters
    (4,)
    """
    from dataclasses import replace

    return replace((WINDOW_FUNCTIONS | OF_SPANS)[name], parameters=parameters)
