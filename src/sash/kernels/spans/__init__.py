"""Events with a lifespan, which count once in every window that they overlap: one technique a file.

Time is cut into cells, of one key after the other. An event overlaps the cells ``first`` to ``last``, a window is the
cells ``lo`` to before ``hi``, and both begin and end with cells. ``cover`` folds a batch of events into cells;
``answers`` takes events as they come and releases windows, as the paper does. A window has n cells, an event m.

| technique | covers | answers | needs | combines an event | and besides |
|---|---|---|---|---|---|
| slicing | yes | yes | | m | n a window |
| multilevel_slicing | yes | yes | | m / d | 2 (d - 1) a cell covered; d (n + (d - 1) / 2) a window |
| difference | yes | | invertible, exact | 2 | 2 a cell |
| doubling | yes | | selective | 2 | log2 of the longest event a cell |
| sweeping | | yes | selective, or invertible, exact | 2 or 3 | log2 n a window; 2 a cell |
| aggregate_buckets | | yes | | one a window | |
| tuple_buckets | | yes | | one a window, at its release | |
"""

from importlib import import_module
from pkgutil import iter_modules

_MODULES = {each.name: import_module(f"{__name__}.{each.name}") for each in iter_modules(__path__)}

COVERS = {name: module for name, module in _MODULES.items() if hasattr(module, "cover")}
ANSWERS = {name: module for name, module in _MODULES.items() if hasattr(module, "answers")}

__all__ = ["ANSWERS", "COVERS"]
