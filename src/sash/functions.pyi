"""The vocabulary, as editors and type checkers see it. Made by docs/stub.py from the catalogue."""

from typing import Any, TypeAlias

from sash.algebra import Call as Call
from sash.algebra.catalogue.declaring import Function
from sash.expressions.columns import Order as Order
from sash.expressions.orders import asc as asc
from sash.expressions.orders import asc_nulls_first as asc_nulls_first
from sash.expressions.orders import asc_nulls_last as asc_nulls_last
from sash.expressions.orders import desc as desc
from sash.expressions.orders import desc_nulls_first as desc_nulls_first
from sash.expressions.orders import desc_nulls_last as desc_nulls_last

Column: TypeAlias = Any  # a name, or an expression

def call_of(declared: Function, given: dict[str, Any]) -> Call: ...
def count(col: Column = "*") -> Call:
    """How many rows there are, or, of a column, how many values that are not NULL.

    Args:
        col: a column, or ``"*"`` for the rows themselves; ``'*'`` unless given.

    In Python: ``sf.count("x").over(window)``

    In SQL: ``count(*)``
    """

def count_if(col: Column) -> Call:
    """How many rows a condition holds for.

    Args:
        col: what holds for a row or does not: Spark SQL such as ``"qty > 0"``, or an expression.

    Rows where ``col`` is NULL do not count; where no other row is left, the answer is 0.

    In Python: ``sf.count_if("x > 0").over(window)``

    In SQL: ``count_if(up)``
    """

def count_distinct(col: Column, *cols: Column) -> Call:
    """How many different values, or combinations of values, there are; those with a NULL do not count.

    Args:
        col: a column by its name, or an expression such as ``sash.col("qty") * 2``.
        *cols: columns by their names, or expressions.

    Rows where one of the columns is NULL do not count; where no other row is left, the answer is 0.

    In Python: ``sf.count_distinct("x").over(window)``
    """

def sum(col: Column) -> Call:
    """The sum: of integers exactly, raising where it does not fit 64 bits; otherwise as a double.

    Args:
        col: a column by its name, or an expression such as ``sash.col("qty") * 2``.

    Rows where ``col`` is NULL do not count; where no other row is left, the answer is NULL.

    In Python: ``sf.sum("x").over(window)``

    In SQL: ``sum(qty)``
    """

def sum_distinct(col: Column) -> Call:
    """The sum of the different values.

    Args:
        col: a column by its name, or an expression such as ``sash.col("qty") * 2``.

    Rows where ``col`` is NULL do not count; where no other row is left, the answer is NULL.

    In Python: ``sf.sum_distinct("x").over(window)``
    """

def product(col: Column) -> Call:
    """The product, as a double.

    Args:
        col: a column by its name, or an expression such as ``sash.col("qty") * 2``.

    Rows where ``col`` is NULL do not count; where no other row is left, the answer is NULL.

    In Python: ``sf.product("x").over(window)``

    In SQL: ``product(qty)``
    """

def avg(col: Column) -> Call:
    """The arithmetic mean.

    Args:
        col: a column by its name, or an expression such as ``sash.col("qty") * 2``.

    Rows where ``col`` is NULL do not count; where no other row is left, the answer is NULL.

    In Python: ``sf.avg("x").over(window)``

    In SQL: ``avg(price)``
    """

def mean(col: Column) -> Call:
    """The arithmetic mean: another name of ``avg``.

    Args:
        col: a column by its name, or an expression such as ``sash.col("qty") * 2``.

    Rows where ``col`` is NULL do not count; where no other row is left, the answer is NULL.

    In Python: ``sf.mean("x").over(window)``

    In SQL: ``mean(price)``
    """

def geometric_mean(col: Column) -> Call:
    """The geometric mean: 0 where a value is 0, NaN where one is negative.

    Args:
        col: a column by its name, or an expression such as ``sash.col("qty") * 2``.

    Rows where ``col`` is NULL do not count; where no other row is left, the answer is NULL.

    In Python: ``sf.geometric_mean("x").over(window)``

    In SQL: ``geometric_mean(price)``
    """

def min(col: Column) -> Call:
    """The smallest value; NaN is above every number.

    Args:
        col: a column by its name, or an expression such as ``sash.col("qty") * 2``.

    Rows where ``col`` is NULL do not count; where no other row is left, the answer is NULL.

    In Python: ``sf.min("x").over(window)``

    In SQL: ``min(price)``
    """

def max(col: Column) -> Call:
    """The largest value; NaN is above every number.

    Args:
        col: a column by its name, or an expression such as ``sash.col("qty") * 2``.

    Rows where ``col`` is NULL do not count; where no other row is left, the answer is NULL.

    In Python: ``sf.max("x").over(window)``

    In SQL: ``max(price)``
    """

def min_count(col: Column) -> Call:
    """How often the smallest value occurs.

    Args:
        col: a column by its name, or an expression such as ``sash.col("qty") * 2``.

    Rows where ``col`` is NULL do not count; where no other row is left, the answer is NULL.

    In Python: ``sf.min_count("x").over(window)``

    In SQL: ``min_count(price)``
    """

def max_count(col: Column) -> Call:
    """How often the largest value occurs.

    Args:
        col: a column by its name, or an expression such as ``sash.col("qty") * 2``.

    Rows where ``col`` is NULL do not count; where no other row is left, the answer is NULL.

    In Python: ``sf.max_count("x").over(window)``

    In SQL: ``max_count(price)``
    """

