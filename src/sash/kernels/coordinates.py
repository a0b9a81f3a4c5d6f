"""The numbers that a row goes by, as types, so that none is taken for another.

| a row's | is its number |
|---|---|
| row number | among the rows as they came |
| position | in sorted order: by partition, then by the window's order |
| index | among the positions that a selection leaves: a filter, and NULLs |
| rank | by a function's own order, among the rows of its partition |

Kernels are given rows that are numbered one way, and call these numbers positions whichever they are. Answers are
positions again, and go back to the rows by their numbers.
"""

from __future__ import annotations

from typing import NewType

import numpy as np

RowNumbers = NewType("RowNumbers", np.ndarray)
Positions = NewType("Positions", np.ndarray)
Indices = NewType("Indices", np.ndarray)
Ranks = NewType("Ranks", np.ndarray)
