"""Multi-level slicing: a cell has levels, of which the k-th stands for the k cells that end with it.

An event is folded into the highest level that it fills, then that many cells before, and so on; so a window must
read all levels that reach into it, also those of later cells. When a batch is all in, levels can be pushed down
instead: level k of a cell is the cell itself and level k - 1 of the cell before.

order   any
needs   associative, commutative
time    n / d combines for an event of n cells and a height of d; d (w + (d - 1) / 2) for a window of w cells, or
        twice as many where duplicates do harm; 2 (d - 1) for a cell that is pushed down
space   d partials, or 2 d, for each cell of the widest window and of ``postpone``
paper   spanning-event-slicing-2021, 4 and 5.2.2
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from sash.errors import SashError
from sash.kernels.algorithm import COVER, Algorithm
from sash.kernels.compiling import Flags, Marks, Specialised, States, Values, kernel
from sash.kernels.inputs import Inputs
from sash.kernels.spans.driving import Work, answers_windows, covers
from sash.kernels.spans.load import Load
from sash.kernels.spans.rings import CLOCK, Workload, adding, at_least, clear, places, touched


def lowest(cell: int, hi: int) -> int:
    """The lowest level of a cell that reaches into a window that ends before ``hi``."""
    return max(cell - hi + 2, 1)


@kernel
def multilevel_slicing_cover(agg: Any) -> Any:
    """Fold events into levels, the first of which is that of the cell ``base``, and push these down into cells."""
    lift, load, add = agg.lift, agg.load, adding(agg)

    def cover(
        values: Values,
        begin: Marks,
        end: Marks,
        base: int,
        height: int,
        levels: States,
        levels_filled: Flags,
        states: States,
        filled: Flags,
    ) -> int:
        for i in range(len(begin)):
            partial = lift(values, i, i)
            left, place = end[i] - begin[i], (end[i] - 1 - base) * height - 1
            while left > 0:
                add(levels, levels_filled, place + min(left, height), partial)
                left -= height
                place -= height * height
        for cell in range(len(levels) // height - 1, -1, -1):
            for level in range(height - 1, -1, -1):
                place = cell * height + level
                if levels_filled[place] != 0:
                    partial = load(levels, place)
                    add(states, filled, base + cell, partial)
                    if level > 0:
                        add(levels, levels_filled, place - height - 1, partial)
        return 0

    return cover


@kernel
def multilevel_slicing(agg: Any) -> Any:
    """Answer windows; ``both`` says whether a level has two partials, of events that end in its cell and that go on."""
    lift, load, add = agg.lift, agg.load, adding(agg)

    @agg.function
    def release(lo, hi, clock, height, both, ends, ends_filled, on, on_filled, states, filled, w):  # type: ignore[no-untyped-def]
        cells = len(ends_filled) // height
        for cell in range(lo, min(hi + height - 1, clock + 1)):
            place = cell % cells * height
            for k in range(place + lowest(cell, hi) - 1, place + height):
                if ends_filled[k] != 0:
                    add(states, filled, w, load(ends, k))
                if both != 0 and cell >= hi - 1 and on_filled[k] != 0:
                    add(states, filled, w, load(on, k))

    def answer(
        values: Values,
        first: Marks,
        last: Marks,
        lo: Marks,
        hi: Marks,
        postpone: int,
        height: int,
        both: int,
        states: States,
        filled: Flags,
        ends: States,
        ends_filled: Flags,
        on: States,
        on_filled: Flags,
        marks: Marks,
    ) -> int:
        cells, clock, done = len(ends_filled) // height, marks[CLOCK], 0
        for i in range(len(first)):
            if last[i] > clock:
                while done < len(lo) and hi[done] + postpone <= last[i]:
                    release(
                        lo[done], hi[done], clock, height, both, ends, ends_filled, on, on_filled, states, filled, done
                    )
                    done += 1
                clear(ends_filled, clock + 1, last[i] + 1, height)
                clear(on_filled, clock + 1, last[i] + 1, height)
                clock = last[i]
            partial, cell = lift(values, i, i), last[i]
            oldest = max(first[i], clock - cells + 1)
            while cell >= oldest:
                place = cell % cells * height + min(cell - first[i] + 1, height) - 1
                if both != 0 and cell < last[i]:
                    add(on, on_filled, place, partial)
                else:
                    add(ends, ends_filled, place, partial)
                cell -= height
        for w in range(done, len(lo)):
            release(lo[w], hi[w], clock, height, both, ends, ends_filled, on, on_filled, states, filled, w)
        marks[CLOCK] = clock
        return 0

    return answer


USUAL = 4  # levels, where the kernels are called without any


def _cover_work(specialised: Specialised, begin: np.ndarray, end: np.ndarray, height: int = USUAL) -> tuple[Any, ...]:
    height, (base, cells) = at_least("height", height, 1), touched(begin, end)
    levels, filled = np.empty(cells * height, specialised.state), np.zeros(cells * height, np.uint8)
    return base, height, levels, filled


def _work(specialised: Specialised, workload: Workload, inputs: Inputs, height: int = USUAL) -> Work:
    height, both = at_least("height", height, 1), int(inputs.aggregate.cumulative)
    count = workload.cells * height
    return Work((height, both), (*places(specialised, count), *places(specialised, count * both), np.full(1, -1)))


FOLDING = covers(
    multilevel_slicing_cover,
    _cover_work,
    name="multilevel_slicing",
    words="each span into slices that cover several",
    cost=lambda load: 0.0,
    by_name=False,
)
HEIGHT, MOST = 8, 64  # levels, where they are asked for by name alone, and at most
HEIGHTS = (2, 4, 7, 15, 31)  # not powers of two: the levels of a long span would crowd into one set of the cache


@dataclass(frozen=True, eq=False, kw_only=True)
class Leveled(Algorithm):
    """A technique that has cells of several levels."""

    height: int


def of_height(height: int) -> Leveled:
    """The technique with so many levels."""
    if not 1 <= height <= MOST:
        raise SashError(f"using must have a height of 1 to {MOST} levels, got 'multilevel_slicing({height})'")

    def cost(load: Load) -> float:
        steps = max(load.each / height, 1.0)
        a_span = 5.0 + (1.0 + 0.02 * height) * steps + min(2.0 * (steps - 1.0), 4.0)
        return a_span + 2.6 * height * load.cells_a_span

    return Leveled(
        name=FOLDING.name,
        operation=COVER,
        words=f"{FOLDING.words}, of {height} levels",
        cost=cost,
        run=partial(FOLDING.run, height=height),
        needs=FOLDING.needs,
        height=height,
        by_name=False,
    )


COVERING = replace(of_height(HEIGHT), words=FOLDING.words, variants=tuple(map(of_height, HEIGHTS)), by_name=True)
ANSWERING = answers_windows(
    lambda aggregate: multilevel_slicing,
    _work,
    name="multilevel_slicing",
    words="a partial, or two, for each level of a slice",
)
cover, answers = FOLDING.run, ANSWERING.run
