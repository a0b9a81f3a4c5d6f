"""The vocabulary: ``from sash import functions as sf``.

Names and signatures are PySpark's where PySpark has the function. A column is a name, or an expression such
as ``sash.col("qty") * sash.col("price")``.

>>> from sash import functions as sf
>>> sf.avg("load"), sf.max_by("trader", "price"), sf.count()
(avg(load), max_by(trader, price), count())
"""

from __future__ import annotations

from typing import Any

from sash.algebra import Call, window_function
from sash.algebra.catalogue import builtin
from sash.algebra.catalogue.declaring import whole
from sash.algebra.catalogue.weighted import SPENT
from sash.errors import SashError
from sash.expressions.columns import Foreign, Order, lit  # noqa: F401, an order is part of the vocabulary
from sash.expressions.orders import (  # noqa: F401, part of the vocabulary
    asc,
    asc_nulls_first,
    asc_nulls_last,
    desc,
    desc_nulls_first,
    desc_nulls_last,
)
from sash.expressions.parsing import as_predicate, parse

Column = Any  # a name, or an expression


_ELSEWHERE = {
    "col": "sash.col",
    "expr": "sash.col, or SQL text in filter",
    "countDistinct": "count_distinct",
    "approx_count_distinct": "count_distinct, which is exact",
    "sumDistinct": "sum_distinct",
    "percentile_approx": "percentile_disc, which is exact",
    "approx_percentile": "percentile_disc, which is exact",
}


def __getattr__(name: str) -> Any:
    hint = f"; use {_ELSEWHERE[name]}" if name in _ELSEWHERE else ""
    raise AttributeError(f"sash.functions has no {name}{hint}")


def _call(name: str, *columns: Column, parameters: tuple[Any, ...] = ()) -> Call:
    return builtin(name, *parameters)(*columns)


def _over_rows(name: str, *columns: Column, parameters: tuple[Any, ...] = ()) -> Call:
    return window_function(name, *parameters)(*columns)


def _nulls(call: Call, ignored: bool | None) -> Call:
    return call.ignore_nulls() if ignored else call


# Counting and adding up


def count(col: Column = "*") -> Call:
    """How many rows there are, or, of a column, how many values that are not NULL."""
    return _call("count") if isinstance(col, str) and col == "*" else _call("count", col)


def count_if(col: Column) -> Call:
    """How many rows a condition holds for."""
    condition = as_predicate(col)
    if isinstance(condition, Foreign):
        return _call("count").filter(col)
    return _call("count", parse(f"case when {condition.key} then true end"))


def max_concurrent() -> Call:
    """Of spans: how many there were at one moment of the window, at most."""
    return _over_rows("max_concurrent")


def covered() -> Call:
    """Of spans: how much of the window's time at least one of them covers, as an interval."""
    return _over_rows("covered")


def time_avg(col: Column) -> Call:
    """Of spans: the average of a column, in which each span weighs as much as the time it spends in the window."""
    return _call("time_avg", col, SPENT)


def count_distinct(col: Column, *cols: Column) -> Call:
    """How many different values, or combinations of values, there are; those with a NULL do not count."""
    return _over_rows("count_distinct", col, *cols)


def sum(col: Column) -> Call:
    """The sum: of integers exactly, raising where it does not fit 64 bits; otherwise as a double."""
    return _call("sum", col)


def sum_distinct(col: Column) -> Call:
    """The sum of the different values."""
    return sum(col).distinct()


def product(col: Column) -> Call:
    """The product, as a double."""
    return _call("product", col)


def avg(col: Column) -> Call:
    """The arithmetic mean."""
    return _call("avg", col)


def mean(col: Column) -> Call:
    """The arithmetic mean: another name of ``avg``."""
    return _call("mean", col)


def geometric_mean(col: Column) -> Call:
    """The geometric mean: 0 where a value is 0, NaN where one is negative."""
    return _call("geometric_mean", col)


# Comparing


def min(col: Column) -> Call:
    """The smallest value; NaN is above every number."""
    return _call("min", col)


def max(col: Column) -> Call:
    """The largest value; NaN is above every number."""
    return _call("max", col)


def min_count(col: Column) -> Call:
    """How often the smallest value occurs."""
    return _call("min_count", col)


def max_count(col: Column) -> Call:
    """How often the largest value occurs."""
    return _call("max_count", col)


def min_by(col: Column, ord: Column) -> Call:
    """The value of ``col`` where ``ord`` is smallest; the first in arrival order on ties."""
    return _call("min_by", col, ord)


