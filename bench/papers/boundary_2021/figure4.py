"""Figure 4: throughput of max over the last 2^3 to 2^20 values, an answer a value.

The paper has Java, 130 million readings of DEBS 2012 (four copies of 32 million) and 200 million uniform values on six
cores. Here a million values go again and again through a window that stays full, so that only full windows are timed;
the readings are generated. recalc gets fewer values. DABA, SlideSide and FlatFIT, which the paper has in Table 1 only,
are added. pba has a second thread in each push of windows of 2^11 and more; the others have one.
"""

from __future__ import annotations

from collections.abc import Iterator

from bench.harness import Bench, growth
from bench.harness.verdicts import gained
from bench.papers.boundary_2021._common import (
    MORE,
    PAPER,
    STREAMS,
    Task,
    beats,
    behind,
    fewer,
    least,
    pushing,
    throughputs,
)

TITLE = "Figure 4: throughput for count-based windows, by window size"
LARGE = 2**15


def run(bench: Bench) -> None:
    sizes = bench.pick([2**k for k in (3, 5, 8, 11, 13, 15, 17, 20)], [2**k for k in (3, 6, 9, 12)])
    rows, large = bench.pick(2**20, 2**13), min(LARGE, sizes[-1])
    panels = {}
    for title, stream in STREAMS.items():
        column = stream(rows)

        def tasks_at(size: int, column=column) -> Iterator[tuple[str, Task]]:
            for name in PAPER + MORE:
                if count := fewer(name, size, rows):
                    yield name, (pushing(name, size, column[:count]), count)

        panels[title] = throughputs(bench, sizes, tasks_at, title)
    bench.lines("Throughput, slide 1, varying range", panels, "window size", "million values/s")

    beats(bench, panels, "SBA is above TwoStack and SlickDeque at every window size, small ones too")
    rest = [name for name in panels["synthetic"] if name != "pba"]
    best = least(panels, "pba", rest, lambda size: size >= large)
    lines = panels["synthetic"]
    fastest = {size: max(rest, key=lambda name: lines[name].get(size, 0.0)) for size in (large, sizes[-1])}
    why = "; ".join(behind(size, column, lines["pba"][size], name, lines[name][size]) for size, name in fastest.items())
    bench.claim(
        "PBA has the best throughput for windows of 2^15 and more",
        f"pba at least {best:.2f}x the fastest other",
        best > 1,
        why,
    )
    stacks, deque = (least(panels, "pba", [who], lambda size: size >= large) for who in ("two_stacks", "slick_deque"))
    bench.claim(
        "from 2^15 on, PBA has 2.5x the throughput of TwoStack and 4x that of SlickDeque",
        f"at least {stacks:.2f}x two_stacks and {deque:.2f}x slick_deque",
        gained(stacks, 2.5) and gained(deque, 4),
        why,
    )
    rises(bench, lines["pba"], large)
    flat(bench, panels)


def rises(bench: Bench, line: dict[int, float], large: int) -> None:
    before = [value for size, value in line.items() if size <= large]
    after = [value for size, value in line.items() if size >= large]
    bench.claim(
        "PBA's throughput rises with the window up to 2^15 and stays constant from there",
        f"synthetic: from {before[0]:.2f} to {before[-1]:.1f} million/s up to 2^15, then between {min(after):.1f} and "
        f"{max(after):.1f}",
        before == sorted(before) and max(after) < 1.5 * min(after),
        "million slides/s: " + ", ".join(f"{value:.0f} at {size:,}" for size, value in line.items()),
    )


def flat(bench: Bench, panels: dict) -> None:
    exponents = {
        name: max(growth({size: 1 / value for size, value in lines[name].items()}) for lines in panels.values())
        for name in ("recalc", "two_stacks", "slick_deque", "sba", "daba")
    }
    naive = exponents.pop("recalc")
    said = ", ".join(f"{name} {exponent:.2f}" for name, exponent in exponents.items())
    bench.claim(
        "Recal recomputes each window; the others take constant time, amortised",
        f"the cost grows with the window to the power of: recalc {naive:.2f}, {said}",
        naive > 0.75 and max(exponents.values()) < 0.15,
        f"the steepest is {max(exponents, key=exponents.__getitem__)}",
    )
