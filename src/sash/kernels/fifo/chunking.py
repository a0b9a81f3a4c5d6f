"""How many slices make a chunk of PBA: the theorems of parallel-boundary-aggregator-2021, 4.3."""

from __future__ import annotations


def chunk_for_counts(size: int, slide: int = 1) -> int:
    """Theorem 1: the slices in a chunk for windows of so many rows that slide by so many."""
    slices, rest = size // slide, size % slide
    if slices <= slide + rest + 1:
        return max(slices, 1)
    return (slide * (slices + 1) + rest + 1) // (slide + 1)


def chunk_for_times(size: float, slide: float, combine: float) -> int:
    """Theorem 2: the same for windows of time, given how long one combine takes in the same unit.

    >>> chunk_for_times(1000.0, 1.0, combine=1.0)
    667
    """
    slices, rest = int(size // slide), size % slide
    constant = rest + combine if rest else 0.0
    if slices <= (slide + 2 * combine + constant) / combine:
        return max(slices, 1)
    return int((slices * (slide + combine) + slide + 2 * combine + constant) // (slide + 2 * combine))
