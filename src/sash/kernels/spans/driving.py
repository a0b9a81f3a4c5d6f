"""What drives every technique: events and windows checked, a kernel made for the aggregate, and run on its arrays.

A technique is a kernel, and what it works with: a function of the kernel made and of what is asked that gives the
arguments that the kernel takes beside. One that answers windows has more to work with where its lists run out of links.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from sash.kernels.algorithm import COVER, EVENTS, Algorithm, Need
from sash.kernels.compiling import Kernel, Specialised, specialise
from sash.kernels.inputs import Inputs, whole
from sash.kernels.needs import commutative
from sash.kernels.spans.event_lists import larger
from sash.kernels.spans.rings import Workload, refuse


class Work(NamedTuple):
    """What a kernel takes beside events and windows: before the partials of windows, and after them.

    Where there is a ``pool``, of the links and events of lists, the kernel takes the event to begin with and the pool
    before ``after``, and returns the first event that found no link; so many ``links`` are needed at least.
    """

    before: tuple[Any, ...] = ()
    after: tuple[Any, ...] = ()
    pool: list[np.ndarray] | None = None
    marks: np.ndarray | None = None
    links: int = 1


class Technique(NamedTuple):
    """A kernel, what its aggregate needs, and what it works with."""

    name: str
    kernel: Callable[[Any], Kernel]  # for an aggregate
    work: Callable[..., Any]
    needs: tuple[Need, ...]

    def specialised(self, inputs: Inputs) -> Specialised:
        """The kernel for an aggregate, which must have what is needed."""
        refuse(self.name, self.needs, inputs.aggregate)
        return specialise(self.kernel(inputs.aggregate), inputs.aggregate, inputs.dtypes)


def covers(
    kernel: Kernel,
    work: Callable[..., tuple[Any, ...]],
    name: str,
    words: str,
    cost: Callable[[Any], float],
    needs: tuple[Need, ...] = (),
    by_name: bool = True,
) -> Algorithm:
    """Declare a technique that folds events into cells; ``work(made, begin, end)`` is what its kernel takes beside.

    What runs folds each event into the cells from its ``begin`` to before its ``end``.

    >>> from sash.algebra.catalogue import builtin
    >>> from sash.kernels.spans.slicing import COVERING
    >>> states, held = np.zeros(4, np.int64), np.zeros(4, np.uint8)
    >>> COVERING.run(Inputs(builtin("count"), ()), (), np.array([0, 1]), np.array([2, 4]), states, held)
    >>> states
    array([1, 2, 1, 1])
    """
    technique = Technique(name, lambda aggregate: kernel, work, (commutative, *needs))
    return Algorithm(name, COVER, words, cost, partial(_cover, technique), technique.needs, by_name=by_name)


def answers_windows(
    kernel: Callable[[Any], Kernel], work: Callable[..., Work], name: str, words: str, needs: tuple[Need, ...] = ()
) -> Algorithm:
    """Declare a technique that takes events as they come; ``work(made, asked, inputs)`` is what its kernel works with.

    What runs gives the partial of each window of cells from ``lo`` to before ``hi``, and whether it has an event.
    Windows are sorted by ``hi``. An event overlaps the cells ``first`` to ``last``, both included, and no window
    that ends ``postpone`` cells or more before the greatest ``last`` so far.

    >>> from sash.algebra.catalogue import builtin
    >>> from sash.kernels.spans.slicing import ANSWERING
    >>> events = np.array([0, 1]), np.array([1, 3])
    >>> ANSWERING.run(Inputs(builtin("count"), ()), (), *events, np.array([0, 1]), np.array([2, 4]), postpone=2)[0]
    array([2, 2])
    """
    technique = Technique(name, kernel, work, (commutative, *needs))
    return Algorithm(name, EVENTS, words, lambda load: load.each, partial(_answer, technique), technique.needs)


def _cover(
    technique: Technique,
    inputs: Inputs,
    values: tuple[np.ndarray, ...],
    begin: np.ndarray,
    end: np.ndarray,
    states: np.ndarray,
    filled: np.ndarray,
    **settings: Any,
) -> None:
    specialised, begin, end = technique.specialised(inputs), whole("begin", begin), whole("end", end)
    specialised.run(
        inputs.lifted(values), begin, end, *technique.work(specialised, begin, end, **settings), states, filled
    )


def _answer(
    technique: Technique,
    inputs: Inputs,
    values: tuple[np.ndarray, ...],
    first: np.ndarray,
    last: np.ndarray,
    lo: np.ndarray,
    hi: np.ndarray,
    postpone: int = 0,
    **settings: Any,
) -> tuple[np.ndarray, np.ndarray]:
    specialised, workload = technique.specialised(inputs), Workload(first, last, lo, hi, postpone)
    states, filled = workload.states(specialised)
    work: Work = technique.work(specialised, workload, inputs, **settings)
    columns = inputs.lifted(values)
    bounds_and_states = (
        workload.first,
        workload.last,
        workload.lo,
        workload.hi,
        workload.postpone,
        *work.before,
        states,
        filled,
    )
    if work.pool is None:
        specialised.run(columns, *bounds_and_states, *work.after)
        return states, filled
    assert work.marks is not None
    pool, event = work.pool, 0
    while (event := specialised.run(columns, *bounds_and_states, event, *pool, *work.after, work.marks)) < len(
        workload.first
    ):
        pool = larger(pool, work.marks, work.links)
    return states, filled
