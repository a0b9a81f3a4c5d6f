"""Table 4: what a window costs each technique, in combines, and how that grows.

The paper derives costs, here combines are counted: with the kernels run as plain Python, in windows full of events of
uniform lengths that slide by 8 moments. N is the number of events in a window, which grows with how many end in a
moment. Insertions are shared by the windows, as in the paper. Steps that are no combines do not show: links of tuple
buckets, searches in an index, and adding and deleting. The first release of sweeping catches up with the stream before
it, and its combines are shared by the windows. Space (section 5.4) is told by bytes of state.
"""

from functools import partial
from math import log2

from bench.harness.experiment import Bench
from bench.harness.measuring import growth
from bench.papers.spans_2021._common import Cut
from bench.papers.spans_2021._counting import SLIDE, Counts, counts, stream

TITLE = "Table 4: complexities, by combines counted"
ROWS = {
    "tuple_buckets": ("tuple_buckets", "count"), "aggregate_buckets": ("aggregate_buckets", "count"),
    "sweeping, count": ("sweeping", "count"), "sweeping, max": ("sweeping", "max"),
    "slicing": ("slicing", "max"), "multilevel_slicing(4)": ("multilevel_slicing(4)", "max"),
}  # fmt: skip
LEVELS, HEIGHT = "multilevel_slicing(4)", 4
PAPER = {
    "tuple_buckets": ("N (links)", "N"),
    "aggregate_buckets": ("N", "1"),
    "sweeping, count": ("log((2δ+β)/ω N) 2β/ω N", "2β/ω N + 2"),
    "sweeping, max": ("log((2δ+β)/ω N) 2β/ω N", "log(δN/2ω) (β/ω N + 1)"),
    "slicing": ("⌈μ/ω⌉ N", "ω/β"),
    "multilevel_slicing(4)": ("⌈μ/dω⌉ N", "d (ω/β + d - 1)"),
}


def run(bench: Bench) -> None:
    base = bench.pick({"rate": 8, "size": 64, "overlap": 8}, {"rate": 2, "size": 8, "overlap": 2})
    axes = bench.pick(
        {"rate": (4, 8, 16, 32), "size": (32, 64, 128, 256), "overlap": (4, 8, 16, 32)},
        {"rate": (1, 2, 3, 4), "size": (8, 16, 24, 32), "overlap": (1, 2, 3, 4)},
    )
    found = {row: {axis: {at: counts(*what, **{**base, axis: at}) for at in points} for axis, points in axes.items()}
             for row, what in ROWS.items()}  # fmt: skip
    for row, by_axis in found.items():
        for axis, line in by_axis.items():
            for at, each in line.items():
                bench.record(f"{row} @ {axis} {at}", each.insert + each.release - 1, "combines")
    at_base = {row: counts(*what, **base) for row, what in ROWS.items()}
    bench.table(
        f"Cost of a window: {base['overlap']} slides of {SLIDE}, events of {base['size']} on average",
        ["technique", "N", "combines of insertions", "paper", "partials of a release", "paper"],
        [[row, each.events, each.insert, PAPER[row][0], each.release, PAPER[row][1]] for row, each in at_base.items()],
    )
    head = [
        "technique",
        *(f"{what} by {axis}" for axis in ("N", "size", "range/slide") for what in ("insert", "release")),
    ]
    bench.table("Exponents of growth", head, [[row, *_exponents(each)] for row, each in found.items()])
    _comparator_claims(bench, found)
    _slicing_claims(bench, found, at_base, base)
    _height_claims(bench, base)
    _space_claim(bench, base, axes["rate"])
    bench.claim(
        "adding and deleting windows and slices costs 1 or d, sweeping 2 log((2δ+ω)/β), and 2β/ω N for deleting events",
        "not counted", None, "these are steps without combines; here slices are in arrays, without an index",
    )  # fmt: skip


def _exponents(by_axis: dict[str, dict[int, Counts]]) -> list[float | None]:
    lines = [{(each.events if axis == "rate" else at): getattr(each, what) for at, each in line.items()}
             for axis, line in by_axis.items() for what in ("insert", "release")]  # fmt: skip
    return [growth(line) if min(line.values()) > 0 else None for line in lines]


def _comparator_claims(bench: Bench, found: dict) -> None:
    points = {row: [each for line in found[row].values() for each in line.values()] for row in found}
    tuples, partials = points["tuple_buckets"], points["aggregate_buckets"]
    off = max(abs(each.release - each.events) for each in tuples)
    bench.claim("tuple buckets: a release takes N", f"N at all {len(tuples)} points, but for {off:.2g}", off < 1e-6)
    off = max(abs(each.insert + 1 - each.events) for each in partials)
    once = max(each.release for each in partials)
    bench.claim(
        "aggregate buckets: insertions take N, a release 1",
        f"N - 1 combines at all {len(partials)} points, but for {off:.2g}; {once:.2g} at a release",
        off < 1e-6 and once == 1,
    )
    insert, release = _exponents(found["sweeping, count"])[:2]
    most = max(each.release for each in points["sweeping, count"])
    bench.claim(
        "cumulative sweeping: insertions grow as N (log N with the search), a release with N",
        f"insertions grow as N^{insert:.2f}; a release reads at most {most:.2f} partials, N^{release:.2f}",
        0.9 < insert < 1.25 and release > 0.9,
        "starts and ends of events are folded by slice when they come, so that a release reads partials of slices"
        if release <= 0.9
        else "",
    )
    both = growth({each.events: each.insert + each.release - 1 for each in found["sweeping, max"]["rate"].values()})
    bound = growth({n: n * log2(n) for n in (each.events for each in found["sweeping, max"]["rate"].values())})
    bench.claim(
        "selective sweeping: insertions and releases grow as N log N",
        f"together as N^{both:.2f}, N log N as N^{bound:.2f} there",
        abs(both - bound) < 0.05,
        "combines are counted, and the search, whose log N it is, takes none",
    )


