"""Who answers a window call: Sash, or Spark."""

from __future__ import annotations

import difflib
from collections.abc import Callable

from sash.sql.registry import REGISTERED
from sash.sql.syntax import Called, Windowed
from sash.sql.tokens import Source
from sash.sql.vocabulary import FUNCTIONS, known

# what Spark 4 answers over windows as Sash does, if the call has nothing that only Sash understands
RANKS = frozenset("row_number rank dense_rank percent_rank cume_dist ntile lead lag".split())
SPARKS = frozenset(
    """
    count count_if sum avg mean min max any some bool_or every bool_and bit_and bit_or bit_xor var_pop var_samp variance
    stddev_pop stddev_samp stddev std skewness kurtosis collect_list array_agg collect_set min_by max_by covar_pop
    covar_samp corr regr_count regr_r2 regr_slope regr_intercept regr_avgx regr_avgy regr_sxx regr_syy regr_sxy first
    last any_value first_value last_value nth_value lead lag rank dense_rank percent_rank cume_dist row_number ntile
    """.split()
)


def is_ours(source: Source, called: Called, window: Windowed, exists: Callable[[str], bool]) -> bool:
    """Whether Sash answers a call; what it does not know is Spark's, unless Spark cannot say it."""
    if source.word(called.span[0] - 1) == ".":  # a function of some schema
        return False
    if known(called.name):
        return True
    if only_ours(called, window) or not exists(called.name):
        near = difflib.get_close_matches(called.name.lower(), [*FUNCTIONS, *REGISTERED], 1)
        hint = f"; did you mean {near[0]}?" if near else "; sash.register makes one of your own known"
        raise source.error(f"there is no function {called.name} over windows{hint}", called.span[0])
    return False


def is_plain(source: Source, called: Called, window: Windowed) -> bool:
    """Whether Spark answers a call, too."""
    return called.name.lower() in SPARKS and not only_ours(called, window)


def is_left(source: Source, called: Called, window: Windowed) -> bool:
    """Whether Spark answers a call faster itself: without PARTITION BY, and in one pass over the rows in order.

    Sash brings such rows together in pieces, which pays where they are too many for one task
    (``sash bench --full --only studies.spark_sql``).
    """
    if window.partition or called.nulls is not None or not is_plain(source, called, window):
        return False
    if called.condition is not None and source.word(called.condition[0] - 1) != "WHERE":
        return False
    frame = window.frame
    if called.name.lower() in RANKS:
        return frame is None and bool(window.order) and called.condition is None and not called.within
    if frame is None:
        return True
    return frame.start.unbounded and frame.end.span is None and (bool(window.order) or frame.kind == "range")


def only_ours(called: Called, window: Windowed) -> bool:
    """Whether a call has what Spark has no words for."""
    frame = window.frame
    extended = frame is not None and (frame.kind == "groups" or frame.exclude != "no others")
    return extended or called.distinct or bool(called.order and not called.within) or called.from_last
