"""Orders of rows by 64-bit keys: sorted, ranked within partitions, and linked where keys are equal."""

from sash.kernels.sorting.occurrences import distinct_codes, occurrences
from sash.kernels.sorting.radix import argsort
from sash.kernels.sorting.ranking import groups, rank_within

__all__ = ["argsort", "distinct_codes", "groups", "occurrences", "rank_within"]
