"""Frames over another table on Spark: the answers are those of this process, for every row of the left table once."""

import json
import re
from datetime import date, datetime

import numpy as np
import pyarrow as pa
import pytest

import sash
from engine.test_other_tables import EVERY, framed
from sash import SashError, Window
from sash import functions as sf
from spark import cases

RNG = np.random.default_rng(25)
KEYS = np.array(["a", "b", "c", "d", None], object)


def rows_of(count, more):
    return {"k": KEYS[RNG.integers(0, 5, count)],
            "t": pa.array(RNG.integers(0, 60, count), mask=RNG.integers(0, 20, count) == 0), **more}  # fmt: skip


LEFT = cases.numbered(pa.table(rows_of(150, {
    "p": RNG.integers(0, 40, 150) / 2, "back": -RNG.integers(0, 20, 150), "n": RNG.integers(-3, 9, 150),
})))  # fmt: skip
RIGHT = pa.table(rows_of(400, {
    "x": pa.array(RNG.integers(-9, 9, 400), mask=RNG.integers(0, 9, 400) == 0),
    "y": RNG.integers(0, 40, 400) / 4, "o": RNG.integers(0, 2, 400) == 0,
    "w": [["u", "v", None][place] for place in RNG.integers(0, 3, 400)],
}))  # fmt: skip


def asked(table, other):
    """Windows over two tables, by the same key and by another, and windows of the left table itself."""
    near = Window.of(table, on="k", at="t").rangeBetween(-9, 0)
    last = Window.of(table, on="k", at="t").rowsBetween(-2, 0)
    own = Window.of(table, on="k", at="t").rangeBetween(sash.col("back"), sash.col("n"))
    by_number = Window.of(other, on={"n": "number"}, at=("t", "since"))
    return {
        "rows": sf.count().over(near.closed("left")),
        "sum": sf.sum("x").filter("o").over(near),
        "middle": sf.median("y").over(near),
        "words": sf.count_distinct("w").over(own),
        "list": sf.collect_list("x").over(last),
        "last": sf.last("y").over(last.rowsBetween(0, 0)),
        "rank": sf.rank(sash.col("p")).order_by("y desc").over(near),
        "all": sf.sum("x").over(Window.of(table, on="k")),
        "price": sf.last("price").over(by_number),
        "dear": sf.max(sash.col("price") * 2).over(by_number.rangeBetween(-30, 30)),
        "so far": sf.count().over(Window.partitionBy("k").orderBy("t")),
    }


OTHER = pa.table({
    "number": pa.array(RNG.integers(-3, 12, 90), pa.int32()),
    "since": RNG.integers(0, 60, 90) / 2, "price": RNG.permutation(90),
})  # fmt: skip


def by_id(table):
    return sorted(table.to_pylist(), key=lambda row: row[cases.ID])


def check(frame, columns, expected, near=1e-9):
    out = frame.toArrow()
    assert out.column_names == [*expected.column_names]
    assert len(out) == len(expected)
    for got, want in zip(by_id(out), by_id(expected), strict=True):
        for name in columns:
            assert cases.same(got[name], want[name], near), (name, got[name], want[name])
        assert cases.same(got, {**want, **{name: got[name] for name in columns}})


@pytest.mark.parametrize("tasks", [1, 4])
def test_answers_are_those_of_this_process(spark, tasks):
    frame, table = cases.in_tasks(spark, LEFT, 3, True), cases.in_tasks(spark, RIGHT, 2, True)
    wanted = sash.withColumns(LEFT, asked(RIGHT, OTHER))
    with cases.settings(spark, shuffle__partitions=tasks):
        columns = asked(table, cases.frame_of(spark, OTHER))
        check(sash.withColumns(frame, columns), columns, wanted)


def test_tables_in_memory_go_with_a_frame_of_spark(spark):
    columns = asked(RIGHT, OTHER.to_pandas())
    check(sash.withColumns(cases.frame_of(spark, LEFT), columns), columns, sash.withColumns(LEFT, columns))


@pytest.mark.parametrize("frame", [("range", -9, 0), ("rows", -3, 0)], ids=str)
def test_every_function(spark, frame):
    columns = {name: call for name, call in EVERY.items() if getattr(call.aggregate, "compiled", True)}
    window = framed(Window.of(RIGHT, on="k", at="t"), *frame)
    del columns["median distinct"]  # needs frames that move forward
    wanted = sash.withColumns(LEFT, {name: call.over(window) for name, call in columns.items()})
    of_spark = framed(Window.of(cases.frame_of(spark, RIGHT), on="k", at="t"), *frame)
    out = sash.withColumns(cases.frame_of(spark, LEFT), {name: call.over(of_spark) for name, call in columns.items()})
    check(out, columns, wanted, 1e-6)


