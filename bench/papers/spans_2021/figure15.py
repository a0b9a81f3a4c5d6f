"""Figure 15: the technique that is the fastest, by range/size of events and by range/slide.

The paper draws three areas by hand over the points of its experiments. Here the range is 5,000 at every point of a
grid, and several levels are the better of 4 and 15. A figure for each area shows its throughput over that of the best
technique; within 5 % of the best, a technique counts as such, since heights may win by chance.
"""

from bench.harness.experiment import Bench
from bench.papers.spans_2021 import _common as spans
from bench.papers.spans_2021._common import INDEX, SASH, SINGLE, Cut

TITLE = "Figure 15: the best technique, by event ratio and overlap"
RANGE = 5000
HEIGHTS = ("multilevel_slicing(4)", "multilevel_slicing(15)")
AREAS = ("slicing", "several levels", "sweeping")
NEAR = 0.95


def run(bench: Bench) -> None:
    sizes, factors = bench.pick(((15_000, 5000, 500, 50), (2, 5, 50, 500)), ((5000, 50), (5, 50)))
    shares, slices, whole = {}, {}, {}
    for factor in factors:
        cuts = {size: Cut(spans.synthetic(size, bench.pick(500_000, 3000)), RANGE, RANGE // factor) for size in sizes}
        lines = spans.throughputs(bench, cuts, (*SINGLE, *HEIGHTS, INDEX, SASH), f"range/slide {factor}")
        for size in sizes:
            whole[factor, f"{RANGE / size:.3g}"] = lines[SASH][size] / max(
                line.get(size, 0.0) for name, line in lines.items() if name != SASH
            )
            slices[size, factor] = cuts[size].cells
            shares[size, factor] = _shares({name: line[size] for name, line in lines.items() if size in line})
    for name in AREAS:
        grid = {(factor, f"{RANGE / size:.3g}"): each[name] for (size, factor), each in shares.items() if name in each}
        bench.grid(f"Throughput of {name} over the best", grid, "range/slide", "range/size of events")
    bench.grid(
        "Throughput of whole queries of Sash over the best technique", whole, "range/slide", "range/size of events"
    )
    best = {at: max(each, key=lambda name: each[name]) for at, each in shares.items()}
    head = ["range/size of events", *(f"range/slide {factor}" for factor in factors)]
    bench.table("The best", head, [[RANGE / size, *(best[size, factor] for factor in factors)] for size in sizes])
    _claims(bench, shares, best, slices)


def _shares(values: dict[str, float]) -> dict[str, float]:
    values.pop(SASH, None)
    values["sweeping"] = max(values.get("sweeping", 0.0), values.pop(INDEX, 0.0))
    levels = [values.pop(name) for name in HEIGHTS if name in values]
    found = {**values, **({"several levels": max(levels)} if levels else {})}
    return {name: value / max(found.values()) for name, value in found.items()}


def _claims(bench: Bench, shares: dict, best: dict, slices: dict) -> None:
    points = {
        name: [at for at, each in best.items() if each == name] for name in dict.fromkeys((*AREAS, *best.values()))
    }
    bench.claim(
        "slicing, several levels and sweeping have an area each; buckets are nowhere the best",
        ", ".join(f"{name} at {len(found)}" for name, found in points.items()) + f" of {len(best)} points",
        set(points) == set(AREAS) and all(points.values()),
    )
    easy = min(best)
    hard = max(best)
    bench.claim(
        "slicing is the best where the overlap is small and the event ratio high, as in most use cases",
        f"for events of {easy[0]:,} at range/slide {easy[1]}, it has {shares[easy]['slicing']:.2f} of the best's",
        shares[easy]["slicing"] >= NEAR,
    )
    bench.claim(
        "sweeping is competitive where range and event size are comparable, particularly for high overlaps",
        f"for events of {hard[0]:,} at range/slide {hard[1]}, it has {shares[hard]['sweeping']:.2f} of the best's",
        shares[hard]["sweeping"] >= NEAR,
    )
    clear = [at for at in points["several levels"] if shares[at].get("slicing", 0.0) < NEAR]
    short = [at for at in clear if at[0] < RANGE / at[1]]
    shorter = ", ".join(f"{slices[at]:.2f} ({at[0]:,} at {at[1]})" for at in short)
    bench.claim(
        "several levels are the best for long events, at least as long as slices",
        "the best, and slicing not near: "
        + (", ".join(f"{size:,} at {factor}" for size, factor in clear) or "nowhere"),
        bool(clear) and not short,
        f"events that are shorter are in more slices than one, on average: {shorter}" if short else "",
    )