def min_by(col: Column, ord: Column) -> Call:
    """The value of ``col`` where ``ord`` is smallest; the first in arrival order on ties.

    Args:
        col: a column by its name, or an expression such as ``sash.col("qty") * 2``.
        ord: a column by its name, or an expression such as ``sash.col("qty") * 2``.

    Rows where ``ord`` is NULL do not count.

    In Python: ``sf.min_by("x", "y").over(window)``

    In SQL: ``min_by(trader, price)``
    """

def max_by(col: Column, ord: Column) -> Call:
    """The value of ``col`` where ``ord`` is largest; the first in arrival order on ties.

    Args:
        col: a column by its name, or an expression such as ``sash.col("qty") * 2``.
        ord: a column by its name, or an expression such as ``sash.col("qty") * 2``.

    Rows where ``ord`` is NULL do not count.

    In Python: ``sf.max_by("x", "y").over(window)``

    In SQL: ``max_by(trader, price)``
    """

def arg_min(col: Column, ord: Column) -> Call:
    """The value of ``col`` where ``ord`` is smallest: another name of ``min_by``.

    Args:
        col: a column by its name, or an expression such as ``sash.col("qty") * 2``.
        ord: a column by its name, or an expression such as ``sash.col("qty") * 2``.

    Rows where ``ord`` is NULL do not count.

    In Python: ``sf.arg_min("x", "y").over(window)``

    In SQL: ``arg_min(trader, price)``
    """

def arg_max(col: Column, ord: Column) -> Call:
    """The value of ``col`` where ``ord`` is largest: another name of ``max_by``.

    Args:
        col: a column by its name, or an expression such as ``sash.col("qty") * 2``.
        ord: a column by its name, or an expression such as ``sash.col("qty") * 2``.

    Rows where ``ord`` is NULL do not count.

    In Python: ``sf.arg_max("x", "y").over(window)``

    In SQL: ``arg_max(trader, price)``
    """

def range(col: Column) -> Call:
    """The largest value less the smallest.

    Args:
        col: a column by its name, or an expression such as ``sash.col("qty") * 2``.

    Rows where ``col`` is NULL do not count; where no other row is left, the answer is NULL.

    In Python: ``sf.range("x").over(window)``

    In SQL: ``range(price)``
    """

def any(col: Column) -> Call:
    """Whether some value is true.

    Args:
        col: a column by its name, or an expression such as ``sash.col("qty") * 2``.

    Rows where ``col`` is NULL do not count; where no other row is left, the answer is NULL.

    In Python: ``sf.any("x").over(window)``

    In SQL: ``any(up)``
    """

def some(col: Column) -> Call:
    """Whether some value is true: another name of ``any``.

    Args:
        col: a column by its name, or an expression such as ``sash.col("qty") * 2``.

    Rows where ``col`` is NULL do not count; where no other row is left, the answer is NULL.

    In Python: ``sf.some("x").over(window)``

    In SQL: ``some(up)``
    """

def bool_or(col: Column) -> Call:
    """Whether some value is true: another name of ``any``.

    Args:
        col: a column by its name, or an expression such as ``sash.col("qty") * 2``.

    Rows where ``col`` is NULL do not count; where no other row is left, the answer is NULL.

    In Python: ``sf.bool_or("x").over(window)``

    In SQL: ``bool_or(up)``
    """

def every(col: Column) -> Call:
    """Whether every value is true.

    Args:
        col: a column by its name, or an expression such as ``sash.col("qty") * 2``.

    Rows where ``col`` is NULL do not count; where no other row is left, the answer is NULL.

    In Python: ``sf.every("x").over(window)``

    In SQL: ``every(up)``
    """

def bool_and(col: Column) -> Call:
    """Whether every value is true: another name of ``every``.

    Args:
        col: a column by its name, or an expression such as ``sash.col("qty") * 2``.

    Rows where ``col`` is NULL do not count; where no other row is left, the answer is NULL.

    In Python: ``sf.bool_and("x").over(window)``

    In SQL: ``bool_and(up)``
    """

def bit_and(col: Column) -> Call:
    """The bits set in every value.

    Args:
        col: a column by its name, or an expression such as ``sash.col("qty") * 2``.

    Rows where ``col`` is NULL do not count; where no other row is left, the answer is NULL.

    In Python: ``sf.bit_and("x").over(window)``

    In SQL: ``bit_and(qty)``
    """

def bit_or(col: Column) -> Call:
    """The bits set in some value.

    Args:
        col: a column by its name, or an expression such as ``sash.col("qty") * 2``.

    Rows where ``col`` is NULL do not count; where no other row is left, the answer is NULL.

    In Python: ``sf.bit_or("x").over(window)``

    In SQL: ``bit_or(qty)``
    """

def bit_xor(col: Column) -> Call:
    """The bits set in an odd number of values.

    Args:
        col: a column by its name, or an expression such as ``sash.col("qty") * 2``.

    Rows where ``col`` is NULL do not count; where no other row is left, the answer is NULL.

    In Python: ``sf.bit_xor("x").over(window)``

    In SQL: ``bit_xor(qty)``
    """

def var_pop(col: Column) -> Call:
    """The variance of a population.

    Args:
        col: a column by its name, or an expression such as ``sash.col("qty") * 2``.

    Rows where ``col`` is NULL do not count; where no other row is left, the answer is NULL.

    In Python: ``sf.var_pop("x").over(window)``

    In SQL: ``var_pop(price)``
    """

