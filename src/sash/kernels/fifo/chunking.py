"""How many slices make a chunk of PBA: the theorems of parallel-boundary-aggregator-2021, 4.3."""

from __future__ import annotations


def chunk_for_counts(size: int, slide: int = 1) -> int:
    """Theorem 1: the slices in a chunk for windows of so many rows that slide by so many."""
    slices, rest = size // slide, size % slide
    if slices <= slide + rest + 1:
        return max(slices, 1)
    return (slide * (slices + 1) + rest + 1) // (slide + 1)
