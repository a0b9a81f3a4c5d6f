"""The windows of many keys, each held by the same algorithm: one call goes on with those of all keys.

What an algorithm keeps of a window it keeps here of each key, in arrays that all keys share: rings and trees in the
key's stretch of so many rows, sums and marks at its number. Its own code runs over the stretch of one key after the
other, so that it needs to know nothing of keys, and an algorithm remains one file.

order   first in, first out, for each key
needs   what the algorithm needs
time    that of the algorithm; and a few steps a key
space   that of the algorithm, for windows of up to the next power of two of rows
"""

from __future__ import annotations

from typing import Any

from sash.algebra.catalogue import builtin
from sash.kernels.compiling import Kernel, interpreted
from sash.kernels.compiling.accessors import define
from sash.kernels.compiling.registry import parameters

ROOM = 4  # rows that tell whether an array grows with them


_keyed: dict[str, Kernel] = {}


def keyed(kernel: Kernel) -> Kernel:
    """A kernel of windows that go forward, over those of many keys."""
    if kernel.name not in _keyed:
        _keyed[kernel.name] = _over_keys(kernel)
    return _keyed[kernel.name]


def _over_keys(kernel: Kernel) -> Kernel:
    """The kernel of windows that go forward, over those of many keys.

    ``run(values, keys, runs, shifts, base, room, lo, hi, …, out)`` answers the frames ``runs[r]`` to ``runs[r + 1]`` of
    the r-th of the keys, in positions of its rows; that at position p is at ``p - shifts[r]`` of the values. The arrays
    that are kept come in the order in which the kernel takes them.
    """
    takes = parameters(kernel.make(interpreted.namespace(builtin("count"), "bounds")))
    kept = {name: typing for name, typing in takes.items() if name in kernel.sizes}
    given = {
        "values": "values",
        "base": "shifts[r]",
        "frames": "(lo[first:last], hi[first:last])",
        "starts": "lo[0:0]",
        "out": "(out[0][first:last], out[1][first:last])",
        **{name: _stretch(name, kernel) for name in kept},
    }
    arrays = "".join(f", {name}: {typing}" for name, typing in kept.items())
    head = "values: Values, keys: Marks, runs: Marks, shifts: Marks, base: Marks, room: Marks, lo: Marks, hi: Marks"
    driver = define(
        "driver(slide)",
        f"def run({head}{arrays}, out: Answers):",
        "    for r in range(len(keys)):",
        "        key, first, last = keys[r], runs[r], runs[r + 1]",
        f"        slide({', '.join(given[name] for name in takes)})",
        "    return 0",
        "return run",
    )

    def make(agg: Any) -> Any:
        return driver(kernel.make(agg))

    return Kernel(f"keyed_{kernel.name}", make, kernel.card, kernel.sizes)


def rows_of(name: str, kernel: Kernel) -> int:
    """How many entries of an array a row of room has, 0 where a window has as many whatever its room."""
    size = kernel.sizes[name]
    return 0 if size(2 * ROOM) == size(ROOM) else size(ROOM) // ROOM


def _stretch(name: str, kernel: Kernel) -> str:
    """What an array keeps of the key."""
    if many := rows_of(name, kernel):
        return f"{name}[{many} * base[key] : {many} * (base[key] + room[key])]"
    entries = kernel.sizes[name](ROOM)
    return f"{name}[{entries} * key : {entries} * (key + 1)]"
