"""Spark's own window operator as an algorithm: taken where it costs less, with the answers that Sash gives."""

from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest
from pyspark.errors import PythonException
from pyspark.sql import functions as F

import sash
from sash import SashError, Window
from sash import functions as sf
from sash.errors import Refused
from sash.spark import native
from spark import cases

START, END = Window.unboundedPreceding, Window.unboundedFollowing
ROWS = 90
random = np.random.default_rng(24)


def drawn(values, nulls=0.1):
    some = [values[place] for place in random.integers(0, len(values), ROWS)]
    return [None if random.random() < nulls else value for value in some]


NAN = float("nan")
DATA = cases.numbered(
    pa.table(
        {
            "k": drawn(["a", "b", "c"]),
            "t": pa.array(drawn(range(12)), pa.int32()),
            "q": drawn(range(-50, 50)),
            "x": drawn([NAN, float("inf"), -0.0, 0.0, 0.5, 2.5]),
            "v": drawn([0.25 * n for n in range(-20, 20)]),
            "m": pa.array(drawn([Decimal(n).scaleb(-2) for n in range(-999, 999, 7)]), pa.decimal128(10, 2)),
            "s": drawn(["", "a", "b", "ä", "zz"]),
            "o": drawn([True, False]),
        }
    )
)
KEYED, OVERALL = Window.partitionBy("k").orderBy("t"), Window.orderBy("t desc nulls first")
TOTALS = Window.partitionBy("k")


def columns(using):
    """Expressions over windows whose rows tie, and over all sorts of frames that both answer."""
    out = {}
    rows, back = KEYED.rowsBetween(START, 0), KEYED.rowsBetween(-3, 1)
    some = {"sum q": sf.sum("q"), "avg m": sf.avg("m"), "count": sf.count()}
    more = {
        **{"sum m": sf.sum("m"), "sum v": sf.sum("v"), "stddev": sf.stddev("v"), "min": sf.min("x")},
        **{"max": sf.max("x"), "every": sf.every("o"), "xor": sf.bit_xor("q"), "count_if": sf.count_if("q > 0")},
    }
    windows = {"keyed": KEYED, "overall": OVERALL, "rows": rows, "back": back, "totals": TOTALS}
    for said, window in windows.items():
        calls = some | (more if said in ("keyed", "rows") else {})
        out |= {f"{name} {said}": call.over(window, using) for name, call in calls.items()}
    for said, window in {"keyed": KEYED, "overall": OVERALL}.items():
        calls = [sf.rank(), sf.row_number(), sf.lead("q", 2, -1), sf.lag("s")]
        more_calls = [sf.dense_rank(), sf.percent_rank(), sf.cume_dist(), sf.ntile(4)]
        for call in calls + (more_calls if said == "keyed" else []):
            out[f"{call} {said}"] = call.over(window, using)
    for said, window in {"rows": rows, "back": back, "whole": KEYED.rowsBetween(START, END)}.items():
        out[f"first {said}"] = sf.first("s").over(window, using)
        out[f"last_value {said}"] = sf.last_value("v").over(window, using)
        out[f"nth_value {said}"] = sf.nth_value("q", 2).over(window, using)
    return out


def test_answers_types_nulls_and_ties_are_the_same_either_way(spark):
    frame = cases.in_tasks(spark, DATA, 3, shuffled=True)
    by_sash, by_spark = (sash.withColumns(frame, columns(using)) for using in (None, "spark"))
    assert by_sash.schema == by_spark.schema
    got, want = cases.collected(by_spark), cases.collected(by_sash)
    wrong = [
        f"{name}:\n got {got[name].to_pylist()}\nwant {want[name].to_pylist()}"
        for name in want.column_names
        if not all(map(cases.same, got[name].to_pylist(), want[name].to_pylist()))
    ]
    assert not wrong, "\n".join(wrong)
    assert "ArrowEvalPython" not in cases.plan(by_spark)
    assert "ArrowEvalPython" in cases.plan(by_sash)


def test_the_first_of_a_whole_partition_is_that_of_its_order():
    first = sf.first("q").over(KEYED.rowsBetween(START, END))
    assert not native._is_total(first)
    assert native._is_total(sf.max("q").over(KEYED.rowsBetween(START, END)))


LARGE = pa.table({"t": [1, 2, 3], "q": [2**62, 2**62, -(2**62)]})