def max_by(col: Column, ord: Column) -> Call:
    """The value of ``col`` where ``ord`` is largest; the first in arrival order on ties."""
    return _call("max_by", col, ord)


def arg_min(col: Column, ord: Column) -> Call:
    """The value of ``col`` where ``ord`` is smallest: another name of ``min_by``."""
    return _call("arg_min", col, ord)


def arg_max(col: Column, ord: Column) -> Call:
    """The value of ``col`` where ``ord`` is largest: another name of ``max_by``."""
    return _call("arg_max", col, ord)


def range(col: Column) -> Call:
    """The largest value less the smallest."""
    return _call("range", col)


def any(col: Column) -> Call:
    """Whether some value is true."""
    return _call("any", col)


def some(col: Column) -> Call:
    """Whether some value is true: another name of ``any``."""
    return _call("some", col)


def bool_or(col: Column) -> Call:
    """Whether some value is true: another name of ``any``."""
    return _call("bool_or", col)


def every(col: Column) -> Call:
    """Whether every value is true."""
    return _call("every", col)


def bool_and(col: Column) -> Call:
    """Whether every value is true: another name of ``every``."""
    return _call("bool_and", col)


# Bits


def bit_and(col: Column) -> Call:
    """The bits set in every value."""
    return _call("bit_and", col)


def bit_or(col: Column) -> Call:
    """The bits set in some value."""
    return _call("bit_or", col)


def bit_xor(col: Column) -> Call:
    """The bits set in an odd number of values."""
    return _call("bit_xor", col)


# Spread


def var_pop(col: Column) -> Call:
    """The variance of a population."""
    return _call("var_pop", col)


def var_samp(col: Column) -> Call:
    """The variance of a sample; NULL of one row."""
    return _call("var_samp", col)


def variance(col: Column) -> Call:
    """The variance of a sample: another name of ``var_samp``."""
    return _call("variance", col)


def stddev_pop(col: Column) -> Call:
    """The standard deviation of a population."""
    return _call("stddev_pop", col)


def stddev_samp(col: Column) -> Call:
    """The standard deviation of a sample; NULL of one row."""
    return _call("stddev_samp", col)


def stddev(col: Column) -> Call:
    """The standard deviation of a sample: another name of ``stddev_samp``."""
    return _call("stddev", col)


def std(col: Column) -> Call:
    """The standard deviation of a sample: another name of ``stddev_samp``."""
    return _call("std", col)


def skewness(col: Column) -> Call:
    """The skewness; NULL where the values do not vary."""
    return _call("skewness", col)


def kurtosis(col: Column) -> Call:
    """The excess kurtosis; NULL where the values do not vary."""
    return _call("kurtosis", col)


# Two columns


def covar_pop(col1: Column, col2: Column) -> Call:
    """The covariance of a population."""
    return _call("covar_pop", col1, col2)


def covar_samp(col1: Column, col2: Column) -> Call:
    """The covariance of a sample; NULL of one row."""
    return _call("covar_samp", col1, col2)


def corr(col1: Column, col2: Column) -> Call:
    """Pearson's correlation; NULL where a column does not vary."""
    return _call("corr", col1, col2)


def regr_count(y: Column, x: Column) -> Call:
    """How many pairs there are without a NULL."""
    return _call("regr_count", y, x)


def regr_r2(y: Column, x: Column) -> Call:
    """How well a line fits: the square of the correlation."""
    return _call("regr_r2", y, x)


def regr_slope(y: Column, x: Column) -> Call:
    """The slope of the line fitted to the pairs."""
    return _call("regr_slope", y, x)


def regr_intercept(y: Column, x: Column) -> Call:
    """Where the line fitted to the pairs meets the y axis."""
    return _call("regr_intercept", y, x)


def regr_avgx(y: Column, x: Column) -> Call:
    """The mean of x over the pairs."""
    return _call("regr_avgx", y, x)


def regr_avgy(y: Column, x: Column) -> Call:
    """The mean of y over the pairs."""
    return _call("regr_avgy", y, x)


def regr_sxx(y: Column, x: Column) -> Call:
    """The sum of squared distances of x from its mean."""
    return _call("regr_sxx", y, x)


def regr_syy(y: Column, x: Column) -> Call:
    """The sum of squared distances of y from its mean."""
    return _call("regr_syy", y, x)


