"""Figure 10: throughput and memory for events of 1 to 15,000 moments and three ranges, slices against the others.

The paper has 2,000,000 events, windows that slide by a fifth of their range and wait 15,000 moments, and the memory
of the process. Here there are up to 1,000,000 events, and memory is the bytes of state, of streams of 100,000. The
ranges of the figure are not in its text: those here go beyond Figure 11's, as the text says. A technique runs on one
thread and waits for nothing, so what the paper says of processor time is told from the times measured.
"""

from bench.harness.experiment import Bench
from bench.harness.verdicts import below
from bench.papers.spans_2021 import _common as spans
from bench.papers.spans_2021._common import INDEX, SASH, SINGLE, Cut, ends, gains, mean, span

TITLE = "Figure 10: size of events, slicing against buckets and sweeping"
OTHERS = SINGLE[:3]


def run(bench: Bench) -> None:
    count, few = bench.pick((1_000_000, 100_000), (4000, 2000))
    sizes = bench.pick((1, 100, 1000, 5000, 15_000), (1, 1000))
    panels, memory = {}, {}
    for range_ in bench.pick((1000, 10_000, 50_000), (1000, 10_000)):
        title = f"range {range_:,}"
        many, some = (
            {size: Cut(spans.synthetic(size, n), range_, range_ // 5) for size in sizes} for n in (count, few)
        )
        more = many[sizes[-1]].windows / many[sizes[0]].windows
        panels[title] = spans.throughputs(bench, many, (*SINGLE, INDEX, SASH), title)
        memory[title] = spans.states(bench, some, SINGLE, title)
    bench.lines("Throughput by size of events", panels, "size of events", spans.THROUGHPUT)
    bench.lines("State by size of events", memory, "size of events", "bytes")
    _throughput_claims(bench, panels, more)
    _processor_claim(bench, panels)
    spans.memory_claims(bench, memory)
    grown = [b / a for a, b in (ends(lines["tuple_buckets"]) for lines in memory.values())]
    bench.claim(
        "the memory of tuple buckets grows with the size of events",
        f"{span(grown)} times as much for the largest events measured as for the smallest", min(grown) > 1,
        "links are in a pool that doubles, so that some growth does not show" if min(grown) <= 1 else "",
    )  # fmt: skip


def _throughput_claims(bench: Bench, panels: dict, more: float) -> None:
    falls = [a / b for name in SINGLE if name != "sweeping" for a, b in (ends(each[name]) for each in panels.values())]
    constant = spans.spread(panels, "sweeping")
    bench.claim(
        "large events lower the throughput of all but sweeping, which is constant whatever the window and event size",
        f"from the smallest events to the largest, slicing and buckets fall {span(falls)} times; "
        f"sweeping is within {constant:.2f} times in all panels",
        min(falls) > 1.1 and constant < 2,
        f"at the largest range, the largest events are in {more:.2f} times as many windows"
        if min(falls) <= 1.1
        else "",
    )
    for other in OTHERS:
        why = spans.updates(panels) if other == "sweeping" else ""
        spans.claim_ahead(bench, f"for all windows, slicing is better than {other}", panels, ["slicing"], [other], why)
    pairs = {
        f"over {other} at {title}": ends(gains(lines, "slicing", other))
        for title, lines in panels.items()
        for other in OTHERS
    }
    larger = sum(a > b for a, b in pairs.values())
    flat = ", ".join(f"{a:.3g} to {b:.3g} {where}" for where, (a, b) in pairs.items() if a <= b)
    bench.claim(
        "the smaller the event, the better the gain with slicing",
        f"the gain at the smallest is larger than at the largest event for {larger} of {len(pairs)} lines",
        larger == len(pairs),
        f"{flat}; at the largest range, the largest events are in {more:.2f} times as many windows" if flat else "",
    )
    rows = {other: [mean(row.values()) for row in spans.common(panels, "slicing", other).values()] for other in OTHERS}
    bench.claim(
        "larger windows result in better performance of slicing compared to the others",
        "from the smallest range to the largest, "
        + ", ".join(f"{row[0]:.3g} to {row[-1]:.3g} times {other}" for other, row in rows.items()),
        all(below(row[0], row[-1]) for row in rows.values()),
        "within 5 % is taken for the same",
    )


def _processor_claim(bench: Bench, panels: dict) -> None:
    rows = [[each[name][size] for name in SINGLE[1:]] for each in panels.values() for size in each["aggregate_buckets"]]
    apart = max(max(row) / min(row) for row in rows)
    smallest = next(iter(panels.values()))
    last, slower = max(gains(smallest, "slicing", "tuple_buckets").items())
    bench.claim(
        "processor time is of one order of magnitude for all but tuple buckets, which skyrocket with small windows and "
        "long events",
        f"the others are up to {apart:.3g} times apart; at the smallest range and events of {last:,}, tuple buckets "
        f"take {slower:.3g} times as long as slicing",
        apart < 10 and slower > 10,
        spans.UPDATES if apart >= 10 else "",
    )
