"""Windows that only move forward: one algorithm a file, all with the same interface.

| kernel | needs | combines a slide | good for |
|---|---|---|---|
| recalc | | n - 1 | comparison |
| subtract_on_evict | invertible, exact | 2 | integers, counts |
| two_stacks | | 3, n at a flip | frames of changing size |
| daba | | 6, worst case too | bounded latency |
| flatfat | | log2 n | disorder, windows that are not FIFO |
| b_int | | log2 n | comparison |
| flatfit | | 3, n - 1 for all n ranges | many ranges over one stream |
| slick_deque | selective | under 2, n at worst | comparison |
| slide_side | | 3, n at a flip | several ranges |
| sba | | 3, n at a boundary | frames of one size |
| pba | | 3, worst case too | long windows of one size and two cores; a bound on every slide |
"""

from importlib import import_module
from pkgutil import iter_modules

from sash.kernels.algorithm import FOLD, declared
from sash.kernels.fifo.flatfat_window import FlatFat
from sash.kernels.fifo.sliding import Sliding, SlidingAlgorithm, slide

for _module in iter_modules(__path__):  # each declares its algorithms
    import_module(f"{__name__}.{_module.name}")

ALGORITHMS = {name: each for name, each in declared(FOLD).items() if isinstance(each, SlidingAlgorithm)}

__all__ = ["ALGORITHMS", "FlatFat", "Sliding", "slide"]
