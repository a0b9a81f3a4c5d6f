import pickle
import subprocess
import sys
from datetime import date, datetime, timedelta
from decimal import Decimal

import numpy as np
import pytest

from sash.errors import SashError
from sash.expressions import Foreign, as_column, as_predicate, bind, check_names, col, lit
from sash.expressions.columns import Operation


class Column:  # what a PySpark column looks like from outside
    __module__ = "pyspark.sql.classic.column"

    def __str__(self):
        return "Column<'a'>"


@pytest.mark.parametrize(
    ("column", "sql"),
    [
        (col("a") + 1, "a + 1"),
        (1 + col("a"), "1 + a"),
        (2 - col("a") - 1, "2 - a - 1"),
        (col("a") - (col("b") - 1), "a - (b - 1)"),
        ((col("a") + 1) * -col("b"), "(a + 1) * -b"),
        (1.5 / col("a") % 2, "1.5D / a % 2"),
        (3 % col("a"), "3 % a"),
        (-Operation("negate", (col("a"),)), "-(-a)"),
        (-lit(2**31), "-(2147483648)"),
        (-lit(2), "-2"),
        ((col("a") > 1) & (col("b") != "x"), "a > 1 AND b <> 'x'"),
        ((col("a") | col("b")) & ~col("c"), "(a OR b) AND NOT c"),
        (True & col("a"), "TRUE AND a"),
        (~(col("a") == None), "NOT a = NULL"),  # noqa: E711
        ((col("a") < col("b")) == (col("c") >= 1), "(a < b) = (c >= 1)"),
        (col("a").is_null() | col("b").isNotNull(), "a IS NULL OR b IS NOT NULL"),
        (col("a").isin(1, 2), "a IN (1, 2)"),
        (col("a").isin(["x"]), "a IN ('x')"),
        (col("a").isin(), "FALSE"),
        (col("a").between(1, 2), "a >= 1 AND a <= 2"),
        (col("a").cast("Long"), "CAST(a AS BIGINT)"),
        (col("a").cast("decimal(10, 2)"), "CAST(a AS DECIMAL(10,2))"),
        (col("ts") - timedelta(days=1, microseconds=5), "ts - INTERVAL '1 00:00:00.000005' DAY TO SECOND"),
        (col("d") >= date(2020, 1, 2), "d >= DATE '2020-01-02'"),
        (col("t") >= datetime(2020, 1, 2, 3), "t >= TIMESTAMP_NTZ '2020-01-02 03:00:00'"),
        (col("x") * Decimal("1.50"), "x * 1.50"),
        (np.float64(2) * col("x"), "2.0D * x"),
        (col("a b") + col("date"), "`a b` + `date`"),
        (col("`a.b`") + col("a.b"), "`a.b` + a.b"),
        (lit("it's a \\"), "'it\\'s a \\\\'"),
    ],
    ids=str,
)
def test_a_column_reads_like_sql(column, sql):
    assert repr(column) == column.key == sql


def test_keys_tell_types_and_signs_of_literals_apart():
    values = [1, 1.0, True, Decimal(1), Decimal("1.0"), "1", 0.0, -0.0, None, float("nan"), timedelta(0)]
    assert len({lit(value).key for value in values}) == len(values)
    assert lit(float("nan")).key == lit(float("nan")).key


def test_columns_are_hashable_immutable_and_can_be_pickled():
    column = (col("a") + 1 > 2) & col("b").cast("int").isin(1)
    assert len({column, col("a"), col("a")}) == 3
    assert pickle.loads(pickle.dumps(column)).key == column.key
    with pytest.raises(AttributeError):
        column.name = "other"


def test_names_are_those_used():
    assert (col("a") * col("b.c") + lit("d")).names == {"a", "b.c"}


def test_a_column_has_no_truth_value():
    with pytest.raises(SashError, match="& for and"):
        bool(col("a") > 1)
    with pytest.raises(SashError, match="& for and"):
        _ = 1 < col("a") < 3


@pytest.mark.parametrize("bad", [[1], object(), 1j, Decimal("NaN")])
def test_other_values_are_refused(bad):
    with pytest.raises(SashError, match="literal"):
        col("a") + bad


@pytest.mark.parametrize("bad", ["", None, 3, "`a"])
def test_bad_names_are_refused(bad):
    with pytest.raises(SashError, match="name"):
        col(bad)


def test_an_unknown_type_is_refused():
    with pytest.raises(SashError, match="got 'flaot'"):
        col("a").cast("flaot")


def test_an_argument_is_a_name_a_column_or_a_literal():
    assert as_column("a.b").key == "`a.b`"
    assert as_column("a > 1").key == "`a > 1`"
    assert as_column(col("a.b")).key == "a.b"
    assert as_column(5).key == "5"


def test_a_pyspark_column_is_kept_for_spark():
    theirs = Column()
    wrapped = as_column(theirs)
    assert isinstance(wrapped, Foreign)
    assert wrapped.column is theirs
    assert wrapped.key == as_predicate(theirs).key
    assert wrapped.key != as_column(Column()).key
    assert wrapped.names == frozenset()
    with pytest.raises(SashError, match="does not mix"):
        col("a") + theirs


def test_a_filter_is_sql_or_a_column():
    assert as_predicate("a > 1").key == "a > 1"
    assert as_predicate(col("a") > 1).key == "a > 1"
    assert as_predicate(True).key == "TRUE"
    with pytest.raises(SashError, match="got 3"):
        as_predicate(3)


def test_names_are_found_exactly_first_and_then_without_regard_to_case():
    assert check_names(col("a"), ["A", "a"]) == {"a"}
    assert check_names(col("PRICE"), ["price"]) == {"price"}
    assert check_names(col("p.q"), ["p"]) == {"p"}
    assert check_names(col("p.q"), ["p", "p.q"]) == {"p.q"}
    with pytest.raises(SashError, match="'x' is ambiguous; there are X, X"):
        check_names(col("x"), ["X", "X"])
    with pytest.raises(SashError, match=r"^there is no column 'x'; there are a, b$"):
        check_names(col("x") + 1, ["a", "b"])
    with pytest.raises(SashError, match=r"c29 and 70 more$"):
        check_names(col("x"), [f"c{i}" for i in range(100)])


def test_binding_spells_names_as_the_table_does():
    bound = bind((col("A.B") > 1) & col("s.f").cast("int").isin(col("c")), ["a.b", "S", "C"])
    assert bound.key == "`a.b` > 1 AND CAST(S.f AS INT) IN (C)"


def test_building_columns_imports_neither_pyarrow_nor_sqlglot():
    code = (
        "from sash.expressions import col, as_order; col('a') + 1 > 2; as_order('a desc'); import sys;"
        "print([name for name in ('pyarrow', 'sqlglot', 'pyspark') if name in sys.modules])"
    )
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert printed.strip() == "[]"
