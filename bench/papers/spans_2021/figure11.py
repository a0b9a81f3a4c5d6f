"""Figure 11: throughput of slices of several levels, of one level, and of sweeping, for events of 1 to 15,000 moments.

The paper has 2,000,000 events and windows that slide by a fifth of their range and wait 15,000 moments; ranges of
5,000 and 10,000 are named in the text, the smallest is assumed. Here there are up to 1,000,000 events. Memory is the
bytes of state, and for one size of events the peak of a fresh process, as in the paper.
"""

from itertools import pairwise

from bench.harness.experiment import Bench
from bench.harness.measuring import peak_memory
from bench.papers.spans_2021 import _common as spans
from bench.papers.spans_2021._common import INDEX, LEVELS, MULTI, SASH, Cut, ends, gains, span

TITLE = "Figure 11: size of events, slices of several levels"
HIGHEST = LEVELS[-1]


def run(bench: Bench) -> None:
    count, few = bench.pick((1_000_000, 100_000), (4000, 2000))
    sizes = bench.pick((1, 100, 1000, 5000, 15_000), (1, 1000))
    ranges = bench.pick((500, 5000, 10_000), (500, 5000))
    panels = {}
    for range_ in ranges:
        cuts = {size: Cut(spans.synthetic(size, count), range_, range_ // 5) for size in sizes}
        panels[f"range {range_:,}"] = spans.throughputs(bench, cuts, (*MULTI, INDEX, SASH), f"range {range_:,}")
    bench.lines("Throughput by size of events", panels, "size of events", spans.THROUGHPUT)
    _claims(bench, panels)
    _height_claims(bench, panels)
    _memory_claim(bench, {range_: Cut(spans.synthetic(1000, few), range_, range_ // 5) for range_ in ranges}, few)


def _claims(bench: Bench, panels: dict) -> None:
    spans.claim_ahead(
        bench, "for every height greater than 1, several levels outperform slicing for all event sizes",
        panels, LEVELS, ["slicing"], "an event in one slice takes as many combines in levels, and a release reads more",
    )  # fmt: skip
    behind = spans.only(panels, lambda range_, size: gains(panels[range_], "slicing", "sweeping").get(size, 0.0) < 1)
    spans.claim_ahead(
        bench, "where slicing is behind sweeping, large heights are ahead of it",
        behind, [HIGHEST], ["sweeping"], spans.updates(behind, [HIGHEST]),
    )  # fmt: skip
    pairs = [ends(gains(lines, name, "slicing")) for lines in panels.values() for name in LEVELS]
    bench.claim(
        "the gain over slicing increases with event size",
        f"it is {span(a for a, _ in pairs)} times for the smallest and {span(b for _, b in pairs)} for the largest",
        all(b > a for a, b in pairs),
    )


def _height_claims(bench: Bench, panels: dict) -> None:
    orders = [[lines[name][max(lines[HIGHEST])] for name in LEVELS] for lines in panels.values()]
    slower = max(low / high for row in orders for low, high in pairwise(row))
    bench.claim(
        "the larger the height, the faster",
        "at the largest events, by height: " + "; ".join(", ".join(f"{each:.3g}" for each in row) for row in orders),
        slower < 1.05,
        "" if slower < 1.05 else f"a height is up to {slower:.2f} times as fast as the next",
    )
    larger = list(panels.values())[1:]
    alike = max(max(gain, 1 / gain) for lines in larger for gain in gains(lines, *LEVELS[-2:]).values())
    falls = [a / b for lines in larger for name in LEVELS[-2:] for a, b in [ends(lines[name])]]
    bench.claim(
        "at ranges of 5,000 and 10,000, heights 15 and 20 have similar results and do not slow down with event size",
        f"they are within {alike:.2f} times of each other, and fall {span(falls)} times to the largest events",
        alike < 1.25 and max(falls) < 1.25,
        "no reading of a stream holds all lines at 550,000 events a second here, as in the paper"
        if max(falls) >= 1.25
        else "",
    )


def _memory_claim(bench: Bench, cuts: dict[int, Cut], few: int) -> None:
    kept = spans.states(bench, cuts, ("slicing", *LEVELS), "size 1,000")
    bench.lines("State by range, events of 1,000", {"": kept}, "range", "bytes")
    ratios, where = [], "bench.papers.spans_2021._common:footprint"
    for range_ in bench.pick((min(cuts), max(cuts)), ()):
        peaks = {
            name: peak_memory(where, name, 1000, few, range_, range_ // 5, repeat=1)[0] for name in ("slicing", HIGHEST)
        }
        for name, peak in peaks.items():
            bench.record(f"process of {name} @ {range_}", peak, "bytes")
        ratios.append(peaks[HIGHEST] / peaks["slicing"])
    more = gains(kept, HIGHEST, "slicing")
    bench.claim(
        "several levels use about the memory of slicing, but for small windows, where slicing saves more",
        f"the state of 20 levels is {span(more.values())} times that of one, {max(kept[HIGHEST].values()):,} bytes at "
        f"most; a process takes {max(ratios, default=0):.3f} times as much at most",
        more[max(cuts)] < 1.25 and more[min(cuts)] > more[max(cuts)],
        "every level keeps partials of all slices, which is little beside what a process takes, as the paper has it",
    )
