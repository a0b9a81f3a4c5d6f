"""What each algorithm can answer, and what it costs: the table the planner chooses from.

A cost is in nanoseconds a row, on one thread, beside the sort that all of them share. ``sash bench --full --only
studies.algorithms`` measures windows that move forward, ``--only holistic_2022`` holistic functions. Adding a kernel is
adding an entry.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import log2, sqrt
from typing import Any

FOLD, SELECT, COUNT, DISTINCT, DISTINCT_FOLD = "fold", "select", "count", "distinct", "distinct fold"
DISTINCT_SELECT, DENSE, MODE, ENTROPY = "distinct select", "dense rank", "mode", "entropy"

SMALL = 64  # rows of a frame that a sorting network takes
SHORT = 1024  # rows of a frame that are looked through one by one


@dataclass(frozen=True)
class Task:
    """One question to all frames of an expression, and what is known of them.

    ``frames`` is how many frames ask, ``rows`` how many rows they lie over, ``widest`` the size of the largest.
    """

    question: str
    frames: int
    rows: int
    shape: str
    holes: bool = False
    widest: int = 0
    aggregate: Any = None
    exact: bool = False
    trailing: bool = False  # one partition, and each frame is the last so many rows
    ordered: bool = True  # whether rows are ranked by something else than the window's order

    @property
    def forward(self) -> bool:
        """Whether all bounds only ever move right."""
        return self.shape != "arbitrary"

    @property
    def height(self) -> float:
        """The height of a binary tree over all rows."""
        return log2(max(self.rows, 2))

    @property
    def levels(self) -> float:
        """The height of a binary tree over the rows of a frame."""
        return log2(max(self.widest, 2))


@dataclass(frozen=True)
class Algorithm:
    """A way to answer a question: why it cannot, or None; what it costs; what it does, in words."""

    name: str
    question: str
    words: str
    cost: Callable[[Task], float]
    refuses: Callable[[Task], str | None] = lambda task: None
    offered: bool = True  # whether it is taken unless named


def _forward(task: Task) -> str | None:
    return None if task.forward else "needs frames that only move forward"


def _whole(task: Task) -> str | None:
    return "needs frames without EXCLUDE" if task.holes else _forward(task)


def _unbroken(task: Task) -> str | None:
    return "needs frames without EXCLUDE" if task.holes else None


def _small(task: Task) -> str | None:
    return None if task.widest <= SMALL else f"needs frames of at most {SMALL} rows, not {task.widest:,}"


def _short(task: Task) -> str | None:
    return None if task.widest <= SHORT else f"needs frames of at most {SHORT:,} rows, not {task.widest:,}"


def _sorting(task: Task) -> float:
    """A network over so many rows; frames that do not move forward are read anew."""
    return (5.0 + task.widest) * (1.0 if task.shape == "constant" else 1.4 if task.forward else 2.5)


def _in_order(task: Task) -> str | None:
    return "needs the window's own order" if task.ordered else None


def _fifo(name: str) -> Callable[[Task], str | None]:
    def refuses(task: Task) -> str | None:
        return _whole(task) or _property(name, task)

    return refuses


def _property(name: str, task: Task) -> str | None:
    needs = {"subtract_on_evict": "invertible", "prefix": "invertible", "slick_deque": "selective",
             "sparse_table": "selective"}.get(name)  # fmt: skip
    if needs == "invertible" and not task.aggregate.invertible:
        return f"needs an invertible aggregate; {task.aggregate.name} has no inverse"
    if needs == "selective" and not task.aggregate.selective:
        return f"needs a selective aggregate; {task.aggregate.name} keeps more than one of its inputs"
    return None


def _prefix(task: Task) -> str | None:
    inexact = None if task.exact else "needs an exact aggregate: no default path subtracts floats"
    return _property("prefix", task) or inexact


ALGORITHMS = (
    # Any associative aggregate
    Algorithm("prefix", FOLD, "differences of running totals",
              lambda t: 12.0 if t.forward else 20.0 + 1.5 * t.levels, _prefix),
    Algorithm("sba", FOLD, "two partial windows that meet at a boundary",
              lambda t: 5.0 if t.trailing else 16.0, _fifo("sba")),
    Algorithm("two_stacks", FOLD, "two stacks of partials", lambda t: 13.0, _fifo("two_stacks")),
    Algorithm("sparse_table", FOLD, "two overlapping ranges of a table of powers of two",
              lambda t: 15.0 + 2.0 * t.levels, lambda t: _property("sparse_table", t)),
    Algorithm("segment_tree", FOLD, "a tree of partials", lambda t: 25.0 + 9.0 * t.levels),
    *(Algorithm(name, FOLD, words, cost, _fifo(name), offered=False)
      for name, words, cost in (
          ("recalc", "each frame folded anew", lambda t: 1.0 + t.widest),
          ("subtract_on_evict", "rows taken away by the inverse", lambda t: 6.0),
          ("daba", "two stacks, with no row that waits", lambda t: 20.0),
          ("flatfat", "a tree of partials in a ring", lambda t: 10.0 + 10.0 * t.levels),
          ("b_int", "partials of intervals of powers of two", lambda t: 10.0 + 10.0 * t.levels),
          ("flatfit", "partials that remember where they end", lambda t: 15.0),
          ("slick_deque", "a deque of candidates", lambda t: 15.0),
          ("slide_side", "two stacks for several ranges", lambda t: 10.0),
          ("pba", "boundary aggregation with a second thread", lambda t: 12.0))),
    # The k-th row by an order
    Algorithm("window_order", SELECT, "a place counted in the window's own order", lambda t: 2.0, _in_order),
    Algorithm("small_frames", SELECT, "each small frame sorted by a network", _sorting, _small),
    Algorithm("block_sort", SELECT, "sorted blocks with bitsets of live rows", lambda t: 25.0, _whole),
    Algorithm("rank_bitset", SELECT, "a bitset of live ranks with a cursor", lambda t: 80.0, _forward),
    Algorithm("wavelet_matrix", SELECT, "a descent through a wavelet matrix", lambda t: 60.0 + 7.5 * t.height),
    Algorithm("merge_sort_tree", SELECT, "a descent through a merge sort tree", lambda t: 100.0 + 60.0 * t.levels),
    Algorithm("sorted_segment_tree", SELECT, "a tree of sorted lists", lambda t: 200.0 + 20.0 * t.levels**2,
              offered=False),
    Algorithm("order_statistic_tree", SELECT, "a counted tree of the frame's rows", lambda t: 28.0 * t.levels,
              _whole, offered=False),
    Algorithm("incremental", SELECT, "the frame's rows kept partly sorted", lambda t: 30.0 + 5.0 * t.widest,
              _whole, offered=False),
    # How many rows come before
    Algorithm("window_order", COUNT, "places counted in the window's own order", lambda t: 2.0, _in_order),
    Algorithm("small_frames", COUNT, "each frame looked through", lambda t: 6.0 + 0.07 * t.widest, _short),
    Algorithm("rank_bitset", COUNT, "a bitset of live ranks", lambda t: 45.0, _forward),
    Algorithm("swept_bitset", COUNT, "a bitset of positions swept over sorted ranks", lambda t: 90.0),
    Algorithm("wavelet_matrix", COUNT, "a descent through a wavelet matrix", lambda t: 60.0 + 7.5 * t.height),
    Algorithm("merge_sort_tree", COUNT, "a descent through a merge sort tree", lambda t: 100.0 + 80.0 * t.levels),
    Algorithm("sorted_segment_tree", COUNT, "a tree of sorted lists", lambda t: 200.0 + 20.0 * t.levels**2,
              offered=False),
    Algorithm("order_statistic_tree", COUNT, "a counted tree of the frame's rows", lambda t: 28.0 * t.levels,
              _whole, offered=False),
    # How many different values
    Algorithm("occurrences", DISTINCT, "previous and next occurrences, in one pass",
              lambda t: 100.0 if t.holes else 9.0, _forward),
    Algorithm("swept_bitset", DISTINCT, "first occurrences, swept over sorted bounds",
              lambda t: 400.0 if t.holes else 70.0),
    Algorithm("merge_sort_tree", DISTINCT, "previous occurrences counted in a merge sort tree",
              lambda t: 100.0 + 70.0 * t.levels, _unbroken),
    Algorithm("incremental", DISTINCT, "a counter for each value", lambda t: 10.0, _whole, offered=False),
    # An aggregate of different values
    Algorithm("occurrences", DISTINCT_FOLD, "previous and next occurrences, in one pass", lambda t: 15.0,
              lambda t: _whole(t) or _prefix(t)),
    Algorithm("swept_segment_tree", DISTINCT_FOLD, "a tree of first occurrences, swept over sorted bounds",
              lambda t: 40.0 + 18.0 * t.levels),
    Algorithm("merge_sort_tree", DISTINCT_FOLD, "a merge sort tree with partials",
              lambda t: 200.0 + 100.0 * t.levels, _unbroken),
    # The k-th different value
    Algorithm("rank_bitset", DISTINCT_SELECT, "a bitset of the ranks of first occurrences", lambda t: 120.0, _whole),
    # Different values that come before
    Algorithm("code_bitset", DENSE, "a bitset of live values", lambda t: 50.0, _forward),
    Algorithm("range_tree", DENSE, "dominance counted by divide and conquer",
              lambda t: 50.0 + 2.0 * t.levels * t.height),
    # How often values occur
    Algorithm("counters", MODE, "a tournament of counters", lambda t: 80.0, _forward),
    Algorithm("range_mode", MODE, "modes of blocks", lambda t: 80.0 + 4.0 * sqrt(t.rows)),
    Algorithm("incremental", MODE, "a counter for each value", lambda t: 30.0, _whole, offered=False),
    Algorithm("counters", ENTROPY, "a counter for each value", lambda t: 25.0, _forward),
    Algorithm("blocks", ENTROPY, "counters moved from block to block", lambda t: 80.0 + 3.0 * sqrt(t.rows)),
)  # fmt: skip

NAMES = tuple(dict.fromkeys(algorithm.name for algorithm in ALGORITHMS))