@pytest.mark.parametrize("using", [None, "spark"])
def test_only_the_sum_of_a_frame_overflows_and_raises_the_same_either_way(spark, using):
    frame = spark.createDataFrame(LARGE)
    whole = sash.withColumns(frame, {"s": sf.sum("q").over(Window.partitionBy(), using)})
    assert {row.s for row in whole.collect()} == {2**62}
    running = sash.withColumns(frame, {"s": sf.sum("q").over(Window.orderBy("t"), using)})
    with pytest.raises(SashError, match=r"^s: the sum of a frame does not fit 64 bits; sum a wider type") as told:
        running.collect()
    assert isinstance(told.value, PythonException)


def chosen(frame, **columns):
    return sash.explain(frame, columns).chosen


def test_one_pass_over_few_rows_is_left_to_spark_unless_something_else_needs_python(as_shipped):
    frame = as_shipped.range(1000).withColumn("k", F.col("id") % 7)
    places = sf.row_number().over(Window.partitionBy("k").orderBy("id"))
    so_far, back = sf.sum("id").over(Window.orderBy("id")), Window.orderBy("id").rowsBetween(-9, 0)
    assert chosen(frame, places=places, so_far=so_far) == {"places": "spark", "so_far": "spark"}
    assert "ArrowEvalPython" not in cases.plan(sash.withColumns(frame, {"places": places}))
    assert "spark: its own window operator, in the JVM (one pass over few rows" in str(
        sash.explain(frame, {"p": places})
    )
    assert "spark" not in chosen(frame, so_far=so_far, middle=sf.median("id").over(back)).values()
    assert chosen(frame, back=sf.sum("id").over(back)) != {"back": "spark"}  # which looks at each row ten times
    prefix = sf.sum("id").over(Window.orderBy("id"), using="prefix")
    assert chosen(frame, prefix=prefix) == {"prefix": "prefix"}
    for method in ("max", "average", "dense", "first"):
        assert chosen(frame, rank=sf.rank(method=method).over(Window.orderBy("id"))) != {"rank": "spark"}


def test_more_rows_are_left_to_spark_where_it_has_one_task_or_one_answer_a_key(as_shipped, monkeypatch):
    monkeypatch.setattr(native, "FEW", 0)
    frame = as_shipped.range(1000).withColumn("k", F.col("id") % 7)
    places = sf.row_number().over(Window.partitionBy("k").orderBy("id"))
    total, so_far = sf.sum("id").over(Window.partitionBy("k")), sf.sum("id").over(Window.orderBy("id"))
    assert chosen(frame, total=total, so_far=so_far) == {"total": "spark", "so_far": "spark"}
    assert chosen(frame, places=places) != {"places": "spark"}


REFUSED = {
    "takes no filter over windows": sf.sum("q").filter("t > 1").over(OVERALL, "spark"),
    "takes no distinct over windows": sf.sum("q").distinct().over(OVERALL, "spark"),
    "takes no ignoring NULLs over windows": sf.lag("q").ignore_nulls().over(OVERALL, "spark"),
    "takes no order of the function's own over windows": sf.rank().order_by("q").over(OVERALL, "spark"),
    "has no median over windows that means the same": sf.median("q").over(OVERALL, "spark"),
    "takes the rows of max_by in no certain order": sf.max_by("q", "t").over(OVERALL, "spark"),
    "takes the rows of first in no certain order": sf.first("q").over(OVERALL, "spark"),
    "has no GROUPS, EXCLUDE or closed": sf.max("q").over(OVERALL.groupsBetween(-1, 0), "spark"),
    "takes the same number of rows around each row": sf.max("q").over(OVERALL.rangeBetween(-1, 0), "spark"),
    "counts no places from the last row": sf.nth_value("q", 2, from_last=True).over(OVERALL, "spark"),
    "knows no method of rank, got 'max'": sf.rank(method="max").over(OVERALL, "spark"),
    "takes a constant default in lag": sf.lag("q", 1, sash.col("t")).over(OVERALL, "spark"),
    "needs an orderBy for rank": sf.rank().over(TOTALS, "spark"),
}


@pytest.mark.parametrize("reason", REFUSED)
def test_what_spark_would_answer_otherwise_is_refused_by_name(spark, reason):
    with pytest.raises(Refused, match=f"^c: spark {reason}"):
        sash.withColumns(spark.createDataFrame(DATA), {"c": REFUSED[reason]})


def test_a_table_in_memory_has_no_operator_of_spark():
    with pytest.raises(SashError, match="or spark, which answers DataFrames of Spark, got 'spark'"):
        sash.withColumns(LARGE, {"s": sf.sum("q").over(Window.orderBy("t"), using="spark")})
