"""Figure 13 (6.6): the time to build a merge sort tree and ask it for a windowed rank, by fanout and sampling.

One thread, outside the window operator, and a million random integers, as in the paper, which does not say which
frames: here the last 5% of the rows. As there are many shapes, each has three rounds; those with more than 64 pointers
a row are left out. The memory of a tree is that of its arrays.
"""

from __future__ import annotations

from math import ceil, log

import numpy as np

from bench.harness import Bench
from bench.papers.holistic_2022._comparators import threads
from sash.kernels.structures.merge_sort_tree import MergeSortTree

TITLE = "Figure 13: fanout and sampling of a merge sort tree"
FANOUTS, SAMPLINGS = (2, 4, 8, 16, 32, 64, 256), (1, 4, 16, 32, 128, 1024)
PAPER = {(16, 4): 1.0, (32, 32): 1.18, (2, 32): 1.61, (256, 32): 2.26, (32, 1024): 1.67}  # times over that of 16/4


def run(bench: Bench) -> None:
    rows = bench.pick(1_000_000, 4_000)
    fanouts, samplings = bench.pick((FANOUTS, SAMPLINGS), ((2, 16, 32, 256), (4, 32, 1024)))
    values = np.random.default_rng(0).permutation(rows).astype(np.int32)
    hi = np.arange(1, rows + 1, dtype=np.int32)
    lo = np.maximum(hi - rows // 20, 0)
    answers = set()

    def rank(fanout: int, sampling: int) -> None:
        answers.add(int(MergeSortTree(values, fanout, sampling).count(lo, hi, values).sum(dtype=np.int64)))

    shapes = [(f, k) for f in fanouts for k in samplings if f / k <= 64]
    with threads(1):
        timings = bench.measure({f"{f}/{k}": lambda f=f, k=k: rank(f, k) for f, k in shapes}, repeat=bench.pick(3, 2))
    if len(answers) != 1:
        raise AssertionError("the shape of a tree must not change its answers")
    times = {(f, k): timings[f"{f}/{k}"].median for f, k in shapes}
    grid = {(k, f): 1000 * seconds for (f, k), seconds in times.items()}
    bench.grid(f"Milliseconds to build and ask, {rows:,} rows", grid, "sampling of pointers", "fanout")
    claims(bench, times, rows)
    memory(bench, values)


def claims(bench: Bench, times: dict[tuple[int, int], float], rows: int) -> None:
    best = min(times, key=times.__getitem__)
    over = {shape: times[shape] / times[best] for shape in PAPER}
    layers = [", ".join(str(levels(count, fanout)) for fanout in (16, 32, 64, 256)) for count in (rows, 1_000_000)]
    why = f"{rows:,} rows are {layers[0]} levels of fanout 16, 32, 64, 256; the paper's million {layers[1]}"
    least, far = over[16, 4] < 1.15 and over[32, 32] < 1.5, min(over[shape] for shape in list(PAPER)[2:]) > 1.25
    said = {shape: f"{shape[0]}/{shape[1]} {ratio:.2f}" for shape, ratio in over.items()}
    bench.claim(
        "fanout 16 with sampling 4 takes the least time, 32/32 1.18 times that",
        f"{best[0]}/{best[1]} takes the least; over that {said[16, 4]}, {said[32, 32]}",
        least,
        "" if least else why,
    )
    extremes = list(PAPER)[2:]
    bench.claim(
        "far from there it takes longer: " + ", ".join(f"{f}/{k} {PAPER[f, k]}" for f, k in extremes) + " times",
        ", ".join(said[shape] for shape in extremes),
        far,
        "" if far else why,
    )


def memory(bench: Bench, values: np.ndarray) -> None:
    """Bytes of trees, beside the values, against the paper's formula (5.1)."""
    rows = len(values)
    found = {shape: MergeSortTree(values, *shape).nbytes / rows for shape in ((16, 4), (32, 32))}
    for (f, k), size in found.items():
        bench.record(f"bytes a row of {f}/{k}", size, "bytes")
    expected = {shape: 4 * elements(rows, *shape) / rows for shape in found}
    bench.claim(
        "at 100 million rows 16/4 takes 12.4 GB and 32/32 4.4 GB, by ⌈log_f n⌉ n + (⌈log_f n⌉ - 1) n f/k integers",
        f"at {rows:,} rows "
        + ", ".join(
            f"{f}/{k} takes {found[f, k]:.1f} bytes a row, by the formula {expected[f, k]:.1f}" for f, k in found
        ),
        all(abs(found[shape] / expected[shape] - 1) < 0.1 for shape in found),
    )


def elements(rows: int, fanout: int, sampling: int) -> float:
    layers = levels(rows, fanout)
    return layers * rows + (layers - 1) * rows * fanout / sampling


def levels(rows: int, fanout: int) -> int:
    return ceil(log(rows) / log(fanout))
