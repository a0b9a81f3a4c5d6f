"""Figure 12: throughput by range, for windows that overlap 5, 50 and 500 times and for slides that do not divide it.

The paper has 2,000,000 events of (a) 500 and (b) 5,000 moments. Here there are up to 500,000; a slow technique's line
ends where the slide gets small. A range that its slide does not divide is 10/3 of it, so that there are two slices a
step.
"""

from bench.harness.experiment import Bench
from bench.papers.spans_2021 import _common as spans
from bench.papers.spans_2021._common import INDEX, SASH, SINGLE, ends, gains, mean, span

TITLE = "Figure 12: range and overlap, slicing against buckets and sweeping"
UNEVEN = "10/3"
OTHERS = SINGLE[:3]


def run(bench: Bench) -> None:
    ranges, factors = bench.pick(((500, 2000, 10_000, 50_000), (5, 50, 500, UNEVEN)), ((500, 5000), (5, UNEVEN)))
    panels = spans.overlapping(bench, ranges, factors, (*SINGLE, INDEX, SASH), bench.pick(500_000, 3000))
    drawn = {f"size {size:,}, range/slide {factor}": lines for (size, factor), lines in panels.items()}
    bench.lines("Throughput by range", drawn, "range", spans.THROUGHPUT)
    _slicing_claims(bench, {key: lines for key, lines in panels.items() if key[1] != UNEVEN})
    _sweeping_claims(bench, panels)
    _uneven_claims(bench, {key: lines for key, lines in panels.items() if key[1] == UNEVEN})
    longer = spans.only(panels, lambda key, range_: range_ > key[0])
    paper = "slicing must be preferred as long as windows are longer than events"
    spans.claim_ahead(bench, paper, longer, ["slicing"], OTHERS, spans.updates(longer))


def _slicing_claims(bench: Bench, panels: dict) -> None:
    rises = [b / a for lines in panels.values() for a, b in [ends(lines["slicing"])]]
    bench.claim(
        "slicing gets faster with the range for all steps that divide it",
        f"{span(rises)} times as fast at the largest range as at the smallest measured", min(rises) > 1,
    )  # fmt: skip
    found: dict = {}
    for (_, factor), lines in panels.items():
        found.setdefault(factor, []).extend(gains(lines, "slicing", "aggregate_buckets").values())
    row = {factor: mean(each) for factor, each in found.items() if each}
    bench.claim(
        "the gain over buckets grows as the step gets smaller compared to the range",
        "over aggregate buckets, by range/slide: "
        + ", ".join(f"{row[each]:.3g} times at {each}" if each in row else f"too slow at {each}" for each in found),
        len(row) > 1 and list(row.values()) == sorted(row.values()),
    )


def _sweeping_claims(bench: Bench, panels: dict) -> None:
    constant = spans.spread(panels, "sweeping")
    bench.claim(
        "sweeping has a constant throughput", f"within {constant:.2f} times over all panels", constant < 2,
        "where windows slide by 1, there is a window to release for every event" if constant >= 2 else "",
    )  # fmt: skip
    small = {key: ends(gains(lines, "sweeping", "slicing"))[0] for key, lines in panels.items()}
    short, long = ([ratio for (size, _), ratio in small.items() if size == wanted] for wanted in (500, 5000))
    bench.claim(
        "sweeping has a clear advantage over slicing for small windows, in particular with long events",
        f"at the smallest range that both have, {span(short)} times the throughput for events of 500 and {span(long)} "
        "for those of 5,000",
        mean(long) > mean(short) and min(long) > 1,
    )


def _uneven_claims(bench: Bench, panels: dict) -> None:
    spans.claim_ahead(
        bench, "where the slide does not divide the range, slicing is still ahead of buckets",
        panels, ["slicing"], SINGLE[:2], "with two slices a step, long events are in more slices than windows",
    )  # fmt: skip
    ratios = [gain for lines in panels.values() for gain in gains(lines, "slicing", "sweeping").values()]
    bench.claim(
        "there, slicing performs similarly to sweeping",
        f"{span(ratios)} times the throughput, {mean(ratios):.2f} on average", min(ratios) > 0.5 and max(ratios) < 2,
        spans.updates(panels),
    )  # fmt: skip