def regr_sxy(y: Column, x: Column) -> Call:
    """The sum of products of the distances of x and y from their means."""
    return _call("regr_sxy", y, x)


# Rows as they came


def first(col: Column, ignorenulls: bool = False) -> Call:
    """The value of the first row."""
    return _nulls(_call("first", col), ignorenulls)


def last(col: Column, ignorenulls: bool = False) -> Call:
    """The value of the last row."""
    return _nulls(_call("last", col), ignorenulls)


def any_value(col: Column, ignoreNulls: bool | None = None) -> Call:
    """Some value: that of the first row."""
    return _nulls(_call("any_value", col), ignoreNulls)


def first_n(col: Column, n: int) -> Call:
    """The first ``n`` values, as a list."""
    return _call("first_n", col, parameters=(n,))


def last_n(col: Column, n: int) -> Call:
    """The last ``n`` values, as a list in order of arrival."""
    return _call("last_n", col, parameters=(n,))


def ith_youngest(col: Column, i: int) -> Call:
    """The value of the ``i``-th row from the newest, which is the first."""
    return _call("ith_youngest", col, parameters=(i,))


def collect(col: Column) -> Call:
    """All values, as a list in order of arrival."""
    return _call("collect", col)


def collect_list(col: Column) -> Call:
    """All values, as a list in order of arrival."""
    return _call("collect_list", col)


def array_agg(col: Column) -> Call:
    """All values, as a list in order of arrival."""
    return _call("array_agg", col)


def collect_distinct(col: Column) -> Call:
    """The different values, as a list in order of first arrival."""
    return _call("collect_distinct", col)


def collect_set(col: Column) -> Call:
    """The different values, as a list in order of first arrival."""
    return _call("collect_set", col)


def concat(col: Column, separator: str = "") -> Call:
    """The strings one after the other, in order of arrival."""
    return _call("concat", col, parameters=(separator,))


def listagg(col: Column, delimiter: str = "") -> Call:
    """The strings one after the other, in order of arrival, with a delimiter between them."""
    return _call("listagg", col, parameters=(delimiter,))


def string_agg(col: Column, delimiter: str = "") -> Call:
    """The strings one after the other, in order of arrival, with a delimiter between them."""
    return _call("string_agg", col, parameters=(delimiter,))


# The best few


def ith_smallest(col: Column, i: int) -> Call:
    """The ``i``-th value in ascending order; NULL where there are fewer."""
    return _call("ith_smallest", col, parameters=(i,))


def top_k(col: Column, k: int) -> Call:
    """The ``k`` largest values, the largest first, as a list."""
    return _call("top_k", col, parameters=(k,))


# Sketches


def moment_sketch(col: Column) -> Call:
    """Extremes, counts and sums of powers of the values and their logarithms, as a struct."""
    return _call("moment_sketch", col)


def moment_quantile(col: Column, p: float) -> Call:
    """An estimate of the ``p``-quantile, from a moment sketch."""
    return _call("moment_quantile", col, parameters=(p,))


def bloom_filter(col: Column, bits: int = 512, hashes: int = 4) -> Call:
    """A Bloom filter of the values, as bytes."""
    return _call("bloom_filter", col, parameters=(bits, hashes))


def kll_percentile(col: Column, percentage: Any, k: int = 200) -> Call:
    """About the value at or below which a share of the rows lies, by a KLL sketch; a list of them for several.

    The rank of the answer is off by at most 1.33 % of the rows for ``k`` = 200, with 99 % confidence, and by
    half as much for ``k`` twice as large. Needs ``pip install 'sash[sketches]'``.
    """
    shares = tuple(percentage) if isinstance(percentage, (list, tuple)) else percentage
    return _call("kll_percentile", col, parameters=(shares, k))


def hll_count_distinct(col: Column, lg_k: int = 12) -> Call:
    """About how many different values there are, by a HyperLogLog sketch; a NULL does not count.

    The standard error is 1.6 % for ``lg_k`` = 12, which takes 4 KB, and half as much for ``lg_k`` greater by 2.
    Needs ``pip install 'sash[sketches]'``.
    """
    return _call("hll_count_distinct", col, parameters=(lg_k,))


def frequent_items(col: Column, n: int, lg_k: int = 10) -> Call:
    """The ``n`` most frequent values and about how often each occurs, as a list of structs ``item``, ``count``.

    Counts are off by at most 3.5 / 2^``lg_k`` of the rows, 0.34 % for ``lg_k`` = 10, and exact where there are no
    more different values than 0.75 * 2^``lg_k``. Needs ``pip install 'sash[sketches]'``.
    """
    return _call("frequent_items", col, parameters=(n, lg_k))