def _slicing_claims(bench: Bench, found: dict, at_base: dict, base: dict) -> None:
    by_n, flat, by_size, _, _, by_overlap = _exponents(found["slicing"])
    share = found["slicing"]["size"]
    cells = [each.insert / (base["rate"] * SLIDE) / (size / SLIDE + 1) for size, each in share.items()]
    bench.claim(
        "slicing: an insertion takes as many combines as an event has slices, so it grows with N and with event size",
        f"as N^{by_n:.2f} and size^{by_size:.2f}; {min(cells):.2f} to {max(cells):.2f} of size/slide + 1 an event",
        0.9 < by_n < 1.2 and 0.75 < by_size < 1.1 and min(cells) > 0.8 and max(cells) < 1.05,
    )
    bench.claim(
        "slicing: a release takes ω/β, whatever N",
        f"(ω/β)^{by_overlap:.2f}, N^{flat:.2f}; {at_base['slicing'].release:.2f} at ω/β = {base['overlap']}",
        0.9 < by_overlap < 1.2 and abs(flat) < 0.05,
    )
    uneven = {row: counts(*ROWS[row], **base, rest=SLIDE // 2) for row in ("slicing", LEVELS)}
    ratios = [(uneven[row].insert / at_base[row].insert, uneven[row].release / at_base[row].release) for row in uneven]
    bench.claim(
        "where the slide does not divide the range, there are two slices a step, and costs are doubled",
        "; ".join(
            f"{row}: insertions {a:.2f} times, a release {b:.2f}" for row, (a, b) in zip(uneven, ratios, strict=True)
        ),
        all(1.6 < each < 2.4 for pair in ratios for each in pair),
    )


def _height_claims(bench: Bench, base: dict) -> None:
    count_at = partial(counts, aggregate="max", **base)
    heights = bench.pick((1, 2, 4, 8, 16), (1, 2, 3, 4))
    line = {height: count_at(f"multilevel_slicing({height})") for height in heights}
    slicing, n = count_at("slicing"), base["overlap"]
    bench.table(
        "Heights", ["height", "insert", "release", "5.3.2: d (ω/β + (d - 1)/2)", "Table 4: d (ω/β + d - 1)"],
        [[d, each.insert, each.release, d * (n + (d - 1) / 2), d * (n + d - 1)] for d, each in line.items()],
    )  # fmt: skip
    insert = growth({d: each.insert for d, each in line.items()})
    bench.claim(
        "several levels: an insertion takes ⌈μ/dβ⌉ combines: the larger the height, the fewer",
        f"height^{insert:.2f}: {line[heights[0]].insert:.3g} combines a window at 1, {line[heights[-1]].insert:.3g} at "
        f"{heights[-1]}",
        insert < -0.5,
    )
    off = [each.release / (d * (n + (d - 1) / 2)) for d, each in line.items()]
    printed = [each.release / (d * (n + d - 1)) for d, each in line.items()]
    bench.claim(
        "several levels: a release takes d (ω/β + (d - 1)/2) (5.3.2; Table 4 prints d (ω/β + d - 1))",
        f"{min(off):.2f} to {max(off):.2f} times the first, {min(printed):.2f} to {max(printed):.2f} times the second",
        min(off) > 0.9 and max(off) < 1.1,
    )
    bench.claim(
        "a height of 1 strictly matches the numbers of slicing",
        f"{line[1].insert + line[1].release:.1f} and {slicing.insert + slicing.release:.1f} combines a window",
        line[1] == slicing,
    )


def _space_claim(bench: Bench, base: dict, rates: tuple[int, ...]) -> None:
    names = ("tuple_buckets", "aggregate_buckets", "sweeping", "slicing", LEVELS)
    wide = SLIDE * base["overlap"]
    bytes_ = {name: {rate * 16: Cut(stream(rate * 16, base["size"], wide), wide, SLIDE, 2 * base["size"]).state(name)
                     for rate in rates} for name in names}  # fmt: skip
    bench.lines("State by events a moment", {"": bytes_}, "events a moment", "bytes")
    by = {name: growth(line) for name, line in bytes_.items()}
    levels = bytes_[LEVELS][max(rates) * 16] / bytes_["slicing"][max(rates) * 16]
    bench.claim(
        "space grows with N for tuple buckets and sweeping, and not for slicing, several levels (d times as much) and "
        "aggregate buckets",
        ", ".join(f"{name}: N^{each:.2f}" for name, each in by.items()) + f"; 4 levels keep {levels:.2f} times as much",
        min(by["tuple_buckets"], by["sweeping"]) > 0.75
        and max(map(abs, (by["slicing"], by[LEVELS], by["aggregate_buckets"]))) < 0.05
        and 0.8 * HEIGHT < levels < 1.2 * HEIGHT,
    )
