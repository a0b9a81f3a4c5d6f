"""A window that only moves forward, held by one algorithm and fed batch by batch.

Rows have positions, counted from 0 in the order they are pushed. A batch brings rows and asks for
frames ``[lo, hi)`` of positions that have arrived; both bounds only ever move right (where the
algorithm allows several ranges, ``lo`` may go back and forth).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from sash.algebra import Aggregate
from sash.errors import Refused, SashError
from sash.kernels.compiling import Kernel, Specialised, interpreted, specialise
from sash.kernels.fifo.layout import FIRST, HEAD, HELD, TAIL
from sash.kernels.fifo.surveying import survey
from sash.kernels.inputs import Inputs

EMPTY = np.zeros(0, np.int64)


class Answered(NamedTuple):
    """Answers of a batch of frames, and whether each is not NULL."""

    values: np.ndarray
    valid: np.ndarray


class Sliding:
    """The state of one algorithm for one aggregate, over columns of given types.

    >>> from sash import functions as sf
    >>> window = Sliding(sf.max("load").aggregate, np.float64, size=2, using="two_stacks")
    >>> window.push(np.array([3.0, 1.0])).values
    array([3., 3.])
    >>> window.push(np.array([2.0])).values
    array([2.])
    """

    def __init__(
        self, aggregate: Aggregate, *dtypes: Any, size: int | None = None, using: str = "sba", chunk: int | None = None
    ) -> None:
        """Hold a window of the last ``size`` rows, or, without a size, of frames given with each batch.

        ``chunk`` is the chunk size of pba, by default Theorem 1's for a window of one size.
        """
        self.kernel = _kernel(using)
        if size is not None and (not isinstance(size, (int, np.integer)) or size < 1):
            raise SashError(f"size must be a whole number of rows, at least 1, got {size!r}")
        self.inputs = Inputs(aggregate, dtypes)
        self.aggregate = self.inputs.aggregate
        if reason := refusal(self.kernel, self.aggregate):
            raise Refused(reason)
        self.size = size
        self.rows = 0
        self.torn = False  # whether a push stopped half-way
        self.made = self._specialise(self.kernel)
        self.driver = self.kernel.drive(self._specialise) if self.kernel.drive else None
        self.capacity = size or 16
        self.arrays = self._allocate(self.capacity)
        if self.driver is not None:
            self.driver.prepare(self.arrays, size, chunk)

    def push(
        self,
        *columns: np.ndarray,
        lo: Any = None,
        hi: Any = None,
        keep: int | None = None,
        rows: int | None = None,
        out: Answered | None = None,
    ) -> Answered:
        """Add the rows of a batch and answer its frames.

        With a size there is an answer for each row; otherwise one for each ``[lo, hi)``. Rows before the
        last ``lo`` are let go, or, for several ranges, before ``keep``. ``rows`` is the number of rows
        where the aggregate takes no column. ``out`` is written to: what an earlier push of as many
        answers gave, so that no new memory is needed.
        """
        if self.torn:
            raise SashError("a function of the aggregate raised in an earlier push; restore the window from a state")
        values, rows = self.inputs.columns("push", columns, rows)
        frames, starts = self._frames(lo, hi, keep, rows)
        out = self._out(out, rows if self.size is not None else len(frames[1]))
        arguments = {"values": values, "base": self.rows, "rows": rows, "frames": frames, "at": 0}
        arguments |= {"starts": starts, "out": tuple(out), **self.arrays}
        wanted = {name: arguments[name] for name in self.made.parameters}
        self.torn = True
        if self.driver is not None:
            self.driver.run(self.made.run, wanted)
        else:
            self.made.run(*wanted.values())
        self.torn = False
        self.rows += rows
        return out

    def state(self) -> dict[str, np.ndarray]:
        """All that must be kept to go on later, as plain arrays."""
        if self.torn:
            raise SashError("a function of the aggregate raised in an earlier push; there is no state to keep")
        if self.driver is not None:
            self.driver.settle()
        return {"window": np.array([self.rows, self.capacity])} | {n: a.copy() for n, a in self.arrays.items()}

    def restore(self, state: dict[str, np.ndarray]) -> None:
        """Go on where a window of the same making was when its state was taken."""
        if set(state) != {"window", *self.arrays}:
            raise SashError(f"state must be of a window of {self.kernel.name}, got the arrays {', '.join(state)}")
        rows, capacity = map(int, state["window"])
        for name, array in self.arrays.items():
            length = self.kernel.sizes[name](capacity)
            if state[name].dtype != array.dtype or len(state[name]) != length:
                raise SashError(
                    f"state must hold {length} entries of {array.dtype} as {name}, "
                    f"got {len(state[name])} of {state[name].dtype}"
                )
        if self.size is not None and capacity != self.size:
            raise SashError(f"state must be of a window of {self.size} rows, got one of {capacity}")
        if self.driver is not None:
            self.driver.settle()
        self.rows, self.capacity, self.torn = rows, capacity, False
        self.arrays = {name: state[name].copy() for name in self.arrays}

    def _specialise(self, kernel: Kernel) -> Specialised:
        kind = "bounds" if self.size is None else "size"
        return specialise(kernel, self.aggregate, self.inputs.dtypes, kind)

    def _out(self, out: Answered | None, answers: int) -> Answered:
        """Arrays for so many answers, new or those given."""
        if out is None:
            return Answered(np.empty(answers, self.made.answer), np.ones(answers, np.bool_))
        for array, dtype in ((out.values, self.made.answer), (out.valid, np.dtype(np.bool_))):
            if array.shape != (answers,) or array.dtype != dtype or not array.flags.carray:
                raise SashError(
                    f"out must hold {answers} answers of {self.made.answer} in arrays that can be written, "
                    f"got {len(array)} of {array.dtype}"
                )
        out.valid[:] = True
        return out

    def _allocate(self, capacity: int) -> dict[str, np.ndarray]:
        """Empty arrays for the kernel's state, typed by what its parameters say they hold."""
        types = {"States": self.made.state, "Marks": np.dtype(np.int64), "Flags": np.dtype(np.uint8)}
        kinds = self.made.parameters
        return {name: np.zeros(size(capacity), types[kinds[name]]) for name, size in self.kernel.sizes.items()}

    def _frames(self, lo: Any, hi: Any, keep: int | None, rows: int) -> tuple[Any, np.ndarray]:
        """Check the frames, make room for the largest, and give them as the kernel takes them."""
        if self.size is not None:
            if lo is not None or hi is not None or keep is not None:
                raise SashError("a window of one size takes no lo, hi and keep")
            return (self.size,), EMPTY
        lo, hi = (np.ascontiguousarray(EMPTY if bound is None else bound, np.int64) for bound in (lo, hi))
        end = self.rows + rows
        head, tail = (int(self.arrays["marks"][mark]) for mark in (HEAD, TAIL))
        if len(lo) != len(hi):
            raise SashError(f"lo and hi must be of one length, got {len(lo)} and {len(hi)}")
        starts, widest = EMPTY, 0
        if len(lo):
            seen = survey(lo, hi, keep)
            if seen.falls or hi[-1] > end:
                raise SashError(f"hi must not fall, nor pass the {end} rows there are")
            if keep is not None or seen.goes_back:
                if not self.kernel.ranges:
                    raise Refused(f"{self.kernel.name} needs starts that only move right; this lo goes back")
                lo, starts = seen.floor, lo
            if lo[0] < head:
                raise SashError(f"lo reaches back to row {lo[0]}, but rows before {head} have left the window")
            widest = seen.widest
        last = max(int(lo[-1]), head) if len(lo) else head
        most = max(end - last, widest, tail - head)
        if most > self.capacity:
            self._grow(max(most, 2 * self.capacity))
        return (lo, hi), starts

    def _grow(self, capacity: int) -> None:
        """Move to arrays with room for more rows: rings unrolled, trees built anew."""
        if self.driver is not None:
            self.driver.settle()
        old, new = self.arrays, self._allocate(capacity)
        marks = old["marks"]
        first, held = int(marks[FIRST]), int(marks[HELD])
        for name, size in self.kernel.sizes.items():
            if self.kernel.grow is not None and size(capacity) >= capacity:
                self._specialise(self.kernel.grow).run(old[name], new[name], marks)
            elif size(capacity) >= capacity:
                new[name][:held] = np.roll(old[name], -first)[:held]
            else:
                new[name][:] = old[name]
        new["marks"][:] = marks
        new["marks"][FIRST] = 0
        self.arrays, self.capacity = new, capacity


