"""A window that only moves forward, held by one algorithm and fed batch by batch.

Rows have positions, counted from 0 in the order they are pushed. A batch brings rows and asks for
frames ``[lo, hi)`` of positions that have arrived; both bounds only ever move right (where the
algorithm allows several ranges, ``lo`` may go back and forth). Rows that no frame has reached yet wait
as they came.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from sash.algebra import Aggregate, Call
from sash.errors import Refused, SashError
from sash.kernels.algorithm import FOLD, Algorithm, Task, declared
from sash.kernels.answers import Answered, finished, unanswered
from sash.kernels.compiling import Kernel, Specialised, specialise
from sash.kernels.fifo.chunk_moments import room
from sash.kernels.fifo.state_arrays import (
    FIRST,
    HEAD,
    HELD,
    RINGS,
    TAIL,
    refuse_marks,
    refuse_shapes,
    refuse_unless,
    twice_a_power_of_two,
)
from sash.kernels.fifo.surveying import survey
from sash.kernels.inputs import Inputs, whole
from sash.kernels.sealing import making, opened, sealed

EMPTY, NOTHING = np.zeros(0, np.int64), np.zeros(0)
ONE_SIZE, FRAMES = "sba", "two_stacks"  # the algorithms of windows of one size, and of frames that are given


@dataclass(frozen=True, eq=False, kw_only=True)
class SlidingAlgorithm(Algorithm):
    """A fold over windows that only move forward.

    ``kernel`` is what a window is held by, unless there is another for windows of one size; ``between`` what windows of
    a stream are held by between pushes, many keys in one call.
    """

    kernel: Kernel
    of_size: Kernel | None = None
    between: Kernel | None = None

    def held_by(self, size: int | None) -> Kernel:
        """The kernel of windows of this size, or of frames that are given."""
        return self.kernel if size is None or self.of_size is None else self.of_size


class Sliding:
    """The state of one algorithm for one aggregate, over columns of given types.

    >>> from sash import functions as sf
    >>> window = Sliding(sf.max("load"), np.float64, size=2, using="two_stacks")
    >>> window.push(np.array([3.0, 1.0])).values
    array([3., 3.])
    >>> window.push(np.array([2.0])).values
    array([2.])
    """

    def __init__(
        self,
        aggregate: Aggregate | Call,
        *dtypes: Any,
        size: int | None = None,
        using: str | None = None,
        chunk: int | None = None,
        room: int = 16,
    ) -> None:
        """Hold a window of the last ``size`` rows, or, without a size, of frames given with each batch.

        ``using`` names the algorithm, by default sba for a window of one size, and two_stacks for frames that are
        given. ``chunk`` is the chunk size of pba, by default Theorem 1's for a window of one size; ``room`` the
        number of rows that there is room for at first, where no size says it.
        """
        using = using or (FRAMES if size is None else ONE_SIZE)
        algorithm = _named(using)
        self.kernel = algorithm.held_by(size)
        for argument, value in (("size", size), ("chunk", chunk)):
            if value is not None and (not isinstance(value, (int, np.integer)) or value < 1):
                raise SashError(f"{argument} must be a whole number of rows, at least 1, got {value!r}")
        if chunk is not None and self.kernel.drive is None:
            raise SashError(f"chunk is for pba, got {chunk} with {using}")
        self.inputs = Inputs(aggregate, dtypes)
        self.aggregate = self.inputs.aggregate
        if reason := refusal(algorithm, self.aggregate):
            raise Refused(reason)
        self.size = None if size is None else int(size)
        self.specialised = self._specialise(self.kernel)
        self.driver = self.kernel.drive(self._specialise, self.size, chunk) if self.kernel.drive else None
        self.rows = 0
        self.reached = 0  # the last hi
        self.waiting = tuple(
            np.zeros(0, dtype) for dtype in self.inputs.dtypes
        )  # columns of rows not in the window yet
        self.torn = False  # whether a push stopped half-way
        self.capacity = self.size or room
        self.arrays = self._allocate(self.capacity)
        if self.driver is not None:
            self.driver.prepare(self.arrays)

    def push(
        self,
        *columns: Any,
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
        base = self.rows
        if self.size is None:
            base = min(max(int(self.arrays["marks"][TAIL]), 0), self.rows)
            if base < self.rows and self.waiting:
                values = tuple(np.concatenate(pair) for pair in zip(self.waiting, values, strict=True))
        self._run({"values": self.inputs.lifted(values), "base": base, "rows": rows, "frames": frames,
                   "starts": starts, "at": 0, "scratch": self._scratch(rows), "out": tuple(out),
                   **self.arrays})  # fmt: skip
        self.rows += rows
        if self.size is None:
            self.reached = max(self.reached, int(frames[1][-1])) if len(frames[1]) else self.reached
            reached = min(int(self.arrays["marks"][TAIL]), self.rows) - base
            self.waiting = tuple(column[reached:].copy() for column in values)
        return finished(self.aggregate, out)

    def state(self) -> dict[str, np.ndarray]:
        """All that must be kept to go on later, as plain arrays."""
        if self.torn:
            raise SashError("a function of the aggregate raised in an earlier push; there is no state to keep")
        if self.driver is not None:
            self.driver.wait()
        return sealed(self.making, self._kept())

    def restore(self, state: dict[str, np.ndarray]) -> None:
        """Go on where a window of the same making was when its state was taken."""
        arrays = opened(self.making, state, tuple(self._kept()))
        self._refuse_unsound(arrays)
        if self.driver is not None:
            self.driver.forget()
        self.rows, self.capacity, self.reached = map(int, arrays["window"])
        self.waiting = tuple(arrays[f"waiting{k}"] for k in range(len(self.waiting)))
        self.arrays = {name: arrays[name] for name in self.arrays}
        self.torn = False

    def _refuse_unsound(self, kept: dict[str, np.ndarray]) -> None:
        """Refuse arrays that a kernel would leave."""
        refuse_shapes(kept, {"window": (np.dtype(np.int64), 3)})
        rows, capacity, reached = kept["window"].tolist()
        fits = capacity == self.size if self.size is not None else capacity > 0
        refuse_unless(fits and 0 <= reached <= rows, "as many rows as there are")
        types, lengths = self._types(), self._lengths(capacity)
        refuse_shapes(kept, {name: (types[name], length) for name, length in lengths.items()})
        arrays = {name: kept[name] for name in self.arrays}
        refuse_marks(arrays, capacity)
        tail = int(arrays["marks"][TAIL])
        waits = rows - min(tail, rows) if self.size is None else 0
        refuse_shapes(kept, {f"waiting{k}": (each.dtype, waits) for k, each in enumerate(self.waiting)})
        refuse_unless(self.size is None or tail == rows, "a window that ends with its last row")
        sound = self.kernel.sound is None or self.kernel.sound(arrays, self.size is not None)
        refuse_unless(sound, f"arrays as {self.kernel.name} leaves them")

    @cached_property
    def making(self) -> str:
        """What its state depends on beside the arrays."""
        return making(self.aggregate, self.kernel.name, self.size, [str(dtype) for dtype in self.inputs.dtypes])

    def _kept(self) -> dict[str, np.ndarray]:
        waiting = {f"waiting{k}": column for k, column in enumerate(self.waiting)}
        return {"window": np.array([self.rows, self.capacity, self.reached]), **waiting, **self.arrays}

    def _specialise(self, kernel: Kernel) -> Specialised:
        kind = "bounds" if self.size is None else "size"
        return specialise(kernel, self.aggregate, self.inputs.dtypes, kind)

    def _run(self, arguments: dict[str, Any]) -> None:
        """Call the kernel with those of the arguments that it takes."""
        wanted = {name: arguments.get(name) for name in self.specialised.parameters}
        self.torn = True
        if self.driver is not None:
            self.driver.run(self.specialised.run, wanted)
        else:
            self.specialised.run(*wanted.values())
        self.torn = False

    def _scratch(self, rows: int) -> np.ndarray:
        """What a push of so many rows needs beside the state."""
        return NOTHING if self.size is None else np.empty(room(self.aggregate, self.size, rows))

    def _out(self, out: Answered | None, answers: int) -> Answered:
        """Arrays for so many answers, new or those given."""
        if out is None:
            return unanswered(answers, self.specialised.answer)
        if self.aggregate.finish is not None:
            raise SashError(f"out cannot be given to {self.aggregate.name}, whose answers are made of others")
        for array, dtype in ((out.values, self.specialised.answer), (out.valid, np.dtype(np.bool_))):
            if array.shape != (answers,) or array.dtype != dtype or not array.flags.carray:
                raise SashError(
                    f"out must hold {answers} answers of {self.specialised.answer} in arrays that can be written, "
                    f"got {len(array)} of {array.dtype}"
                )
        out.valid[:] = True
        return out

    def _allocate(self, capacity: int) -> dict[str, np.ndarray]:
        """Empty arrays for the kernel's state, typed by what its parameters say they hold."""
        types = self._types()
        return {name: np.zeros(length, types[name]) for name, length in self._lengths(capacity).items()}

    def _lengths(self, capacity: int) -> dict[str, int]:
        """How long the arrays are that it keeps."""
        entries = capacity if self.driver is None else self.driver.entries(capacity)
        return {name: size(entries) for name, size in self.kernel.sizes.items()}

    def _types(self) -> dict[str, np.dtype]:
        """The types of the arrays that it keeps."""
        types = {"States": self.specialised.state, "Marks": np.dtype(np.int64), "Flags": np.dtype(np.uint8)}
        return {name: types[self.specialised.parameters[name]] for name in self.kernel.sizes}

    def _frames(self, lo: Any, hi: Any, keep: Any, rows: int) -> tuple[Any, np.ndarray]:
        """Check the frames, make room for the largest, and give them as the kernel takes them."""
        if self.size is not None:
            if lo is not None or hi is not None or keep is not None:
                raise SashError("a window of one size takes no lo, hi and keep")
            return (self.size,), EMPTY
        if keep is not None and not isinstance(keep, (int, np.integer)):
            raise SashError(f"keep must be the position of a row, got {keep!r}")
        lo, hi = whole("lo", EMPTY if lo is None else lo), whole("hi", EMPTY if hi is None else hi)
        if len(lo) != len(hi):
            raise SashError(f"lo and hi must be of one length, got {len(lo)} and {len(hi)}")
        if not len(lo):
            return (lo, hi), EMPTY
        end, starts = self.rows + rows, EMPTY
        head, tail = (int(self.arrays["marks"][mark]) for mark in (HEAD, TAIL))
        seen = survey(lo, hi, None if keep is None else int(keep))
        if seen.falls or hi[-1] > end or hi[0] < self.reached:
            raise SashError(
                f"hi must not fall, from the {self.reached} it had reached on, nor pass the {end} rows there are, "
                f"got {hi[0]} to {hi[-1]}"
            )
        if keep is not None or seen.goes_back:
            if not self.kernel.ranges:
                raise Refused(f"{self.kernel.name} needs starts that only move right; this lo goes back")
            lo, starts = seen.floor, lo
        if lo[0] < head:
            raise SashError(f"lo reaches back to row {lo[0]}, but rows before {head} have left the window")
        most = max(seen.widest, tail - head)
        if most > self.capacity:
            self._grow(max(most, 2 * self.capacity))
        return (lo, hi), starts

    def _grow(self, capacity: int) -> None:
        """Move to arrays with room for more rows: rings unrolled, trees built anew."""
        if self.driver is not None:
            self.driver.wait()
        old, new = self.arrays, self._allocate(capacity)
        marks = old["marks"]
        first, held = int(marks[FIRST]), int(marks[HELD])
        for name, size in self.kernel.sizes.items():
            if size is twice_a_power_of_two:
                assert self.kernel.grow is not None
                self._specialise(self.kernel.grow).run(old[name], new[name], marks)
            elif size in RINGS:
                new[name][:held] = np.roll(old[name], -first)[:held]
            else:
                new[name][:] = old[name]
        new["marks"][FIRST] = 0
        self.arrays, self.capacity = new, capacity