def test_rows_stay_as_they_are_whatever_is_done_next(spark):
    frame, table = cases.in_tasks(spark, LEFT, 3), cases.frame_of(spark, RIGHT)
    near = Window.of(table, on="k", at="t").rangeBetween(-9, 0)
    columns = {"p": sf.count().over(near), "middle": sf.median("y").over(near)}
    out = sash.withColumns(frame, columns)
    assert out.columns == [*LEFT.column_names, "middle"]
    wanted = by_id(sash.withColumns(LEFT, {name: over.call.over(near_of(RIGHT)) for name, over in columns.items()}))
    kept = [row for row in wanted if row["k"] == "a" and row["n"] > 0]
    got = by_id(out.filter("k = 'a' and n > 0").toArrow())
    assert cases.same(got, kept)
    assert out.count() == len(LEFT)
    assert out.limit(7).count() == 7
    assert out.select("id").distinct().count() == len(LEFT)


def near_of(table):
    return Window.of(table, on="k", at="t").rangeBetween(-9, 0)


def test_names_do_not_matter(spark):
    left = pa.table({"a.b": [1, 2], "__sash_both": [3, 4], "__sash_key0": [1, 1], "A b": ["x", "y"]})
    right = pa.table({"__sash_key0": [1, 1], "t.t": [2, 4], "row": [5, 6]})
    names = {"`a.b`": "__sash_key0"}, ("__sash_both", "`t.t`")

    def of(table, names):
        return {"n": sf.sum("row").over(Window.of(table, on=names[0], at=names[1]))}

    wanted = sash.withColumns(left, of(right, names))
    got = sash.withColumns(spark.createDataFrame(left), of(spark.createDataFrame(right), names))
    assert got.columns == wanted.column_names
    assert sorted(map(tuple, got.collect())) == sorted(tuple(row.values()) for row in wanted.to_pylist())


def test_columns_of_one_name_are_carried_along(spark):
    frame = spark.createDataFrame(pa.table({"k": [1, 2], "t": [1, 2], "x": [3, 4]}))
    frame = frame.select("*", frame["x"] + 1).toDF("k", "t", "x", "x")
    out = sash.withColumns(frame, {"n": sf.count().over(Window.of(pa.table({"k": [2], "t": [2]}), on="k", at="t"))})
    assert sorted(map(tuple, out.collect())) == [(1, 1, 3, 4, 0), (2, 2, 4, 5, 1)]


def test_an_expression_is_not_asked_of_rows_of_another_table(spark):
    left, right = pa.table({"k": [1], "t": [2], "p": [4]}), pa.table({"k": [1, 1], "t": [1, 3], "x": [2, 9]})
    back = sash.expressions.parsing.as_predicate("-8 div coalesce(p, 0)")
    window = Window.of(spark.createDataFrame(right), on="k", at="t").rangeBetween(back, 1)
    assert sash.withColumns(spark.createDataFrame(left), {"n": sf.sum("x").over(window)}).collect()[0]["n"] == 11


@pytest.mark.parametrize(
    ("asks", "others", "start", "expected"),
    [
        ([5, 6], [4.5, 5.0, 5.5], -0.5, [2, 1]),
        ([date(2026, 1, 6)], [datetime(2026, 1, 5, 12), datetime(2026, 1, 6)], "-1 day", [2]),
        (pa.array([5], pa.int16()), pa.array([4, 6], pa.int64()), -1, [1]),
        ([float("nan"), 1.0], [float("nan"), 0.5], -1, [1, 1]),
    ],
    ids=str,
)
def test_keys_and_times_of_two_types_compare(spark, asks, others, start, expected):
    left, right = pa.table({"t": asks}), pa.table({"u": others})
    left = left.append_column("k", pa.array([0.0] * len(left)))
    right = right.append_column("j", pa.array([0] * len(right), pa.int32()))
    with cases.settings(spark, timestampType="TIMESTAMP_NTZ"):
        window = Window.of(spark.createDataFrame(right), on={"k": "j"}, at=("t", "u")).rangeBetween(start, 0)
        frame = spark.createDataFrame(left).coalesce(1)
        out = sash.withColumns(frame, {"n": sf.count().over(window)}).toArrow()
    here = sash.withColumns(left, {"n": sf.count().over(Window.of(right, on={"k": "j"}, at=("t", "u")).rangeBetween(start, 0))})  # fmt: skip # noqa: E501
    assert here["n"].to_pylist() == expected
    assert sorted(out["n"].to_pylist()) == sorted(expected)


