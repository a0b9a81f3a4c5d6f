"""What Hypothesis draws: frames that move right, cuts of a stream into batches, values with ties and extremes."""

import os

import numpy as np
from hypothesis import settings
from hypothesis import strategies as st

SIZES = (1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17)  # 2^k - 1, 2^k, 2^k + 1


def usually(examples):
    """So many examples for a test that takes long with each; as many as for any other where SASH_TEST_EXAMPLES says."""
    return settings(max_examples=int(os.environ.get("SASH_TEST_EXAMPLES", examples)))


@st.composite
def monotonic_frames(draw, rows):
    """Frames [lo, hi) whose bounds never fall: of one size, growing, shrinking, or random; empty ones too."""
    kind = draw(st.sampled_from(("fixed", "growing", "shrinking", "random", "sparse")))
    ends = list(range(1, rows + 1))
    if kind == "fixed":
        size = draw(st.sampled_from(SIZES))
        return [(max(0, end - size), end) for end in ends]
    if kind == "growing":
        return [(0, end) for end in ends]
    if kind == "shrinking":
        return [(start, rows) for start in range(rows + 1)]
    how_many = draw(st.integers(0, 2 * rows if kind == "random" else 5))
    bounds = st.lists(st.integers(0, rows), min_size=how_many, max_size=how_many)
    return list(zip(sorted(draw(bounds)), sorted(draw(bounds)), strict=True))


@st.composite
def ranges_at_each_end(draw, rows):
    """Several windows answered at each end, in any order: starts go back and forth, ends do not."""
    sizes = draw(st.lists(st.integers(1, 12), min_size=1, max_size=5))
    return [(max(0, end - size), end) for end in range(1, rows + 1) for size in sizes]


@st.composite
def cuts(draw, rows):
    """The lengths of the batches that a stream of so many rows comes in."""
    lengths = []
    while sum(lengths) < rows:
        lengths.append(draw(st.integers(0, rows - sum(lengths))) if len(lengths) < 8 else rows - sum(lengths))
    return lengths


def integers(rows):
    return st.lists(st.integers(-50, 50), min_size=rows, max_size=rows).map(lambda v: np.array(v, np.int64))


def doubles(rows):
    """Doubles with ties, zeros of both signs, infinities and NaN among them."""
    few = st.sampled_from((0.0, -0.0, 1.0, 2.5, -3.0, float("inf"), float("-inf"), float("nan")))
    return st.lists(few, min_size=rows, max_size=rows).map(lambda v: np.array(v, np.float64))