def var_samp(col: Column) -> Call:
    """The variance of a sample; NULL of one row.

    Args:
        col: a column by its name, or an expression such as ``sash.col("qty") * 2``.

    Rows where ``col`` is NULL do not count; where no other row is left, the answer is NULL.

    In Python: ``sf.var_samp("x").over(window)``

    In SQL: ``var_samp(price)``
    """

def variance(col: Column) -> Call:
    """The variance of a sample: another name of ``var_samp``.

    Args:
        col: a column by its name, or an expression such as ``sash.col("qty") * 2``.

    Rows where ``col`` is NULL do not count; where no other row is left, the answer is NULL.

    In Python: ``sf.variance("x").over(window)``

    In SQL: ``variance(price)``
    """

def stddev_pop(col: Column) -> Call:
    """The standard deviation of a population.

    Args:
        col: a column by its name, or an expression such as ``sash.col("qty") * 2``.

    Rows where ``col`` is NULL do not count; where no other row is left, the answer is NULL.

    In Python: ``sf.stddev_pop("x").over(window)``

    In SQL: ``stddev_pop(price)``
    """

def stddev_samp(col: Column) -> Call:
    """The standard deviation of a sample; NULL of one row.

    Args:
        col: a column by its name, or an expression such as ``sash.col("qty") * 2``.

    Rows where ``col`` is NULL do not count; where no other row is left, the answer is NULL.

    In Python: ``sf.stddev_samp("x").over(window)``

    In SQL: ``stddev_samp(price)``
    """

def stddev(col: Column) -> Call:
    """The standard deviation of a sample: another name of ``stddev_samp``.

    Args:
        col: a column by its name, or an expression such as ``sash.col("qty") * 2``.

    Rows where ``col`` is NULL do not count; where no other row is left, the answer is NULL.

    In Python: ``sf.stddev("x").over(window)``

    In SQL: ``stddev(price)``
    """

def std(col: Column) -> Call:
    """The standard deviation of a sample: another name of ``stddev_samp``.

    Args:
        col: a column by its name, or an expression such as ``sash.col("qty") * 2``.

    Rows where ``col`` is NULL do not count; where no other row is left, the answer is NULL.

    In Python: ``sf.std("x").over(window)``

    In SQL: ``std(price)``
    """

def skewness(col: Column) -> Call:
    """The skewness; NULL where the values do not vary.

    Args:
        col: a column by its name, or an expression such as ``sash.col("qty") * 2``.

    Rows where ``col`` is NULL do not count; where no other row is left, the answer is NULL.

    In Python: ``sf.skewness("x").over(window)``

    In SQL: ``skewness(price)``
    """

def kurtosis(col: Column) -> Call:
    """The excess kurtosis; NULL where the values do not vary.

    Args:
        col: a column by its name, or an expression such as ``sash.col("qty") * 2``.

    Rows where ``col`` is NULL do not count; where no other row is left, the answer is NULL.

    In Python: ``sf.kurtosis("x").over(window)``

    In SQL: ``kurtosis(price)``
    """

def covar_pop(col1: Column, col2: Column) -> Call:
    """The covariance of a population.

    Args:
        col1: a column by its name, or an expression such as ``sash.col("qty") * 2``.
        col2: a column by its name, or an expression such as ``sash.col("qty") * 2``.

    Rows where one of the columns is NULL do not count; where no other row is left, the answer is NULL.

    In Python: ``sf.covar_pop("x", "y").over(window)``

    In SQL: ``covar_pop(price, qty)``
    """

def covar_samp(col1: Column, col2: Column) -> Call:
    """The covariance of a sample; NULL of one row.

    Args:
        col1: a column by its name, or an expression such as ``sash.col("qty") * 2``.
        col2: a column by its name, or an expression such as ``sash.col("qty") * 2``.

    Rows where one of the columns is NULL do not count; where no other row is left, the answer is NULL.

    In Python: ``sf.covar_samp("x", "y").over(window)``

    In SQL: ``covar_samp(price, qty)``
    """

def corr(col1: Column, col2: Column) -> Call:
    """Pearson's correlation; NULL where a column does not vary.

    Args:
        col1: a column by its name, or an expression such as ``sash.col("qty") * 2``.
        col2: a column by its name, or an expression such as ``sash.col("qty") * 2``.

    Rows where one of the columns is NULL do not count; where no other row is left, the answer is NULL.

    In Python: ``sf.corr("x", "y").over(window)``

    In SQL: ``corr(price, qty)``
    """

def regr_count(y: Column, x: Column) -> Call:
    """How many pairs there are without a NULL.

    Args:
        y: a column by its name, or an expression such as ``sash.col("qty") * 2``.
        x: a column by its name, or an expression such as ``sash.col("qty") * 2``.

    Rows where one of the columns is NULL do not count; where no other row is left, the answer is 0.

    In Python: ``sf.regr_count("x", "y").over(window)``

    In SQL: ``regr_count(price, qty)``
    """

def regr_r2(y: Column, x: Column) -> Call:
    """How well a line fits: the square of the correlation.

    Args:
        y: a column by its name, or an expression such as ``sash.col("qty") * 2``.
        x: a column by its name, or an expression such as ``sash.col("qty") * 2``.

    Rows where one of the columns is NULL do not count; where no other row is left, the answer is NULL.

    In Python: ``sf.regr_r2("x", "y").over(window)``

    In SQL: ``regr_r2(price, n)``
    """