def test_rows_without_a_key_are_not_all_in_one_task(spark):
    left = pa.table({"k": pa.array([None] * 300, pa.int64()), "t": range(300)})
    with cases.settings(spark, shuffle__partitions=4, adaptive__enabled=False):
        window = Window.of(pa.table({"k": [1], "t": [1]}), on="k", at="t")
        out = sash.withColumns(spark.createDataFrame(left), {"n": sf.count().over(window)})
        sizes = out.groupBy(pyspark_task()).count().collect()
    assert len(sizes) == 4
    assert {row["n"] for row in out.collect()} == {0}


def pyspark_task():
    from pyspark.sql import functions as F

    return F.spark_partition_id()


def shuffles(frame):
    text = frame.sparkSession.sql("explain extended select * from {frame}", frame=frame).first()[0]
    return len(re.findall(r"Exchange hashpartitioning", text[text.index("Physical Plan") :]))


def test_tables_by_one_key_share_a_shuffle_and_a_task(spark):
    frame, table = cases.frame_of(spark, LEFT), cases.frame_of(spark, RIGHT)
    other = cases.frame_of(spark, RIGHT.rename_columns(["q", "t", "x", "y", "o", "w"]))
    columns = {
        "n": sf.count().over(Window.of(table, on="k", at="t")),
        "x": sf.max("x").over(Window.of(other, on={"k": "q"}, at="t").rangeBetween(-3, 0)),
    }
    with cases.settings(spark, adaptive__enabled=False):
        assert shuffles(sash.withColumns(frame, columns)) == 1
    plan = sash.explain(frame, columns)
    assert "rows of both tables shuffled by k and k = q, and paired in one task: n, x" in str(plan)
    assert plan.chosen.keys() == columns.keys()


def test_without_on_all_rows_are_in_one_task_and_a_warning_says_so(spark):
    frame, table = cases.in_tasks(spark, LEFT, 3), cases.frame_of(spark, RIGHT)
    columns = {"n": sf.count().over(Window.of(table, at="t").rangeBetween(-3, 0))}
    with pytest.warns(sash.errors.SashWarning, match="without on= has all rows of both tables in one task"):
        out = sash.withColumns(frame, columns)
    wanted = sash.withColumns(LEFT, {"n": sf.count().over(Window.of(RIGHT, at="t").rangeBetween(-3, 0))})
    check(out, columns, wanted)
    assert "rows of both tables in one task, as there is no on=: n" in str(sash.explain(frame, columns))


def test_rows_beyond_memory_go_through_files(spark, monkeypatch):
    from sash.engine.spilling import row_files as files

    made, init = [], files.Directory.__init__
    monkeypatch.setattr(files.Directory, "__init__", lambda self: (made.append(1), init(self))[1])
    many = pa.concat_tables([LEFT] * 20).drop_columns("id")
    left = cases.numbered(many.set_column(0, "k", pa.array(RNG.integers(0, 90, len(many)))))
    right = pa.concat_tables([RIGHT] * 10).set_column(0, "k", pa.array(RNG.integers(0, 90, 4000)))
    with cases.settings(spark, shuffle__partitions=1), sash.options.set(memory="200 KB"):
        columns = {name: over for name, over in asked(right, OTHER).items() if name not in ("so far", "price", "dear")}
        out = sash.withColumns(cases.frame_of(spark, left), columns)
        check(out, columns, sash.withColumns(left, columns))
    small = sash.withColumns(cases.frame_of(spark, left.slice(0, 9)), columns)
    assert small.count() == 9


def test_what_cannot_be_is_refused_when_the_query_is_built(spark):
    frame = cases.frame_of(spark, LEFT)

    def refused(sentence, over):
        with pytest.raises(SashError, match=sentence):
            sash.withColumns(frame, {"v": over})

    table = cases.frame_of(spark, RIGHT)
    refused("in the table of Window.of, there is no column 'z'", sf.sum("z").over(Window.of(table, on="k")))
    refused("there is no column 'q'", sf.sum("x").over(Window.of(table, on={"q": "k"})))
    refused("on must pair columns that compare, got t of", sf.count().over(Window.of(table, on={"t": "o"})))
    refused("asks for a row of its own frame", sf.lag("x").over(Window.of(table, on="k", at="t")))
    rate = spark.readStream.format("rate").load()
    refused("the table of Window.of must be a batch DataFrame", sf.count().over(Window.of(rate, on={"t": "value"})))


def test_connect(connect):
    got = connect.run(of_connect)
    want = by_id(sash.withColumns(LEFT, asked(RIGHT, OTHER)))
    assert got == [True, json.loads(json.dumps([[*row.values()] for row in want]))]


def of_connect(spark):
    table = spark.createDataFrame(RIGHT)
    out = sash.withColumns(spark.createDataFrame(LEFT), asked(table, OTHER)).toArrow()
    return ["connect" in type(spark).__module__, [[*row.values()] for row in by_id(out)]]
