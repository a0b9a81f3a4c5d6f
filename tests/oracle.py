"""The oracle: fold ``combine`` over the rows of each frame, in plain Python. Everything is compared with it."""

from functools import reduce


def oracle(aggregate, columns, frames, rows=None):
    """The answer of each frame ``[lo, hi)``, None for an empty one, straight from the definition."""
    columns = [list(column) for column in columns]
    partials = []
    for row in range(len(columns[0]) if columns else rows):
        inputs = [column[row] for column in columns]
        partials.append(aggregate.lift(row, *inputs) if aggregate.rows else aggregate.lift(*inputs))
    return [aggregate.lower(reduce(aggregate.combine, partials[lo:hi])) if lo < hi else None for lo, hi in frames]
