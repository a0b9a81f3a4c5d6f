"""The cells of open windows with a tree of partials over those of each key, kept between pushes.

A push changes what it brings cells for, and windows are folded from a few nodes each, so that neither depends on
how many slices are open. All keys are in the same arrays, and go through one call of a kernel.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sash.engine.streams.forward_windows import ForwardWindows
from sash.engine.streams.partial_layouts import PartialLayout
from sash.kernels.slices import segments, trees
from sash.kernels.slices.assigning import grown, powers_of_two
from sash.kernels.slices.board_windows import KeySegments

LEAST = 4  # slots of the smallest segment


class Forest:
    """Cells by key and position, each with its partials as the leaves of trees."""

    def __init__(self, layouts: Sequence[PartialLayout]) -> None:
        self.layouts = tuple(layouts)
        none = np.zeros(0, np.int64)
        self.base, self.room, self.head, self.tail = none, none.copy(), none.copy(), none.copy()
        self.slots = np.zeros(0, np.int64)  # positions
        self.nodes = [np.zeros(0, layout.partial.state) for layout in layouts]
        self.live = [np.zeros(0, np.uint8) for _ in layouts]
        self.rises = [False] * len(self.layouts)  # whether there is a tree above the leaves, as the first fold asks for
        self.forward: dict[int, ForwardWindows] = {}  # windows held by other algorithms, by the number of their query
        self.used = 0  # slots that segments have
        self.count = 0  # cells

    @staticmethod
    def of(
        layouts: Sequence[PartialLayout],
        key: np.ndarray,
        at: np.ndarray,
        states: list[np.ndarray],
        filled: list[np.ndarray],
    ) -> Forest:
        """A forest of these cells, which are sorted by key and position."""
        forest = Forest(layouts)
        if not len(key):
            return forest
        starts = np.flatnonzero(np.append(True, key[1:] != key[:-1]))
        keys, counts = key[starts], np.diff(np.append(starts, len(key)))
        forest._reserve(int(keys[-1]) + 1)
        forest._lay_out(keys, counts)
        forest.tail[keys] = counts
        forest.count = len(key)
        forest._fill(keys, at, states, filled)
        return forest

    def __len__(self) -> int:
        return self.count

    @property
    def keys(self) -> np.ndarray:
        """The keys that have a cell, in order."""
        return np.flatnonzero(self.tail > self.head)

    @property
    def segments(self) -> KeySegments:
        """Where the cells of each key lie."""
        keys = self.keys
        base = self.base[keys]
        return KeySegments(keys, base + self.head[keys], base + self.tail[keys], base, self.slots)

    def insert(self, key: np.ndarray, at: np.ndarray, states: list[np.ndarray], filled: list[np.ndarray]) -> None:
        """Take cells, which are sorted by key and position; those that there are already stay in front."""
        if not len(key):
            return
        if int(key[-1]) >= len(self.base):
            self._reserve(int(key[-1]) + 1)
        place, runs = np.empty(len(key), np.int64), np.empty(len(key) + 1, np.int64)
        hit, marks = np.empty(len(key), np.uint8), np.empty(4, np.int64)
        segment = (self.base, self.room, self.head, self.tail, self.slots)
        segments.look_up(key, at, *segment, place, hit, runs, marks)
        count, fresh, full, changed = marks.tolist()
        if full:
            self._make_room(key[runs[:count]], np.add.reduceat(hit == 0, runs[:count], dtype=np.int64))
            segment = (self.base, self.room, self.head, self.tail, self.slots)
            segments.look_up(key, at, *segment, place, hit, runs, marks)
            changed = int(marks[segments.CHANGED])
        work = np.empty(changed, np.int64)
        for k, layout in enumerate(self.layouts):
            layout.kernel(trees.tree_insert).run(
                key, place, hit, runs, count, *segment[:4], states[k], filled[k], work, int(self.rises[k]),
                self.nodes[k], self.live[k],
            )  # fmt: skip
        for windows in self.forward.values():
            windows.notice(key, at, filled[windows.sources[0]])
        segments.take_places(key, at, place, hit, runs, count, self.base, self.tail, self.slots)
        self.count += fresh

    def know(self, keys: int) -> None:
        """Have so many keys, so that windows may be asked of those that have no cell."""
        self._reserve(keys)
        if not self.used:
            self._lay_out(np.zeros(1, np.int64), np.ones(1, np.int64))

    def ranges(self, keys: np.ndarray, starts: np.ndarray, ends: np.ndarray) -> tuple[np.ndarray, np.ndarray, int]:
        """Where the cells of windows begin and end in the segments of their keys, and how many windows have one.

        It must have all of these keys, if only without a cell.
        """
        lo, hi = np.empty(len(keys), np.int64), np.empty(len(keys), np.int64)
        count = segments.find_ranges(keys, starts, ends, self.base, self.head, self.tail, self.slots, lo, hi)
        return lo, hi, count

    def fold(self, k: int, keys: np.ndarray, lo: np.ndarray, hi: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The fold of the k-th partial over ranges of cells, and whether there is one."""
        if not self.rises[k]:
            self.rises[k] = True
            self._raise(k, self.keys)
        states, filled = np.zeros(len(keys), self.nodes[k].dtype), np.empty(len(keys), np.uint8)
        run = self.layouts[k].kernel(trees.tree_ranges).run
        run(keys, lo, hi, self.base, self.room, self.nodes[k], self.live[k], states, filled)
        return states, filled

    def cells_at(self, k: int, keys: np.ndarray, slots: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The k-th partial of single cells, and whether there is one."""
        leaves = 2 * self.base[keys] + self.room[keys] + slots
        return self.nodes[k][leaves], self.live[k][leaves]

    def let_go(self, keys: np.ndarray, cuts: np.ndarray) -> None:
        """Let go of the cells of some keys before a position, each its own or one for all."""
        self.count -= segments.let_go(keys, cuts, self.base, self.head, self.tail, self.slots)

    @property
    def size(self) -> int:
        """About how many bytes it has."""
        forward = sum(windows.size for windows in self.forward.values())
        trees = sum(nodes.nbytes + len(nodes) for nodes in self.nodes)
        return 8 * len(self.slots) + 32 * len(self.base) + trees + forward

    @property
    def wasteful(self) -> bool:
        """Whether most slots are of no use, so that it had better be made anew."""
        return self.used > 16 * (self.count + LEAST * len(self.base))

    def dump(self) -> tuple[np.ndarray, np.ndarray, list[np.ndarray], list[np.ndarray]]:
        """All cells: keys, positions, partials and flags."""
        keys = self.keys
        return self.cells(keys, self.head[keys], self.tail[keys] - self.head[keys])

    def cells(
        self, keys: np.ndarray, first: np.ndarray, counts: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, list[np.ndarray], list[np.ndarray]]:
        """So many cells of some keys, from a slot of each on."""
        slots, leaves = self._places(keys, first, counts)
        states, filled = [nodes[leaves] for nodes in self.nodes], [live[leaves] for live in self.live]
        return np.repeat(keys, counts), self.slots[slots], states, filled

    # Segments

    def _places(self, keys: np.ndarray, first: np.ndarray, counts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The slots and the leaves of so many cells of some keys, from a slot of each on."""
        within = np.arange(int(counts.sum())) - np.repeat(np.cumsum(counts) - counts, counts)
        slots = within + np.repeat(self.base[keys] + first, counts)
        return slots, slots + np.repeat(self.base[keys] + self.room[keys], counts)

    def _reserve(self, keys: int) -> None:
        """Have a segment for each key that is known, if only one without a slot."""
        if keys > len(self.base):
            self.base, self.room, self.head, self.tail = (
                grown(array, keys) for array in (self.base, self.room, self.head, self.tail)
            )

    def _lay_out(self, keys: np.ndarray, counts: np.ndarray) -> None:
        """Give keys new segments, with room for twice so many cells."""
        rooms = np.maximum(2 * powers_of_two(counts), LEAST)
        ends = self.used + np.cumsum(rooms)
        self.base[keys], self.room[keys], self.head[keys], self.tail[keys] = ends - rooms, rooms, 0, 0
        self.used = int(ends[-1])
        if self.used > len(self.slots):
            self.slots = grown(self.slots, self.used)
            self.nodes = [grown(nodes, 2 * len(self.slots)) for nodes in self.nodes]
            self.live = [grown(live, 2 * len(self.slots)) for live in self.live]

    def _make_room(self, keys: np.ndarray, fresh: np.ndarray) -> None:
        """Have room for more cells of those keys that have none: at the front of the segment, or in a larger one."""
        full = self.tail[keys] + fresh > self.room[keys]
        keys, fresh = keys[full], fresh[full]
        counts = self.tail[keys] - self.head[keys]
        slots, leaves = self._places(keys, self.head[keys], self.tail[keys] - self.head[keys])
        at, states, filled = (
            self.slots[slots],
            [each[leaves] for each in self.nodes],
            [each[leaves] for each in self.live],
        )
        larger = 2 * (counts + fresh) > self.room[keys]
        if larger.any():
            self._lay_out(keys[larger], (counts + fresh)[larger])
        self.head[keys], self.tail[keys] = 0, counts
        self._fill(keys, at, states, filled)

    def _fill(self, keys: np.ndarray, at: np.ndarray, states: list[np.ndarray], filled: list[np.ndarray]) -> None:
        """Write the cells of keys, and the trees above them."""
        slots, leaves = self._places(keys, self.head[keys], self.tail[keys] - self.head[keys])
        self.slots[slots] = at
        for k in range(len(self.layouts)):
            self.nodes[k][leaves], self.live[k][leaves] = states[k], filled[k]
            if self.rises[k]:
                self._raise(k, keys)

    def _raise(self, k: int, keys: np.ndarray) -> None:
        """Fill the trees of some keys above their leaves."""
        run = self.layouts[k].kernel(trees.tree_build).run
        run(keys, self.base, self.room, self.tail, self.nodes[k], self.live[k])
