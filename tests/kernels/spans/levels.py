"""Which levels of which cells multi-level slicing writes and reads, in plain Python, as the paper has them."""

from sash.kernels.spans.multilevel_slicing import lowest


def path(first, last, height):
    """The cells, and in them the levels, that an event over the cells ``first`` to ``last`` is folded into.

    >>> path(2, 8, height=4)
    [(8, 4), (4, 3)]
    """
    return [(cell, min(cell - first + 1, height)) for cell in range(last, first - 1, -height)]


def interval(cell, level):
    """The first and the last cell that a level of a cell stands for.

    >>> interval(7, 4)
    (4, 7)
    """
    return max(cell - level + 1, 0), cell


def reads(lo, hi, height, clock=None):
    """The cells and levels that are read to release a window; there are no cells after the clock yet.

    >>> reads(1, 3, height=2)
    [(1, 1), (1, 2), (2, 1), (2, 2), (3, 2)]
    """
    stop = hi + height - 1 if clock is None else min(hi + height - 1, clock + 1)
    return [(cell, level) for cell in range(lo, stop) for level in range(lowest(cell, hi), height + 1)]
