"""The shared plan of many queries over one stream: the composite slide, its edges, and who is due at each.

paper   flatfit-2017, 2.3
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from math import lcm

import numpy as np

from sash.windows.grids import Grid
from sash.windows.slicers import SLICERS, Edges, edges_of

COUNTED = 100_000  # edges of a composite slide that are counted one by one


@dataclass(frozen=True)
class SharedPlan:
    """Queries by name, each with its windows, cut by one slicer.

    Example 1 of the paper, and its Figure 6:

    >>> plan = SharedPlan({"q1": Grid(range=6, slide=2), "q2": Grid(range=8, slide=4)}, "pairs")
    >>> plan.composite, plan.edges_per_composite, plan.common_edges, plan.largest
    (4, 2, 1, 4)
    >>> plan.slices_in("q1"), plan.slices_in("q2")
    (3, 4)
    >>> [(edge, due) for edge, due in plan.due(0, 8)]
    [(2, ('q1',)), (4, ('q1', 'q2')), (6, ('q1',)), (8, ('q1', 'q2'))]
    """

    grids: Mapping[str, Grid]
    slicer: str

    @cached_property
    def edges(self) -> Edges:
        """Where slices begin."""
        return edges_of(list(self.grids.values()), self.slicer)

    @cached_property
    def composite(self) -> int:
        """The length after which everything repeats: the least common multiple of all slides."""
        return lcm(*(grid.slide for grid in self.grids.values()))

    @property
    def _at_most(self) -> int:
        return sum(self.composite // each.step for each in self.edges.progressions)

    @property
    def counted(self) -> bool:
        """Whether the edges of a composite slide are few enough to be counted one by one."""
        return self._at_most <= COUNTED

    @cached_property
    def edges_per_composite(self) -> int:
        """How many slices there are in a composite slide; where they are not counted, at most."""
        if not self.counted:
            return self._at_most
        return len(self.edges.between(0, self.composite - 1)) - int(self._before(0))

    def _before(self, position: int) -> bool:
        """Whether the first edge that ``between`` gives is before a position."""
        first = self.edges.between(position, position)
        return bool(len(first)) and int(first[0]) < position

    @property
    def common_counted(self) -> bool:
        """Whether the edges that each query marks are few enough to be counted one by one."""
        return sum(2 * self.composite // grid.slide for grid in set(self.grids.values())) <= COUNTED

    @cached_property
    def common_edges(self) -> int:
        """Edges of a composite slide that two or more queries mark; of as many as are counted."""
        if not self.common_counted:
            return 0
        marks, slicer = [], SLICERS[self.slicer].of_one or self.slicer
        for grid, queries in Counter(self.grids.values()).items():
            own = edges_of([grid], slicer).between(0, self.composite - 1)
            marks += [own[own >= 0]] * min(queries, 2)
        _, times = np.unique(np.concatenate(marks), return_counts=True)
        return int(np.count_nonzero(times > 1))

    def slices_in(self, name: str) -> int:
        """How many slices a window of a query holds at most."""
        return self._buffer[self.grids[name]]

    @cached_property
    def _buffer(self) -> dict[Grid, int]:
        return {grid: self._slices(grid) for grid in set(self.grids.values())}

    def _slices(self, grid: Grid) -> int:
        longest = max(grid.range for grid in self.grids.values())
        if self._at_most * (2 + longest // self.composite) > COUNTED:
            return sum(grid.range // each.step + 1 for each in self.edges.progressions)
        starts = grid.origin % grid.slide + grid.slide * np.arange(max(self.composite // grid.slide, 1))
        edges = [np.searchsorted(self._table, at, "left") for at in (starts, starts + grid.range)]
        return int((edges[1] - edges[0]).max())

    @cached_property
    def _table(self) -> np.ndarray:
        """The edges that windows of one composite slide may hold."""
        longest = max(grid.range + grid.slide for grid in self.grids.values())
        return self.edges.between(0, self.composite + longest)

    @property
    def largest(self) -> int:
        """How many slices the longest window holds: the size of a ring that serves all queries."""
        return max(self._buffer.values())

    def due(self, after: int, upto: int) -> Iterator[tuple[int, tuple[str, ...]]]:
        """The positions after one and up to another at which queries are due, and which these are."""
        ends = {name: grid.ends(np.arange(grid.ending(after, upto)[0], grid.ending(after, upto)[1] + 1))
                for name, grid in self.grids.items()}  # fmt: skip
        for edge in np.unique(np.concatenate(list(ends.values()))).tolist():
            yield edge, tuple(name for name, grid in self.grids.items() if grid.ends_at(np.array([edge]))[0])
