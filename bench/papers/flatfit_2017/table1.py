"""Table 1: Complexities.

The paper derives the operations a slide and the space of each algorithm. Here combines are counted while the kernels
run as plain Python, and the entries of the arrays that a window writes to are added up: partials, nodes, and FlatFIT's
links and stack. How deep the stack gets is counted for one query, for all ranges, and for a few.
"""

from __future__ import annotations

import numpy as np

from bench.harness import Bench
from bench.papers.flatfit_2017._common import ALL, MAX, NAMES, SINGLE, all_count, single_count, stack
from sash.kernels.fifo import Sliding

TITLE = "Table 1: Complexities"
FORMULAS = {
    "recalc": ("n - 1", "n²/2 - n/2", "n"),
    "flatfat": ("log2 n", "n log2 n", "2^(ceil(log2 n) + 1)"),
    "b_int": ("log2 n", "n log2 n", "2^(ceil(log2 n) + 1)"),
    "flatfit": ("3", "n - 1", "2n to 2.5n"),
}


def run(bench: Bench) -> None:
    n = bench.pick(256, 32)
    depths = {m: stack(n, [n, m]) for m in (1, n // 4, n // 2, 3 * n // 4, n - 1)}
    one, every = stack(n, [n]), stack(n, range(1, n + 1))
    counted = {name: (single_count(name, n), all_count(name, n), _space(name, n) + (name == "flatfit") * one)
               for name in NAMES}  # fmt: skip
    for name, (alone, all_ranges, entries) in counted.items():
        bench.record(f"{name}, alone @ {n}", alone, "combines")
        bench.record(f"{name}, all ranges @ {n}", all_ranges, "combines")
        bench.record(f"{name} @ {n}", entries, "partials")
    rows = [
        [name, *(cell for pair in zip(FORMULAS[name], counted[name], strict=True) for cell in pair)] for name in NAMES
    ]
    bench.table(
        f"Operations a slide and entries, formulas and counted at n = {n}",
        ["", "one query", "counted", "all ranges", "counted", "space", "counted"],
        rows,
    )
    few = {q: [n * k // q for k in range(1, q + 1)] for q in (2, 3, 4, 8)}
    used = {q: stack(n, ranges) for q, ranges in few.items()}
    bench.table(
        f"Stack of FlatFIT, n = {n}, by how many queries there are, of ranges n/q, 2n/q, … n",
        ["queries", "formula", "counted"],
        [[q, n / 2 ** (q - 1), used[q]] for q in few],
    )
    for place, name in ((0, "a query alone"), (1, "all ranges")):
        table = (SINGLE, ALL)[place]
        within = {name: counted[name][place] / table[name](n) for name in NAMES}
        bench.claim(
            f"{name}: " + ", ".join(f"{each} {FORMULAS[each][place]}" for each in NAMES),
            f"at {n}, of that: " + ", ".join(f"{each} {share:.2f}" for each, share in within.items()),
            all(0.5 <= share <= 1.01 for share in within.values()),
            "counted "
            + ", ".join(f"{each} {counted[each][place]:,.1f}" for each in NAMES)
            + ", by the formulas "
            + ", ".join(f"{each} {table[each](n):,.1f}" for each in NAMES),
        )
    bench.claim(
        "FlatFIT's stack has two entries at most for one query, and one for all ranges",
        f"{one} for one query, {every} for all ranges",
        one <= 2 and every <= 1,
        "a look-up does not shorten the chain of the row it starts from; nor does that of Algorithm 1",
    )
    deepest = max(depths, key=depths.__getitem__)
    holds = depths[deepest] <= n / 2
    bench.claim(
        "with two queries the stack has n/2 entries at most: 2.5n in the worst case",
        f"n = {n}, ranges n and {deepest}: {depths[deepest]}; ranges n and n/2: {depths[n // 2]}",
        holds,
        "a query of range 1 writes no link, so the other still walks over all rows once in n + 1 slides",
    )
    halves = all(used[q] <= n / 2 ** (q - 1) + 1 for q in few)
    bench.claim(
        "each further query cuts the stack in half: n / 2^(q - 1) entries for q queries",
        ", ".join(f"{used[q]} for {q}" for q in few) + f" of ranges spread evenly over {n}",
        halves,
        f"with ranges spread evenly it is near n / q: {', '.join(f'{n // q} for {q}' for q in few)}",
    )


def _space(name: str, n: int) -> int:
    arrays = Sliding(MAX, np.int64, size=n, using=name).arrays
    return sum(len(array) for kind, array in arrays.items() if kind in ("ring", "nodes", "links"))