def slide(
    aggregate: Aggregate | Call,
    *columns: Any,
    size: int | None = None,
    lo: Any = None,
    hi: Any = None,
    rows: int | None = None,
    using: str | None = None,
) -> Answered:
    """Answer windows over whole columns at once.

    >>> from sash import functions as sf
    >>> slide(sf.sum("x"), np.array([1, 2, 4]), size=2).values
    array([1, 3, 6])
    """
    if size is None and (lo is None or hi is None):
        raise SashError("slide needs a size, or both lo and hi")
    window = Sliding(aggregate, *(np.asarray(column).dtype for column in columns), size=size, using=using)
    return window.push(*columns, lo=lo, hi=hi, rows=rows)


def refusal(algorithm: SlidingAlgorithm, aggregate: Aggregate) -> str | None:
    """Why an algorithm cannot compute an aggregate at all, in a sentence, or None."""
    reason = algorithm.refusal(Task(FOLD, aggregate=aggregate))
    return f"{algorithm.name} {reason}" if reason else None


def _named(name: str) -> SlidingAlgorithm:
    found = declared(FOLD).get(name)
    if not isinstance(found, SlidingAlgorithm):
        able = [each for each, algorithm in declared(FOLD).items() if isinstance(algorithm, SlidingAlgorithm)]
        raise SashError(f"using must be one of {', '.join(able)}, got {name!r}")
    return found
