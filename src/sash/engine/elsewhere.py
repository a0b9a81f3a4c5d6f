"""What an expression is told of rows that its piece does not hold: summaries of those before and after each segment."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from sash.kernels.answers import Answered
from sash.kernels.inputs import Inputs
from sash.kernels.operations.merging import joined, merged, state_of
from sash.windows.frame import Frame

COUNTS = np.dtype((np.int64, 2))  # how many rows a part has, and how many groups of peers
Runs = list[np.ndarray]  # parts that follow each other


@dataclass(frozen=True)
class Elsewhere:
    """Summaries of parts of rows, for one expression, and which parts lie around each segment.

    A part whose rows do not count has NULL. ``runs`` are the parts before each piece, and those after it;
    ``before`` and ``after`` say for each segment of which piece it has them, -1 for none.
    """

    summaries: pa.Array
    runs: tuple[Runs, Runs]
    before: np.ndarray
    after: np.ndarray
    wanted: np.ndarray  # whether the row at each position is to be answered

    @property
    def _sides(self) -> tuple[tuple[Runs, np.ndarray], tuple[Runs, np.ndarray]]:
        return (self.runs[0], self.before), (self.runs[1], self.after)

    def _read(self, dtype: np.dtype) -> tuple[np.ndarray, np.ndarray]:
        """The summary of each part, and whether there is one."""
        valid = self.summaries.is_valid().to_numpy(zero_copy_only=False)
        values = np.zeros(len(self.summaries), dtype)
        values[valid] = np.frombuffer(b"".join(self.summaries.drop_null().to_pylist()), dtype)
        return values, valid

    def counts(self) -> tuple[np.ndarray, np.ndarray]:
        """How many rows, and groups of peers, are before each segment and after it: a pair for each."""
        counts, _ = self._read(COUNTS)
        sides = []
        for runs, of in self._sides:
            totals = np.zeros((len(runs) + 1, 2), np.int64)  # the last is for none
            for number, run in enumerate(runs):
                totals[number] = counts[run].sum(axis=0)
            sides.append(totals[of])
        return sides[0], sides[1]

    def merged(self, inputs: Inputs, local: Answered, frame: Frame, segments: np.ndarray) -> Answered:
        """The answers to frames whose rows in the piece have been folded to partials."""
        states, valid = self._read(state_of(inputs))
        joining: Runs = []
        sides = []
        for (runs, of), bound in zip(self._sides, (frame.start, frame.end), strict=True):
            which = np.full(len(runs) + 1, -1)  # the last is for none
            for number, run in enumerate(runs):
                counting = run[valid[run]]
                if bound.is_unbounded and len(counting):
                    which[number] = len(joining)
                    joining.append(counting)
            sides.append(which[of])
        return merged(inputs, local, self.wanted, joined(inputs, states, joining), segments, *sides)
