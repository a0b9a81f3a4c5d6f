"""Windows of all keys that only move forward, each held by a FIFO algorithm between pushes.

They read new cells from the leaves of a forest as windows come to end. What a late row changes behind that is read
anew, from the start of the key's next window on; so is all after a restart, since the cells are the state.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np

from sash.kernels.answers import Answered
from sash.kernels.compiling import Kernel, Specialised, specialise
from sash.kernels.fifo.keyed_windows import keyed, rows_of
from sash.kernels.inputs import Inputs
from sash.kernels.slices import forward_cells
from sash.kernels.slices.assigning import LEAST, MOST, grown, powers_of_two
from sash.kernels.slices.partials import columns_of

LEAST_ROOM = 4  # rows of the smallest window


class Leaves(Protocol):
    """Cells of keys in segments, and their partials: a forest is one."""

    base: np.ndarray
    room: np.ndarray
    slots: np.ndarray
    nodes: list[np.ndarray]
    live: list[np.ndarray]


class ForwardWindows:
    """The last window of each key by one algorithm, of the partials of some sources."""

    def __init__(self, kernel: Kernel, inputs: Inputs, sources: Sequence[int]) -> None:
        self.kernel, self.inputs, self.sources = kernel, inputs, tuple(sources)
        self.specialised: Specialised = specialise(keyed(self.kernel), inputs.aggregate, inputs.dtypes)
        types = {"States": self.specialised.state, "Marks": np.dtype(np.int64), "Flags": np.dtype(np.uint8)}
        self.arrays = {name: np.zeros(0, types[self.specialised.parameters[name]])
                       for name in self.specialised.parameters if name in self.kernel.sizes}  # fmt: skip
        none = np.zeros(0, np.int64)
        self.base, self.room, self.head, self.tail = none, none.copy(), none.copy(), none.copy()
        self.since, self.upto = none.copy(), none.copy()  # the last window's start and end; LEAST where there is none
        self.at = none.copy()  # positions of rows
        self.passed = LEAST  # the end of the last window of all
        self.used = 0  # rows that keys have room for

    @property
    def size(self) -> int:
        """About how many bytes it has."""
        return 48 * len(self.base) + 8 * len(self.at) + sum(array.nbytes for array in self.arrays.values())

    def notice(self, key: np.ndarray, at: np.ndarray, filled: np.ndarray) -> None:
        """See what comes behind the windows of its key: these are made anew."""
        if at.min(initial=MOST) >= self.passed:
            return
        known = np.minimum(key, len(self.upto) - 1)
        behind = (at < self.upto[known]) & (at >= self.since[known]) & (key == known) & (filled != 0)
        if behind.any():
            self.upto[key[behind]] = LEAST

    def answers(
        self, forest: Leaves, keys: np.ndarray, starts: np.ndarray, ends: np.ndarray, lo: np.ndarray, hi: np.ndarray
    ) -> Answered | None:
        """The answers of windows, sorted by key and end, whose cells are given as slots; None where these go back."""
        self._reserve(len(forest.base))
        runs, width, following = np.empty(len(keys) + 1, np.int64), np.empty(len(keys), np.int64), np.empty_like(keys)
        marks = np.empty(4, np.int64)
        forward_cells.look_ahead(
            keys, starts, ends, lo, hi, forest.base, forest.slots,
            self.room, self.since, self.upto, runs, width, following, marks,
        )  # fmt: skip
        count, fresh, cells, back = marks.tolist()
        if back:
            return None
        runs, width = runs[: count + 1], width[:count]
        some = keys[runs[:-1]]
        if fresh:
            self._begin(some[width > 0], width[width > 0])
        which, shifts = np.empty(cells, np.int64), np.empty(count, np.int64)
        first, last = np.empty_like(keys), np.empty_like(keys)
        came = forward_cells.go_forward(
            keys, runs, following, starts, lo, hi, forest.base, forest.room, forest.slots, forest.live[self.sources[0]],
            self.base, self.room, self.head, self.tail, self.at, which, shifts, first, last,
        )  # fmt: skip
        which, newest = which[:came], runs[1:] - 1
        self.since[some], self.upto[some] = starts[newest], ends[newest]
        self.passed = max(self.passed, int(ends.max(initial=LEAST)))
        columns = tuple(column for source in self.sources for column in columns_of(forest.nodes[source][which]))
        out = Answered(np.empty(len(keys), self.specialised.answer), np.ones(len(keys), np.bool_))
        self.specialised.run(
            self.inputs.lifted(columns), some, runs, shifts, self.base, self.room, first, last, *self.arrays.values(),
            tuple(out),
        )  # fmt: skip
        return out

    def _reserve(self, keys: int) -> None:
        """Know so many keys."""
        before = len(self.base)
        if keys <= before:
            return
        self.base, self.room, self.head, self.tail, self.since, self.upto = (
            grown(array, keys) for array in (self.base, self.room, self.head, self.tail, self.since, self.upto)
        )
        self.since[before:] = self.upto[before:] = LEAST
        self._make_room()

    def _begin(self, keys: np.ndarray, widths: np.ndarray) -> None:
        """Have some keys begin anew, with room for windows of so many rows."""
        larger = widths > self.room[keys]
        if larger.any():
            some = keys[larger]
            rooms = np.maximum(powers_of_two(widths[larger]), LEAST_ROOM)
            ends = self.used + np.cumsum(rooms)
            self.base[some], self.room[some], self.used = ends - rooms, rooms, int(ends[-1])
            self._make_room()
        self.head[keys] = self.tail[keys] = 0
        for name, array in self.arrays.items():
            if not rows_of(name, self.kernel):
                entries = self.kernel.sizes[name](LEAST_ROOM)
                array[(entries * keys[:, None] + np.arange(entries)).ravel()] = np.zeros(1, array.dtype)[0]

    def _make_room(self) -> None:
        """Have arrays as long as keys and their rows ask for."""
        if self.used > len(self.at):
            self.at = grown(self.at, self.used)
        for name, array in self.arrays.items():
            many = rows_of(name, self.kernel)
            length = many * len(self.at) if many else self.kernel.sizes[name](LEAST_ROOM) * len(self.base)
            if length > len(array):
                self.arrays[name] = grown(array, length)
