"""Windows that only move forward: one algorithm a file, all with the same interface.

| kernel | needs | combines a slide | the planner takes it for |
|---|---|---|---|
| recalc | | n - 1 | very small windows |
| subtract_on_evict | invertible, exact | 2 | integers, counts |
| two_stacks | | 3, n at a flip | frames of changing size |
| daba | | 6, worst case too | bounded latency |
| flatfat | | log2 n | disorder, windows that are not FIFO |
| b_int | | log2 n | comparison |
| flatfit | | 3, n - 1 for all n ranges | many ranges over one stream |
| slick_deque | selective | under 2, n at worst | comparison |
| slide_side | | 3, n at a flip | several ranges |
| sba | | 3, n at a boundary | frames of one size |
| pba | | 3, worst case too | long windows and a heavy aggregate, with a second core |
"""

from sash.kernels.fifo.b_int import b_int
from sash.kernels.fifo.boundary import pba, sba
from sash.kernels.fifo.daba import daba
from sash.kernels.fifo.flatfat import flatfat
from sash.kernels.fifo.flatfit import flatfit
from sash.kernels.fifo.recalc import recalc
from sash.kernels.fifo.slick_deque import slick_deque
from sash.kernels.fifo.slide_side import slide_side
from sash.kernels.fifo.sliding import Sliding, slide
from sash.kernels.fifo.subtract_on_evict import subtract_on_evict
from sash.kernels.fifo.two_stacks import two_stacks

ALGORITHMS = {
    algorithm.name: algorithm
    for algorithm in (
        recalc,
        subtract_on_evict,
        two_stacks,
        daba,
        flatfat,
        b_int,
        flatfit,
        slick_deque,
        slide_side,
        sba,
        pba,
    )
}

__all__ = ["ALGORITHMS", "Sliding", "slide"]