def regr_slope(y: Column, x: Column) -> Call:
    """The slope of the line fitted to the pairs.

    Args:
        y: a column by its name, or an expression such as ``sash.col("qty") * 2``.
        x: a column by its name, or an expression such as ``sash.col("qty") * 2``.

    Rows where one of the columns is NULL do not count; where no other row is left, the answer is NULL.

    In Python: ``sf.regr_slope("x", "y").over(window)``

    In SQL: ``regr_slope(price, n)``
    """

def regr_intercept(y: Column, x: Column) -> Call:
    """Where the line fitted to the pairs meets the y axis.

    Args:
        y: a column by its name, or an expression such as ``sash.col("qty") * 2``.
        x: a column by its name, or an expression such as ``sash.col("qty") * 2``.

    Rows where one of the columns is NULL do not count; where no other row is left, the answer is NULL.

    In Python: ``sf.regr_intercept("x", "y").over(window)``

    In SQL: ``regr_intercept(price, n)``
    """

def regr_avgx(y: Column, x: Column) -> Call:
    """The mean of x over the pairs.

    Args:
        y: a column by its name, or an expression such as ``sash.col("qty") * 2``.
        x: a column by its name, or an expression such as ``sash.col("qty") * 2``.

    Rows where one of the columns is NULL do not count; where no other row is left, the answer is NULL.

    In Python: ``sf.regr_avgx("x", "y").over(window)``

    In SQL: ``regr_avgx(price, qty)``
    """

def regr_avgy(y: Column, x: Column) -> Call:
    """The mean of y over the pairs.

    Args:
        y: a column by its name, or an expression such as ``sash.col("qty") * 2``.
        x: a column by its name, or an expression such as ``sash.col("qty") * 2``.

    Rows where one of the columns is NULL do not count; where no other row is left, the answer is NULL.

    In Python: ``sf.regr_avgy("x", "y").over(window)``

    In SQL: ``regr_avgy(price, qty)``
    """

def regr_sxx(y: Column, x: Column) -> Call:
    """The sum of squared distances of x from its mean.

    Args:
        y: a column by its name, or an expression such as ``sash.col("qty") * 2``.
        x: a column by its name, or an expression such as ``sash.col("qty") * 2``.

    Rows where one of the columns is NULL do not count; where no other row is left, the answer is NULL.

    In Python: ``sf.regr_sxx("x", "y").over(window)``

    In SQL: ``regr_sxx(price, n)``
    """

def regr_syy(y: Column, x: Column) -> Call:
    """The sum of squared distances of y from its mean.

    Args:
        y: a column by its name, or an expression such as ``sash.col("qty") * 2``.
        x: a column by its name, or an expression such as ``sash.col("qty") * 2``.

    Rows where one of the columns is NULL do not count; where no other row is left, the answer is NULL.

    In Python: ``sf.regr_syy("x", "y").over(window)``

    In SQL: ``regr_syy(price, n)``
    """

def regr_sxy(y: Column, x: Column) -> Call:
    """The sum of products of the distances of x and y from their means.

    Args:
        y: a column by its name, or an expression such as ``sash.col("qty") * 2``.
        x: a column by its name, or an expression such as ``sash.col("qty") * 2``.

    Rows where one of the columns is NULL do not count; where no other row is left, the answer is NULL.

    In Python: ``sf.regr_sxy("x", "y").over(window)``

    In SQL: ``regr_sxy(price, n)``
    """

def ewm_avg(col: Column, half_life: Any, by: Column | None = None) -> Call:
    """The exponentially weighted average: a row weighs half as much as one that is ``half_life`` newer.

    ``half_life`` is a number of rows that count, or an interval such as ``5 minutes`` by time. Time is the
    first key of the window's order, on streams their ``time``, or ``by``; with ``by`` it may be a number, too.

    Args:
        col: a column by its name, or an expression such as ``sash.col("qty") * 2``.
        half_life: a distance in the window's order: a number, an interval such as ``"30 minutes"``, or a column.
        by: a column by its name, or an expression such as ``sash.col("qty") * 2``, or None; ``None`` unless given.

    In Python: ``sf.ewm_avg("x", 2).over(window)``

    In SQL: ``ewm_avg(price, 2)``
    """

def time_weighted_avg(col: Column, method: str = "previous", by: Column | None = None) -> Call:
    """The average over the time from the first row to the last: each value counts for as long as it holds.

    With ``method="previous"`` a value holds until the next row; with ``"linear"`` values go from row to row in
    a straight line. Time is the first key of the window's order, on streams their ``time``, or ``by``.

    Args:
        col: a column by its name, or an expression such as ``sash.col("qty") * 2``.
        method: a constant: a text; ``'previous'`` unless given.
        by: a column by its name, or an expression such as ``sash.col("qty") * 2``, or None; ``None`` unless given.

    In Python: ``sf.time_weighted_avg("x").over(window)``

    In SQL: ``time_weighted_avg(price)``
    """

def interpolate(col: Column, by: Column | None = None) -> Call:
    """The value, or where it is NULL that of the straight line from the last known row to the next.

    NULL before the first known row and after the last one. All rows of the partition are looked at, whatever
    the frame, as by ``lead`` and ``lag``. The line is over the first key of the window's order, or over ``by``.

    Args:
        col: a column by its name, or an expression such as ``sash.col("qty") * 2``.
        by: a column by its name, or an expression such as ``sash.col("qty") * 2``, or None; ``None`` unless given.

    In Python: ``sf.interpolate("x").over(window)``

    In SQL: ``interpolate(qty)``
    """