# Ranks: of the row, or of the values given, among the rows of the frame


def rank(*values: Column) -> Call:
    """One more than the number of rows that come before; of values, the rank these would have."""
    return _over_rows("rank", *values)


def dense_rank(*values: Column) -> Call:
    """One more than the number of different values that come before."""
    return _over_rows("dense_rank", *values)


def row_number() -> Call:
    """The place of the row, counted from 1; rows that are equal in the order keep the window's."""
    return _over_rows("row_number")


def percent_rank(*values: Column) -> Call:
    """The rank less 1, over the number of rows less 1."""
    return _over_rows("percent_rank", *values)


def cume_dist(*values: Column) -> Call:
    """The share of the rows that do not come after."""
    return _over_rows("cume_dist", *values)


def ntile(n: int) -> Call:
    """The number, from 1, of the ``n`` about equal parts that the row falls into."""
    return _over_rows("ntile", parameters=(whole("n", n),))


# Values of other rows of the frame


def first_value(col: Column, ignoreNulls: bool | None = None) -> Call:
    """The value of the first row of the frame."""
    return _nulls(_over_rows("first_value", col), ignoreNulls)


def last_value(col: Column, ignoreNulls: bool | None = None) -> Call:
    """The value of the last row of the frame."""
    return _nulls(_over_rows("last_value", col), ignoreNulls)


def nth_value(col: Column, offset: int, ignoreNulls: bool | None = False, *, from_last: bool = False) -> Call:
    """The value of the row at a place counted from 1, from the first or from the last row of the frame."""
    return _nulls(_over_rows("nth_value", col, parameters=(whole("offset", offset), from_last)), ignoreNulls)


def lead(col: Column, offset: int = 1, default: Any = None) -> Call:
    """The value so many rows after the row, or the default where there is none."""
    return _over_rows("lead", col, *_default(default), parameters=(_offset(offset),))


def lag(col: Column, offset: int = 1, default: Any = None) -> Call:
    """The value so many rows before the row, or the default where there is none."""
    return _over_rows("lag", col, *_default(default), parameters=(_offset(offset),))


def _default(default: Any) -> list[Any]:
    """A constant, or an expression; a string is a constant here."""
    return [] if default is None else [lit(default) if isinstance(default, str) else default]


def _offset(offset: Any) -> int:
    if isinstance(offset, bool) or not hasattr(offset, "__index__"):
        raise SashError(f"offset must be a whole number, got {offset!r}")
    return int(offset)


# Quantiles


def percentile_disc(col: Column, percentage: Any) -> Call:
    """The first value at or below which a share of the rows lies."""
    return _quantile("percentile_disc", col, percentage)


def percentile_cont(col: Column, percentage: Any) -> Call:
    """The value below which a share of the rows lies, between two of them if need be."""
    return _quantile("percentile_cont", col, percentage)


def percentile(col: Column, percentage: Any, frequency: int = 1) -> Call:
    """The value below which a share of the rows lies: another name of ``percentile_cont``."""
    if frequency != 1:
        raise SashError(f"frequency must be 1: weights are not supported, got {frequency!r}")
    return _quantile("percentile", col, percentage)


def median(col: Column) -> Call:
    """The value in the middle, or the mean of the two."""
    return _over_rows("median", col)


def mad(col: Column) -> Call:
    """The median distance from the median."""
    return _over_rows("mad", col)


def _quantile(name: str, col: Column, percentage: Any) -> Call:
    """A quantile at a share between 0 and 1, at several of them, or at a column's."""
    several = isinstance(percentage, (list, tuple))
    shares = tuple(percentage) if several else (percentage,)
    if not several and (isinstance(percentage, str) or not isinstance(percentage, (int, float))):
        return _over_rows(name, col, percentage)
    for share in shares:
        if isinstance(share, bool) or not isinstance(share, (int, float)) or not 0 <= share <= 1:
            raise SashError(f"percentage must be between 0 and 1, got {share!r}")
    return _over_rows(name, col, parameters=(shares if several else percentage,))


# How often values occur


def mode(col: Column, deterministic: bool = True) -> Call:
    """The value that occurs most often; of several the smallest."""
    return _over_rows("mode", col)


def entropy(col: Column) -> Call:
    """The entropy of the values, in bits."""
    return _over_rows("entropy", col)