def slide(
    aggregate: Aggregate,
    *columns: np.ndarray,
    size: int | None = None,
    lo: Any = None,
    hi: Any = None,
    rows: int | None = None,
    using: str = "sba",
) -> Answered:
    """Answer windows over whole columns at once.

    >>> from sash import functions as sf
    >>> slide(sf.sum("x").aggregate, np.array([1.0, 2.0, 4.0]), size=2).values
    array([1., 3., 6.])
    """
    window = Sliding(aggregate, *(np.asarray(column).dtype for column in columns), size=size, using=using)
    answered = window.push(*columns, lo=lo, hi=hi, rows=rows)
    if window.aggregate.finish is None or window.aggregate.returns == "rows":
        return answered
    values = answered.values if window.aggregate.compiled else interpreted.records(*answered)
    return Answered(window.aggregate.finish(values), answered.valid)


def refusal(kernel: Kernel, aggregate: Aggregate) -> str | None:
    """Why an algorithm cannot compute an aggregate at all, in a sentence, or None."""
    if "invertible" in kernel.needs and not aggregate.invertible:
        return f"{kernel.name} needs an invertible aggregate; {aggregate.name} has no inverse"
    if "selective" in kernel.needs and not aggregate.selective:
        return f"{kernel.name} needs a selective aggregate; {aggregate.name} keeps more than one of its inputs"
    return None


def eligible(kernel: Kernel, aggregate: Aggregate, *dtypes: Any) -> bool:
    """Whether the planner may choose an algorithm: one that is not exact is only taken by name."""
    inputs = Inputs(aggregate, dtypes)
    if refusal(kernel, inputs.aggregate):
        return False
    return "exact" not in kernel.needs or not _floating(specialise(kernel, inputs.aggregate, inputs.dtypes).state)


def _floating(state: np.dtype) -> bool:
    fields = [state] if state.names is None else [state[name] for name in state.names]
    return any(field.kind not in "iub" for field in fields)


def _kernel(name: str) -> Kernel:
    from sash.kernels.fifo import ALGORITHMS

    if name not in ALGORITHMS:
        raise SashError(f"using must be one of {', '.join(ALGORITHMS)}, got {name!r}")
    return ALGORITHMS[name]
