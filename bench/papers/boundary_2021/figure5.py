"""Figure 5: throughput of max over the last 2^17 values, sliding by 1 to 10 values.

The paper has Cutty's slices of one slide each under every algorithm. So here: a compiled loop folds the values of each
slide, and the algorithm merges the slices; the time of both counts. Where a slide does not divide 2^17, the window is
the largest number of whole slides in it. pba has the chunks of Theorem 1 for its slide. Readings are generated, and a
million values go again and again through a window that stays full. Recal is left out, as it is beyond a few thousand
slices in the paper.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from bench.harness import Bench
from bench.papers.boundary_2021._common import (
    MORE,
    PAPER,
    STREAMS,
    Task,
    apart,
    behind,
    folding,
    least,
    pushing,
    throughputs,
)
from sash.algebra.catalogue import builtin
from sash.kernels.fifo.parallel_boundary import chunk_for_counts

TITLE = "Figure 5: throughput for count-based windows, by slide"
NAMES = [name for name in PAPER + MORE if name != "recalc"]


def sliced(name: str, size: int, slide: int, column: np.ndarray) -> Callable[[], None]:
    """Fold a column into slices, and push these."""
    if slide == 1:
        return pushing(name, size, column)
    edges = np.arange(0, len(column) + 1, slide)
    partials, fold = folding(builtin("max"), column, len(edges) - 1)
    fold(edges)
    push = pushing(name, size // slide, partials, chunk_for_counts(size, slide) if name == "pba" else None)

    def both() -> None:
        fold(edges)
        push()

    return both


def folding_alone(bench: Bench, column: np.ndarray, slide: int) -> float:
    """The seconds that slices take before they are merged."""
    edges = np.arange(0, len(column) + 1, slide)
    _, fold = folding(builtin("max"), column, len(edges) - 1)
    return bench.measure({"folding alone": lambda: fold(edges)}, slide)["folding alone"].median


def run(bench: Bench) -> None:
    rows, size = bench.pick((2**20, 2**17), (2**14, 2**12))
    slides = bench.pick([1, 2, 3, 4, 6, 8, 10], [1, 2, 5, 10])
    panels = {}
    for title, stream in STREAMS.items():
        column = stream(rows)

        def tasks_at(slide: int, column=column) -> Iterator[tuple[str, Task]]:
            return ((name, (sliced(name, size, slide, column), rows // slide * slide)) for name in NAMES)

        panels[title] = throughputs(bench, slides, tasks_at, title)
    bench.lines("Throughput, range 2^17, varying slide", panels, "slide", "million values/s", xlog=False)

    risen = {name: min(lines[name][10] / lines[name][1] for lines in panels.values()) for name in NAMES}
    worst = min(risen, key=risen.__getitem__)
    alone = rows / folding_alone(bench, column, 10) / 1e6
    single = min(lines[worst][1] for lines in panels.values())
    bench.claim(
        "slices improve throughput: a larger slide gives a higher one, with each algorithm",
        f"a slide of 10 over one of 1: pba {risen['pba']:.1f}x, sba {risen['sba']:.1f}x, at the least {worst} "
        f"{risen[worst]:.1f}x; folding slices of 10 alone runs at {alone:.0f} million values/s",
        risen[worst] > 1,
        f"{worst} merges {single:.0f} million single values/s",
    )
    fastest = max((name for name in NAMES if name != "pba"), key=lambda name: panels[title][name][1])
    best = least(panels, "pba", [name for name in NAMES if name != "pba"], lambda slide: slide <= 2)
    bench.claim(
        "PBA has the best throughput at small slides",
        f"at slides of 1 and 2, pba at least {best:.2f}x the fastest other",
        best > 1,
        behind(size, column, panels[title]["pba"][1], fastest, panels[title][fastest][1]),
    )
    first, last = (max(apart(lines, slide) for lines in panels.values()) for slide in (1, 10))
    bench.claim(
        "the larger the slide, the closer the algorithms are",
        f"the fastest over the slowest: {first:.1f}x at a slide of 1, {last:.1f}x at 10",
        last < first,
        ", ".join(f"{name} {line[1]:.0f} and {line[10]:.0f}" for name, line in panels[title].items())
        + " million values/s",
    )