def first(col: Column, ignorenulls: bool = False) -> Call:
    """The value of the first row.

    Args:
        col: a column by its name, or an expression such as ``sash.col("qty") * 2``.
        ignorenulls: whether NULLs are passed over; ``False`` unless given.

    NULLs are values like others; ``ignorenulls=True`` passes over them.

    In Python: ``sf.first("x").over(window)``

    In SQL: ``first(qty)``
    """

def last(col: Column, ignorenulls: bool = False) -> Call:
    """The value of the last row.

    Args:
        col: a column by its name, or an expression such as ``sash.col("qty") * 2``.
        ignorenulls: whether NULLs are passed over; ``False`` unless given.

    NULLs are values like others; ``ignorenulls=True`` passes over them.

    In Python: ``sf.last("x").over(window)``

    In SQL: ``last(qty)``
    """

def any_value(col: Column, ignoreNulls: bool | None = None) -> Call:
    """Some value: that of the first row.

    Args:
        col: a column by its name, or an expression such as ``sash.col("qty") * 2``.
        ignoreNulls: whether NULLs are passed over; ``None`` unless given.

    NULLs are values like others; ``ignoreNulls=True`` passes over them.

    In Python: ``sf.any_value("x").over(window)``

    In SQL: ``any_value(sym)``
    """

def first_n(col: Column, n: int) -> Call:
    """The first ``n`` values, as a list.

    Args:
        col: a column by its name, or an expression such as ``sash.col("qty") * 2``.
        n: a constant: a whole number.

    Rows where ``col`` is NULL do not count; where no other row is left, the answer is an empty list.

    In Python: ``sf.first_n("x", 2).over(window)``

    In SQL: ``first_n(price, 2)``
    """

def last_n(col: Column, n: int) -> Call:
    """The last ``n`` values, as a list in order of arrival.

    Args:
        col: a column by its name, or an expression such as ``sash.col("qty") * 2``.
        n: a constant: a whole number.

    Rows where ``col`` is NULL do not count; where no other row is left, the answer is an empty list.

    In Python: ``sf.last_n("x", 2).over(window)``

    In SQL: ``last_n(price, 2)``
    """

def ith_youngest(col: Column, i: int) -> Call:
    """The value of the ``i``-th row from the newest, which is the first.

    Args:
        col: a column by its name, or an expression such as ``sash.col("qty") * 2``.
        i: a constant: a whole number.

    NULLs are values like others.

    In Python: ``sf.ith_youngest("x", 2).over(window)``

    In SQL: ``ith_youngest(price, 2)``
    """

def collect(col: Column) -> Call:
    """All values, as a list in order of arrival.

    Args:
        col: a column by its name, or an expression such as ``sash.col("qty") * 2``.

    Rows where ``col`` is NULL do not count; where no other row is left, the answer is an empty list.

    In Python: ``sf.collect("x").over(window)``

    In SQL: ``collect(qty)``
    """

def collect_list(col: Column) -> Call:
    """All values, as a list in order of arrival.

    Args:
        col: a column by its name, or an expression such as ``sash.col("qty") * 2``.

    Rows where ``col`` is NULL do not count; where no other row is left, the answer is an empty list.

    In Python: ``sf.collect_list("x").over(window)``

    In SQL: ``collect_list(qty)``
    """

def array_agg(col: Column) -> Call:
    """All values, as a list in order of arrival.

    Args:
        col: a column by its name, or an expression such as ``sash.col("qty") * 2``.

    Rows where ``col`` is NULL do not count; where no other row is left, the answer is an empty list.

    In Python: ``sf.array_agg("x").over(window)``

    In SQL: ``array_agg(qty)``
    """

def collect_distinct(col: Column) -> Call:
    """The different values, as a list in order of first arrival.

    Args:
        col: a column by its name, or an expression such as ``sash.col("qty") * 2``.

    Rows where ``col`` is NULL do not count; where no other row is left, the answer is an empty list.

    In Python: ``sf.collect_distinct("x").over(window)``

    In SQL: ``collect_distinct(sym)``
    """

def collect_set(col: Column) -> Call:
    """The different values, as a list in order of first arrival.

    Args:
        col: a column by its name, or an expression such as ``sash.col("qty") * 2``.

    Rows where ``col`` is NULL do not count; where no other row is left, the answer is an empty list.

    In Python: ``sf.collect_set("x").over(window)``

    In SQL: ``collect_set(sym)``
    """

def concat(col: Column, separator: str | Column = "") -> Call:
    """The strings one after the other, in order of arrival.

    Args:
        col: a column by its name, or an expression such as ``sash.col("qty") * 2``.
        separator: a string, or a column of each row's own; ``''`` unless given.

    Rows where ``col`` is NULL do not count; where no other row is left, the answer is NULL.

    In Python: ``sf.concat("x").over(window)``
    """

def listagg(col: Column, delimiter: str | Column = "") -> Call:
    """The strings one after the other, in order of arrival, with a delimiter between them.

    Args:
        col: a column by its name, or an expression such as ``sash.col("qty") * 2``.
        delimiter: a string, or a column of each row's own; ``''`` unless given.

    Rows where ``col`` is NULL do not count; where no other row is left, the answer is NULL.

    In Python: ``sf.listagg("x").over(window)``

    In SQL: ``listagg(trader, ', ') within group (order by n desc)``
    """

