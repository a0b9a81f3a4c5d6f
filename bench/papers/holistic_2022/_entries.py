"""The rows of Table 1: which kernel answers what, its bounds, and random rows to ask it of."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from bench.papers.holistic_2022._comparators import sum_distinct
from bench.papers.holistic_2022._counting import Steps
from sash import functions as sf
from sash.kernels.operations import incremental
from sash.kernels.sorting import distinct_codes, occurrences
from sash.kernels.structures import merge_sort_tree, order_statistic_tree, sorted_segment_tree
from sash.kernels.structures.merge_sort_annotated import fold_annotated
from sash.kernels.structures.ranked import Ranked
from sash.windows.bounds import MONOTONIC, Bounds


class Rows(NamedTuple):
    """Random rows with the default frame: ranked, and with the previous occurrence of each of n / 4 values."""

    ranked: Ranked
    bounds: Bounds
    k: np.ndarray
    values: np.ndarray
    previous: np.ndarray
    codes: np.ndarray
    distinct: int


def made(n: int) -> Rows:
    any_of, segments = np.random.default_rng(n), np.array([0, n], np.int64)
    order = any_of.permutation(n).astype(np.int32)
    rank = np.empty_like(order)
    rank[order] = np.arange(n, dtype=np.int32)
    at, values = np.arange(n, dtype=np.int32), any_of.integers(0, n // 4, n)
    keys = values.astype(np.uint64)
    bounds = Bounds(np.zeros_like(at), at + np.int32(1), n, MONOTONIC)
    return Rows(
        Ranked(order, rank, segments), bounds, at // 2, values, occurrences(keys, segments)[0],
        *distinct_codes(keys, segments),
    )  # fmt: skip


class Entry(NamedTuple):
    """A row of the table; ``ask`` runs the kernel, with the steps to count where it counts its own."""

    aggregate: str
    algorithm: str
    time: str
    space: str
    parallel: bool | None
    ask: Callable[[Rows, Steps | None], Any]
    module: Any = None

    @property
    def name(self) -> str:
        return f"{self.aggregate} by {self.algorithm}"


def summed(rows: Rows, steps: Steps | None) -> Any:
    """The distinct sum; where steps are counted, by an aggregate in Python."""
    call = sf.sum("x") if steps is None else steps.total()("x")
    return fold_annotated(call, (rows.values,), rows.previous, rows.bounds)


def selecting(module: Any) -> Callable[[Rows, Steps | None], Any]:
    return lambda rows, steps: module.select(rows.ranked, rows.bounds, rows.k, False)


def counting(module: Any) -> Callable[[Rows, Steps | None], Any]:
    return lambda rows, steps: module.count_below(rows.ranked, rows.bounds, rows.ranked.rank)


LOG = "n log n"
ENTRIES = (
    Entry("distinct count", "incremental", "n", "n", False,
          lambda rows, steps: incremental.count_distinct(rows.codes, rows.bounds, rows.distinct)),
    Entry("distinct count", "merge_sort_tree", LOG, LOG, True,
          lambda rows, steps: merge_sort_tree.count_previous(rows.previous, rows.bounds)),
    Entry("distinct sum", "naive", "n²", "n", None,
          lambda rows, steps: sum_distinct(rows.values, rows.previous, rows.bounds)),
    Entry("distinct sum", "merge_sort_tree", LOG, LOG, True, summed),
    Entry("percentile", "incremental", "n²", "n", False, selecting(incremental), incremental),
    Entry("percentile", "sorted_segment_tree", "n (log n)²", LOG, True, selecting(sorted_segment_tree)),
    Entry("percentile", "order_statistic_tree", LOG, LOG, False, selecting(order_statistic_tree)),
    Entry("percentile", "merge_sort_tree", LOG, LOG, True, selecting(merge_sort_tree)),
    Entry("rank", "order_statistic_tree", LOG, LOG, False, counting(order_statistic_tree)),
    Entry("rank", "merge_sort_tree", LOG, LOG, True, counting(merge_sort_tree)),
)  # fmt: skip
