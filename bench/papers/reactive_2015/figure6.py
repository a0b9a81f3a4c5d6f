"""Figure 6: throughput of re-evaluation and of FlatFAT over window sizes, for Max and StdDev.

The paper measures whole operators of IBM Streams with 32-bit integers: ISS, which folds the window anew for each
answer, and RA. Here the kernels run alone (recalc and flatfat), beside others of Sash and the one that its planner
takes. Two more panels call the window once for each tuple from Python, as a streaming runtime calls an operator. A
point is the fastest of nine rounds.
"""

from __future__ import annotations

from bench.harness.experiment import Bench
from bench.papers.reactive_2015._common import PAPER, chosen, costs, one_by_one, quotient, sliding
from sash.algebra.catalogue import builtin

TITLE = "Figure 6: throughput of re-evaluation and of the reactive aggregator"
BUDGET = 2_000_000  # combines of recalc at a point


def run(bench: Bench) -> None:
    sizes = bench.pick((1, 4, 16, 64, 256, 1024, 4096, 16384), (1, 16, 64, 1024))
    rows, calls = bench.pick(50_000, 2_000), bench.pick(1_000, 100)
    alone, called = {}, {}
    for title, name in PAPER.items():
        aggregate = builtin(name)
        others = ["flatfat", "two_stacks", *(["subtract_on_evict"] if aggregate.invertible else [])]

        def kernels(size, aggregate=aggregate, others=others):
            least = min(rows, max(BUDGET // size, 200)) if bench.full else 200
            return {
                "recalc": sliding(aggregate, size, "recalc", least),
                **{using: sliding(aggregate, size, using, rows) for using in others},
                "the planner": sliding(aggregate, size, chosen(aggregate, size), rows),
            }

        def operators(size, aggregate=aggregate):
            return {using: one_by_one(aggregate, size, using, calls) for using in ("recalc", "flatfat")}

        alone[title] = costs(bench, sizes, kernels, title, bench.pick(9, 3))
        called[title] = costs(bench, sizes, operators, f"{title}, a call a tuple", bench.pick(9, 3))
    for title, panels in ((TITLE, alone), ("Figure 6, with a call from Python for each tuple", called)):
        rates = {panel: _rates(lines) for panel, lines in panels.items()}
        bench.lines(title, rates, "window size", "M tuples/s")
    _claims(bench, alone, called)


def _rates(lines):
    return {name: {size: 1e3 / cost for size, cost in line.items()} for name, line in lines.items()}


def _claims(bench, alone, called):
    speedups = {title: quotient(lines["recalc"], lines["flatfat"]) for title, lines in alone.items()}
    around = {title: quotient(lines["recalc"], lines["flatfat"]) for title, lines in called.items()}
    for title, slower in (("Max", "10 %"), ("StdDev", "5 %")):
        worst, outer = (min(line[size] for size in line if size <= 100) for line in (speedups[title], around[title]))
        bench.claim(
            f"{title}: RA is about {slower} slower on small windows, never more than 10 % on 1 to 100 tuples",
            f"at worst flatfat has {worst:.2f} of recalc's throughput on 1 to 64 tuples",
            worst >= 0.9,
            f"the kernels run alone; with a call from Python for each tuple it is {outer:.2f}",
        )
    for title, faster, least in (("Max", "almost 3x", 2.5), ("StdDev", "over 10x", 10)):
        found = speedups[title][1024]
        bench.claim(
            f"{title}: RA is {faster} faster on windows of 1,024", f"{found:.1f}x", found >= least, _took(alone, title)
        )
    gains = [speedups[title][1024] for title in PAPER]
    bench.claim(
        "the costlier StdDev gains more than Max on windows of 1,024",
        "{:.1f}x for Max, {:.1f}x for StdDev".format(*gains),
        gains[1] > gains[0],
        "; ".join(_took(alone, title) for title in PAPER),
    )


def _took(alone, title):
    """What a tuple takes on windows of 1,024, in words."""
    ours, theirs = (alone[title][using][1024] for using in ("flatfat", "recalc"))
    return f"{title}: recalc takes {theirs / 1023:.2f} ns for each of 1,023 combines, flatfat {ours / 10:.2f} for 10"