def string_agg(col: Column, delimiter: str | Column = "") -> Call:
    """The strings one after the other, in order of arrival, with a delimiter between them.

    Args:
        col: a column by its name, or an expression such as ``sash.col("qty") * 2``.
        delimiter: a string, or a column of each row's own; ``''`` unless given.

    Rows where ``col`` is NULL do not count; where no other row is left, the answer is NULL.

    In Python: ``sf.string_agg("x").over(window)``

    In SQL: ``string_agg(trader, ', ')``
    """

def ith_smallest(col: Column, i: int) -> Call:
    """The ``i``-th value in ascending order; NULL where there are fewer.

    Args:
        col: a column by its name, or an expression such as ``sash.col("qty") * 2``.
        i: a constant: a whole number.

    Rows where ``col`` is NULL do not count; where no other row is left, the answer is NULL.

    In Python: ``sf.ith_smallest("x", 2).over(window)``

    In SQL: ``ith_smallest(price, 2)``
    """

def top_k(col: Column, k: int) -> Call:
    """The ``k`` largest values, the largest first, as a list.

    Args:
        col: a column by its name, or an expression such as ``sash.col("qty") * 2``.
        k: a constant: a whole number.

    Rows where ``col`` is NULL do not count; where no other row is left, the answer is an empty list.

    In Python: ``sf.top_k("x", 3).over(window)``

    In SQL: ``top_k(price, 2)``
    """

def moment_sketch(col: Column) -> Call:
    """Extremes, counts and sums of powers of the values and their logarithms, as a struct.

    Args:
        col: a column by its name, or an expression such as ``sash.col("qty") * 2``.

    Rows where ``col`` is NULL do not count; where no other row is left, the answer is NULL.

    In Python: ``sf.moment_sketch("x").over(window)``

    In SQL: ``moment_sketch(price)``
    """

def moment_quantile(col: Column, p: float) -> Call:
    """An estimate of the ``p``-quantile, from a moment sketch.

    Args:
        col: a column by its name, or an expression such as ``sash.col("qty") * 2``.
        p: a constant: a number.

    Rows where ``col`` is NULL do not count; where no other row is left, the answer is NULL.

    In Python: ``sf.moment_quantile("x", 0.25).over(window)``

    In SQL: ``moment_quantile(price, 0.5)``
    """

def bloom_filter(col: Column, bits: int = 512, hashes: int = 4) -> Call:
    """A Bloom filter of the values, as bytes.

    Args:
        col: a column by its name, or an expression such as ``sash.col("qty") * 2``.
        bits: a constant: a whole number; ``512`` unless given.
        hashes: a constant: a whole number; ``4`` unless given.

    Rows where ``col`` is NULL do not count; where no other row is left, the answer is NULL.

    In Python: ``sf.bloom_filter("x").over(window)``

    In SQL: ``bloom_filter(qty, 64)``
    """

def kll_percentile(col: Column, percentage: Any, k: int = 200) -> Call:
    """About the value at or below which a share of the rows lies, by a KLL sketch; a list of them for several.

    The rank of the answer is off by at most 1.33 % of the rows for ``k`` = 200, with 99 % confidence, and by
    half as much for ``k`` twice as large. Needs ``pip install 'sash[sketches]'``.

    Args:
        col: a column by its name, or an expression such as ``sash.col("qty") * 2``.
        percentage: a constant: a value.
        k: a constant: a whole number; ``200`` unless given.

    Rows where ``col`` is NULL do not count; where no other row is left, the answer is NULL.

    In Python: ``sf.kll_percentile("x", 0.25).over(window)``

    In SQL: ``kll_percentile(price, 0.5)``
    """

def hll_count_distinct(col: Column, lg_k: int = 12) -> Call:
    """About how many different values there are, by a HyperLogLog sketch; a NULL does not count.

    The standard error is 1.6 % for ``lg_k`` = 12, which takes 4 KB, and half as much for ``lg_k`` greater by 2.
    Needs ``pip install 'sash[sketches]'``.

    Args:
        col: a column by its name, or an expression such as ``sash.col("qty") * 2``.
        lg_k: a constant: a whole number; ``12`` unless given.

    Rows where ``col`` is NULL do not count; where no other row is left, the answer is 0.

    In Python: ``sf.hll_count_distinct("x").over(window)``

    In SQL: ``hll_count_distinct(trader)``
    """

def frequent_items(col: Column, n: int, lg_k: int = 10) -> Call:
    """The ``n`` most frequent values and about how often each occurs, as a list of structs ``item``, ``count``.

    Counts are off by at most 3.5 / 2^``lg_k`` of the rows, 0.34 % for ``lg_k`` = 10, and exact where there are no
    more different values than 0.75 * 2^``lg_k``. Needs ``pip install 'sash[sketches]'``.

    Args:
        col: a column by its name, or an expression such as ``sash.col("qty") * 2``.
        n: a constant: a whole number.
        lg_k: a constant: a whole number; ``10`` unless given.

    Rows where ``col`` is NULL do not count; where no other row is left, the answer is NULL.

    In Python: ``sf.frequent_items("x", 2).over(window)``

    In SQL: ``frequent_items(sym, 1)``
    """

