"""What kernels over codes are tested with: codes of several partitions, their neighbours, and frames of every kind."""

from dataclasses import dataclass

import numpy as np
from hypothesis import strategies as st

from sash.kernels.algorithm import Occurrences, Task
from sash.planner import algorithms
from sash.windows.bounds import Bounds

EXCLUDES = ("nothing", "current row", "group", "ties")


@dataclass(frozen=True)
class Coded:
    codes: np.ndarray
    bounds: Bounds

    @property
    def distinct(self):
        return int(self.codes.max(initial=-1)) + 1

    @property
    def neighbours(self):
        """The nearest positions of the same code, before and after each."""
        rows = len(self.codes)
        before, after = np.full(rows, -1, self.codes.dtype), np.full(rows, rows, self.codes.dtype)
        order = np.argsort(self.codes, kind="stable").astype(self.codes.dtype)
        same = self.codes[order[1:]] == self.codes[order[:-1]]
        before[order[1:][same]], after[order[:-1][same]] = order[:-1][same], order[1:][same]
        return before, after

    @property
    def occurrences(self):
        """The same as kernels take it."""
        return Occurrences(*self.neighbours, lambda: (self.codes, self.distinct))

    def frames(self):
        """The codes in each frame."""
        return [self.codes[rows] for rows in rows_of(self.bounds)]


def able(operation, bounds):
    """The algorithms that can run an operation over these frames."""
    task = Task(operation, len(bounds), bounds.length, bounds.shape, bounds.holes, bounds.widest)
    return [each for each in algorithms(operation) if not each.refusal(task)]


def rows_of(bounds):
    """The positions in each frame."""
    owns = bounds.own if len(bounds.own) else np.full(len(bounds), -1)
    for lo, a, b, hi, own in zip(bounds.lo, bounds.a, bounds.b, bounds.hi, owns, strict=True):
        yield np.concatenate([np.arange(lo, a), np.arange(own, own + (own >= 0)), np.arange(b, hi)]).astype(int)


@st.composite
def coded(draw, shapes=("monotonic", "arbitrary"), excludes=EXCLUDES, dtype=np.int32, most=60):
    """Codes and frames; a frame asks from its own row, whose group of peers or itself may be cut out."""
    rows = draw(st.integers(0, most))
    random = np.random.default_rng(draw(st.integers(0, 2**32)))
    partition = np.sort(random.integers(0, draw(st.sampled_from((1, 1, 2, 5, 30))), rows))
    value = random.integers(0, draw(st.sampled_from((1, 2, 5, 40, 10**6))), rows)
    if draw(st.booleans()):
        value.sort()
    codes = np.unique(partition * 10**7 + value, return_inverse=True)[1].astype(dtype)
    first, last = np.searchsorted(partition, partition), np.searchsorted(partition, partition, "right")
    shape = draw(st.sampled_from(shapes))
    ends = [random.integers(first, last + 1) for _ in range(2)] if rows else [first, last]
    if draw(st.booleans()):  # near the row itself
        around = np.arange(rows) + random.integers(-6, 7, (2, rows))
        ends = list(np.clip(around, first, last))
    if shape == "monotonic":
        ends = [np.sort(end) for end in ends]  # of one partition after the other, as they were
    lo, hi = np.minimum(*ends), np.maximum(*ends)
    exclude = draw(st.sampled_from(excludes))
    if exclude == "nothing":
        return Coded(codes, Bounds(lo.astype(dtype), hi.astype(dtype), rows, shape))
    row = np.arange(rows)
    peers = partition * 10**3 + np.sort(random.integers(0, draw(st.sampled_from((1, 3, 10, 100))), rows))
    start, stop = np.searchsorted(peers, peers), np.searchsorted(peers, peers, "right")
    if exclude == "current row":
        start, stop = row, row + 1
    a, b = np.clip(start, lo, hi), np.clip(stop, lo, hi)
    bounds = [side.astype(dtype) for side in (lo, hi, a, b)]
    own = np.where((lo <= row) & (row < hi), row, -1).astype(dtype)
    more = {"own": own} if exclude == "ties" else {}
    return Coded(codes, Bounds(bounds[0], bounds[1], rows, shape, a=bounds[2], b=bounds[3], **more))
