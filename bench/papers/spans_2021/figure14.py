"""Figure 14: throughput and memory by range on call records, for windows that slide by a fifth and wait 2.5 hours.

The paper replays one minute of a telephone network, 3,200,000 events of 16 seconds on average (SS7), which is not to
be had. Here it is a generated minute of 800,000 calls, their lengths lognormal with the same average; a slow technique
is given every so many of them. Memory is the bytes of state, for 50,000 calls.
"""

from bench.harness.experiment import Bench, Lines
from bench.papers.spans_2021 import _common as spans
from bench.papers.spans_2021._common import INDEX, LEVELS, MULTI, SASH, SINGLE, Cut, ends, gains

TITLE = "Figure 14: call records, by range"
WAIT = 9_000_000
LEAST = {"tuple_buckets": 1.4, "aggregate_buckets": 1.1, "sweeping": 1.3}


def run(bench: Bench) -> None:
    count, few = bench.pick((800_000, 50_000), (3000, 2000))
    ranges = bench.pick((1, 5, 20, 60, 100), (5, 60))
    many, some = (
        {range_: Cut(spans.calls(length), range_ * 1000, range_ * 200, WAIT, thinned=True) for range_ in ranges}
        for length in (count, few)
    )
    lines = spans.throughputs(bench, many, dict.fromkeys([*SINGLE, *MULTI, INDEX, SASH]), "calls")
    one, several = ({name: lines[name] for name in names if name in lines} for names in (
        (*SINGLE, INDEX, SASH), (*MULTI, SASH),
    ))  # fmt: skip
    panels = {"(a) one level": one, "(b) several levels": several}
    bench.lines("Throughput by range", panels, "range, s", spans.THROUGHPUT)
    kept = spans.states(bench, some, (*SINGLE, LEVELS[-1]), "calls")
    bench.lines("State by range", {"": kept}, "range, s", "bytes")
    _claims(bench, lines, many[max(ranges)].cells)
    spans.memory_claims(bench, {"": kept})


def _claims(bench: Bench, lines: Lines, slices: float) -> None:
    for other, least in LEAST.items():
        found = gains(lines, "slicing", other)
        bench.claim(
            f"for all window sizes, slicing performs at least {least - 1:.0%} better than {other}",
            ", ".join(f"{gain:.2f} times at {range_} s" for range_, gain in found.items()),
            min(found.values()) >= least,
            spans.updates({"": lines}) if other == "sweeping" and min(found.values()) < least else "",
        )
    rises = {name: b / a for name in SINGLE for a, b in [ends(lines[name])]}
    bench.claim(
        "small windows lower the throughput of all techniques but sweeping",
        "from the smallest range to the largest: "
        + ", ".join(f"{name} {each:.2f} times" for name, each in rises.items()),
        min(each for name, each in rises.items() if name != "sweeping") > 1.25 and rises["sweeping"] < 1.25,
        "sweeping for max searches and moves the events that it keeps; for count it takes 2 or 3 updates at any range"
        if rises["sweeping"] >= 1.25
        else "",
    )
    small, large = zip(*(ends(gains(lines, name, "slicing")) for name in LEVELS), strict=True)
    bench.claim(
        "several levels are ahead of slicing at small ranges, in particular with large heights",
        "at the smallest range, by height: " + ", ".join(f"{each:.2f} times" for each in small),
        min(small) > 1 and small[-1] > small[0],
    )
    bench.claim(
        "at larger ranges several levels stay a bit behind slicing",
        "at the largest range, by height: " + ", ".join(f"{each:.2f} times" for each in large),
        max(large) < 1,
        f"a call is in {slices:.2f} slices there on average, in fewer of several levels" if max(large) >= 1 else "",
    )