def rank(*values: Column, method: str = "min") -> Call:
    """One more than the number of rows that come before; given values, the rank that a row with these would have.

    ``method`` says what rows that are equal in the order share: ``"min"``, ``"max"`` or ``"average"`` of the
    places that they have together; ``"dense"`` counts different values, and with ``"first"`` each has a place
    of its own, as they came.

    Args:
        *values: columns by their names, or expressions.
        method: a constant: a text; ``'min'`` unless given.

    In Python: ``sf.rank().over(window)``

    In SQL: ``rank()``
    """

def dense_rank(*values: Column) -> Call:
    """One more than the number of different values that come before.

    Args:
        *values: columns by their names, or expressions.

    In Python: ``sf.dense_rank().over(window)``

    In SQL: ``dense_rank()``
    """

def row_number() -> Call:
    """The place of the row, counted from 1; rows that are equal in the order keep the window's.

    In Python: ``sf.row_number().over(window)``

    In SQL: ``row_number()``
    """

def percent_rank(*values: Column) -> Call:
    """The rank less 1, over the number of rows less 1.

    Args:
        *values: columns by their names, or expressions.

    In Python: ``sf.percent_rank().over(window)``

    In SQL: ``percent_rank()``
    """

def cume_dist(*values: Column) -> Call:
    """The share of the rows that do not come after.

    Args:
        *values: columns by their names, or expressions.

    In Python: ``sf.cume_dist().over(window)``

    In SQL: ``cume_dist()``
    """

def ntile(n: int | Column) -> Call:
    """The number, from 1, of the ``n`` about equal parts that the row falls into.

    Args:
        n: a whole number, or a column of each row's own.

    In Python: ``sf.ntile(3).over(window)``

    In SQL: ``ntile(2)``
    """

def first_value(col: Column, ignoreNulls: bool | None = None) -> Call:
    """The value of the first row of the frame.

    Args:
        col: a column by its name, or an expression such as ``sash.col("qty") * 2``.
        ignoreNulls: whether NULLs are passed over; ``None`` unless given.

    NULLs are values like others; ``.ignore_nulls()`` passes over them.

    In Python: ``sf.first_value("x").over(window)``

    In SQL: ``first_value(qty)``
    """

def last_value(col: Column, ignoreNulls: bool | None = None) -> Call:
    """The value of the last row of the frame.

    Args:
        col: a column by its name, or an expression such as ``sash.col("qty") * 2``.
        ignoreNulls: whether NULLs are passed over; ``None`` unless given.

    NULLs are values like others; ``.ignore_nulls()`` passes over them.

    In Python: ``sf.last_value("x").over(window)``

    In SQL: ``last_value(qty)``
    """

def nth_value(col: Column, offset: int | Column, ignoreNulls: bool | None = False, *, from_last: bool = False) -> Call:
    """The value of the row at a place counted from 1, from the first or from the last row of the frame.

    Args:
        col: a column by its name, or an expression such as ``sash.col("qty") * 2``.
        offset: a whole number, or a column of each row's own.
        ignoreNulls: whether NULLs are passed over; ``False`` unless given.
        from_last: whether it is counted from the last row of the frame; ``False`` unless given.

    NULLs are values like others; ``.ignore_nulls()`` passes over them.

    In Python: ``sf.nth_value("x", 2).over(window)``

    In SQL: ``nth_value(qty, 2)``
    """

def lead(col: Column, offset: int | Column = 1, default: Any = None) -> Call:
    """The value so many rows after the row, or the default where there is none.

    Args:
        col: a column by its name, or an expression such as ``sash.col("qty") * 2``.
        offset: a whole number, or a column of each row's own; ``1`` unless given.
        default: what is answered where there is no such row: a constant, or a column; ``None`` unless given.

    NULLs are values like others; ``.ignore_nulls()`` passes over them.

    In Python: ``sf.lead("x").over(window)``

    In SQL: ``lead(qty)``
    """

def lag(col: Column, offset: int | Column = 1, default: Any = None) -> Call:
    """The value so many rows before the row, or the default where there is none.

    Args:
        col: a column by its name, or an expression such as ``sash.col("qty") * 2``.
        offset: a whole number, or a column of each row's own; ``1`` unless given.
        default: what is answered where there is no such row: a constant, or a column; ``None`` unless given.

    NULLs are values like others; ``.ignore_nulls()`` passes over them.

    In Python: ``sf.lag("x").over(window)``

    In SQL: ``lag(qty)``
    """

def percentile_disc(col: Column, percentage: Any, weight: Column | None = None) -> Call:
    """The first value at or below which a share of the rows lies.

    With a ``weight``, a number of at least 0, it is a share of the weight of all rows.

    Args:
        col: a column by its name, or an expression such as ``sash.col("qty") * 2``.
        percentage: a share between 0 and 1, several in a list, or a column.
        weight: a column by its name, or an expression such as ``sash.col("qty") * 2``, or None; ``None`` unless given.

    Rows where ``col`` is NULL do not count; where no other row is left, the answer is NULL.

    In Python: ``sf.percentile_disc("x", 0.25).over(window)``

    In SQL: ``percentile_disc(0.25) within group (order by price)``
    """

