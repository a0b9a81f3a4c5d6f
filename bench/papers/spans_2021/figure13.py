"""Figure 13: throughput by range of slices of several levels, for windows that overlap 5, 50 and 500 times.

The paper has 2,000,000 events of (a) 500 and (b) 5,000 moments and ranges of up to 10,000. Here there are up to
500,000 events. The best height is looked for at the range of 5,000.
"""

from bench.harness.experiment import Bench
from bench.papers.spans_2021 import _common as spans
from bench.papers.spans_2021._common import HEIGHTS, INDEX, LEVELS, MULTI, SASH, ends, gains, mean, span

TITLE = "Figure 13: range and overlap, slices of several levels"


def run(bench: Bench) -> None:
    ranges, factors = bench.pick(((500, 5000, 10_000), (5, 50, 500)), ((500, 5000), (5, 50)))
    panels = spans.overlapping(bench, ranges, factors, (*MULTI, INDEX, SASH), bench.pick(500_000, 2000))
    drawn = {f"size {size:,}, range/slide {factor}": lines for (size, factor), lines in panels.items()}
    bench.lines("Throughput by range", drawn, "range", spans.THROUGHPUT)
    short, long = ({key: lines for key, lines in panels.items() if key[0] == size} for size in (500, 5000))
    _short_claims(bench, short)
    _long_claims(bench, long)
    _height_claim(bench, panels)


def _overlapped(panels: dict) -> dict:
    return {key: lines for key, lines in panels.items() if key[1] >= 50}


def _short_claims(bench: Bench, panels: dict) -> None:
    few = [gain for name in LEVELS for gain in gains(panels[500, 5], name, "slicing").values()]
    bench.claim(
        "with events of 500, several levels perform worse than slicing at first (range/slide 5)",
        f"{span(few)} times its throughput, {mean(few):.2f} on average", mean(few) < 1,
        "an event is in 5 slices at the smallest range, so that levels save combines there" if mean(few) >= 1 else "",
    )  # fmt: skip
    paper = "with events of 500, they are ahead of slicing for all heights as soon as range/slide is 50"
    why = "a release reads d times as many partials (Table 4), at range/slide 500 more than insertions save"
    spans.claim_ahead(bench, paper, _overlapped(panels), LEVELS, ["slicing"], why)
    paper = "with events of 500, slicing and several levels are ahead of sweeping for all overlaps"
    spans.claim_ahead(bench, paper, panels, MULTI[1:], ["sweeping"], spans.updates(panels, MULTI[1:]))


def _long_claims(bench: Bench, panels: dict) -> None:
    paper = "with events of 5,000, several levels clearly outperform slicing for all heights"
    spans.claim_ahead(bench, paper, panels, LEVELS, ["slicing"])
    found = [gains(lines, name, "slicing") for lines in panels.values() for name in LEVELS]
    pairs = [ends(gain) for gain in found if len(gain) > 1]
    bench.claim(
        "the larger the range, the better the improvement with several levels",
        f"the gain grows from smallest to largest range for {sum(b > a for a, b in pairs)} of {len(pairs)} lines, "
        f"from {span(a for a, _ in pairs)} times to {span(b for _, b in pairs)}",
        all(b > a for a, b in pairs),
        "slices grow with the range, so that an event is in fewer of them" if any(b <= a for a, b in pairs) else "",
    )
    wins = {name: spans.wins(_overlapped(panels), name, "sweeping") for name in ("slicing", LEVELS[-1])}
    bench.claim(
        "where range/slide is 50 and more, large heights can be ahead of sweeping, slicing cannot",
        ", ".join(f"{name} is ahead at {a} of {of} points" for name, (a, of) in wins.items()),
        wins["slicing"][0] == 0 and wins[LEVELS[-1]][0] > 0,
        spans.UPDATES if wins[LEVELS[-1]][0] == 0 else "",
    )


def _height_claim(bench: Bench, panels: dict) -> None:
    by_height = {key: {height: lines[name].get(5000, 0.0) for name, height in zip(LEVELS, HEIGHTS, strict=True)}
                 for key, lines in panels.items()}  # fmt: skip
    best = {key: max(line, key=lambda height: line[height]) for key, line in by_height.items()}
    head = ["size of events", "range/slide", *map(str, HEIGHTS), "best"]
    bench.table(
        "Throughput by height at a range of 5,000",
        head,
        [[*key, *line.values(), best[key]] for key, line in by_height.items()],
    )
    bench.claim(
        "the best height grows with the size of events and changes with the overlap: at range/slide 50 it is 7 for "
        "events of 500 and 15 for those of 5,000",
        "; ".join(f"{height} for {size:,} at {factor}" for (size, factor), height in best.items()),
        best[5000, 50] > best[500, 50] and len(set(best.values())) > 1,
    )
