"""What a kernel's parameters may be; a kernel says so in its annotations.

A kernel's inner function is annotated with these names, from which its native signature follows.
"""

from __future__ import annotations

from typing import Any

Values = tuple[Any, ...]  # one array per input of lift
Frames = tuple[Any, ...]  # (lo, hi): arrays of positions; or (size,): the last so many rows at each row
States = Any  # an array of partials
Marks = Any  # an array of 64-bit integers: positions and counters
Flags = Any  # an array of bytes
Floats = Any  # an array of doubles
Answers = tuple[Any, Any]  # the lowered answers, and whether each is not NULL