def percentile_cont(col: Column, percentage: Any, weight: Column | None = None) -> Call:
    """The value below which a share of the rows lies, between two of them if need be.

    With a ``weight``, a whole number of at least 0, a row counts as if it came so many times.

    Args:
        col: a column by its name, or an expression such as ``sash.col("qty") * 2``.
        percentage: a share between 0 and 1, several in a list, or a column.
        weight: a column by its name, or an expression such as ``sash.col("qty") * 2``, or None; ``None`` unless given.

    Rows where ``col`` is NULL do not count; where no other row is left, the answer is NULL.

    In Python: ``sf.percentile_cont("x", 0.25).over(window)``

    In SQL: ``percentile_cont(0.25) within group (order by price)``
    """

def percentile(col: Column, percentage: Any, frequency: Column | int = 1) -> Call:
    """The value below which a share of the rows lies: another name of ``percentile_cont``.

    With a ``frequency``, a whole number of at least 0, a row counts as if it came so many times.

    Args:
        col: a column by its name, or an expression such as ``sash.col("qty") * 2``.
        percentage: a share between 0 and 1, several in a list, or a column.
        frequency: how many times a row counts: a whole number, or a column; ``1`` unless given.

    Rows where ``col`` is NULL do not count; where no other row is left, the answer is NULL.

    In Python: ``sf.percentile("x", 0.25).over(window)``

    In SQL: ``percentile(price, 0.25)``
    """

def median(col: Column, weight: Column | None = None) -> Call:
    """The value in the middle, or of two the mean; where values are no numbers, the first of them.

    With a ``weight``, a whole number of at least 0, a row counts as if it came so many times.

    Args:
        col: a column by its name, or an expression such as ``sash.col("qty") * 2``.
        weight: a column by its name, or an expression such as ``sash.col("qty") * 2``, or None; ``None`` unless given.

    Rows where ``col`` is NULL do not count; where no other row is left, the answer is NULL.

    In Python: ``sf.median("x").over(window)``

    In SQL: ``median(price)``
    """

def mad(col: Column) -> Call:
    """The median distance from the median.

    Args:
        col: a column by its name, or an expression such as ``sash.col("qty") * 2``.

    Rows where ``col`` is NULL do not count; where no other row is left, the answer is NULL.

    In Python: ``sf.mad("x").over(window)``

    In SQL: ``mad(price)``
    """

def mode(col: Column, deterministic: bool = True) -> Call:
    """The value that occurs most often; of several the smallest.

    Args:
        col: a column by its name, or an expression such as ``sash.col("qty") * 2``.
        deterministic: changes nothing: it is there because PySpark has it.

    Rows where ``col`` is NULL do not count; where no other row is left, the answer is NULL.

    In Python: ``sf.mode("x").over(window)``

    In SQL: ``mode(sym)``
    """

def entropy(col: Column) -> Call:
    """The entropy of the values, in bits.

    Args:
        col: a column by its name, or an expression such as ``sash.col("qty") * 2``.

    Rows where ``col`` is NULL do not count; where no other row is left, the answer is NULL.

    In Python: ``sf.entropy("x").over(window)``

    In SQL: ``entropy(sym)``
    """

def session_id(gap: Any) -> Call:
    """The number of the row's session, from 1: rows less than a gap apart in the window's order are in one.

    ``gap`` is an interval such as ``30 minutes``, a number, or a column: a row then lasts for its own gap, and
    rows that overlap are in one session. NULL where the time or the gap is NULL, the gap is not above zero,
    or the row is filtered.

    Args:
        gap: a distance in the window's order: a number, an interval such as ``"30 minutes"``, or a column.

    In Python: ``sf.session_id("30 minutes").over(window)``

    In SQL: ``session_id(2)``
    """

def max_concurrent() -> Call:
    """Of spans: how many there were at one moment of the window, at most.

    In Python: ``sf.max_concurrent()``

    In SQL: ``max_concurrent()``
    """

def covered() -> Call:
    """Of spans: how much of the window's time at least one of them covers, as an interval.

    In Python: ``sf.covered()``

    In SQL: ``covered()``
    """

def time_avg(col: Column) -> Call:
    """Of spans: the average of a column, in which each span weighs as much as the time it spends in the window.

    Args:
        col: a column by its name, or an expression such as ``sash.col("qty") * 2``.

    Rows where ``col`` is NULL do not count; where no other row is left, the answer is NULL.

    In Python: ``sf.time_avg("x")``

    In SQL: ``time_avg(load)``
    """

def histogram(col: Column, edges: Any) -> Call:
    """How many values lie between each two of the ``edges``, as a list.

    As in NumPy, a value at an edge counts for what is above it, one at the last edge for what is below. Others
    and NaN do not count: let the edges begin with ``-inf`` and end with ``inf`` to count all.

    Args:
        col: a column by its name, or an expression such as ``sash.col("qty") * 2``.
        edges: a constant: a value.

    Rows where ``col`` is NULL do not count; where no other row is left, the answer is a list of zeros.

    In Python: ``sf.histogram("x", [0.0, 5.0, 10.0]).over(window)``

    In SQL: ``histogram(price, array(4, 6, 8))``
    """

def by_bucket(category: Column, function: Call) -> Call:
    """A function of the rows of each category, such as ``sf.sum("x")``, as a map by category.

    A category is there where the frame has a row of it; rows whose category is NULL are in none.

    Args:
        category: a column by its name, or an expression such as ``sash.col("qty") * 2``.
        function: a function without a window, such as ``sf.sum("x")``.

    Rows where ``category`` is NULL do not count; where no other row is left, the answer is an empty map.

    In Python: ``sf.by_bucket("x", sf.sum("x")).over(window)``

    In SQL: ``by_bucket(sym, sum(price))``
    """
