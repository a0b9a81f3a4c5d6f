"""Whole queries on Spark: what comes back, and what is refused."""

import datetime as dt
import warnings

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest
from pyspark.errors import AnalysisException

import sash
from sash.errors import SashError, SashWarning

ROWS = pa.table(
    {
        "k": ["a", "a", "b", "b", "b"],
        "x": [3, 1, None, 2, 2],
        "y": [1, 2, 3, 4, 5],
        "d": [dt.date(2020, 1, day) for day in (1, 2, 5, 6, 9)],
        "n": [1, 0, 2, 1, 1],
    }
)


@pytest.fixture(scope="module")
def t(spark):
    return spark.createDataFrame(ROWS)


def rows(query, **given):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SashWarning)
        return [tuple(row) for row in sash.sql(query, **given).collect()]


QUERIES = [
    (
        "select y, sum(x) over (partition by k order by y) s from t qualify s > 3 order by s desc, y limit 5",
        [(2, 4), (5, 4)],
    ),
    (
        "select k, sum(sum(x)) over (order by k) r, count(*) over () from t group by k order by r desc",
        [("b", 8, 2), ("a", 4, 2)],
    ),
    (
        "select max(y) over (order by y rows between n preceding and n following) from t order by y",
        [(2,), (2,), (5,), (5,), (5,)],
    ),
    (
        "with u as (select row_number() over (partition by k order by y) rn, * from t) "
        "select u.rn, max(u.y) over (partition by u.k order by rn desc) from u union all select 9, 9 order by 1, 2",
        [(1, 2), (1, 5), (2, 2), (2, 5), (3, 5), (9, 9)],
    ),
    (
        "select t.k, u.k, max(u.x) over (partition by t.k order by u.y, t.y) m from t join t u "
        "on t.k = u.k and t.y < u.y order by 1, 3 nulls first",
        [("a", "a", 1), ("b", "b", 2), ("b", "b", 2), ("b", "b", 2)],
    ),
    ("select y from t where y = (select max(rn) from (select row_number() over (order by y) rn from t))", [(5,)]),
    (
        "select y, (select max(s) from (select sum(u.x) over (order by u.y) s from t u where u.k = t.k)) from t "
        "order by y",
        [(1, 4), (2, 4), (3, 4), (4, 4), (5, 4)],
    ),
    (
        "select lag(x, n, -y) over (order by y), lead(y, n - 1 ignore nulls) over (partition by k order by y), "
        "nth_value(y, n + 1) over (order by y), ntile(nullif(n, 0)) over (order by y), lead(x, null, 1) over (order by y), "
        "lag(x, 0, d ignore nulls) over (order by y) from (select x, y, k, n, 9 as d from t) order by y",
        [
            (-1, 1, None, 1, None, 3),
            (1, 1, 1, None, None, 1),
            (3, 4, 3, 1, None, None),
            (None, 4, 2, 1, None, 2),
            (2, 5, 2, 1, None, 2),
        ],
    ),
    ("select x from t qualify row_number() over (partition by k order by y) = 1 order by y", [(3,), (None,)]),
    ("select distinct k, count(*) over (partition by k) c from t order by k", [("a", 2), ("b", 3)]),
    (
        "select distinct k, count(*) over (partition by k) from t order by count(*) over (partition by k) desc, k",
        [("b", 3), ("a", 2)],
    ),
    ("select '{a}' as j, \"b\" || '''' from t qualify row_number() over (order by y) = 1", [("{a}", "b'")]),
    ("select count(x) over (order by y) * 2 + y as z, z + 1 as q from t order by z desc limit 1", [(13, 14)]),
    ("select Y, MAX(`X`) OVER (ORDER BY Y) AS `best``s` FROM T ORDER BY `best``s`, y desc limit 1", [(5, 3)]),
    (
        "select a.y, rank() over (order by a.y desc) from t as a order by rank() over (order by a.y desc) limit 2",
        [(5, 1), (4, 2)],
    ),
    (
        "select k, y, lag(y) over (partition by k order by y) - y as gap from t where y > 1 -- but the first\n "
        "order by y;",
        [("a", 2, None), ("b", 3, None), ("b", 4, -1), ("b", 5, -1)],
    ),
    (
        "select y in (select max(y) over () from t), y + sum(y) over () in (select 20) from t order by y desc limit 1",
        [(True, True)],
    ),
    (
        "select sum(y) over (order by d range between interval '1' day preceding and current row) from t order by y",
        [(1,), (3,), (3,), (7,), (5,)],
    ),
    (
        "select sum(y) over (order by d desc range between '1 day' preceding and '3 days' following) from t order by y",
        [(3,), (3,), (9,), (7,), (9,)],
    ),
    ("select sum(x) over (order by y range between 2 following and 1 following) from t limit 1", [(None,)]),
    ("select first_value(k order by x desc) over () || '!' from t limit 1", [("a!",)]),
    ("select count(*) over (), count(1) over (partition by k) from t order by y limit 1", [(5, 2)]),
    ("select count(x, n) over () from t limit 1", [(4,)]),
    (
        "select k, grouping(k), sum(count(*)) over () from t group by k with rollup order by k",
        [(None, 1, 10), ("a", 0, 10), ("b", 0, 10)],
    ),
    ("select 1 + 1, sum(v) over (order by v) from values (1), (2) as w(v) order by v", [(2, 1), (2, 3)]),
    ("select sum(1) over ()", [(1,)]),
    (
        "select y, e, sum(e) over (order by y, e) from t lateral view explode(array(1, 2)) as e where y = 1 order by e",
        [(1, 1, 1), (1, 2, 3)],
    ),
    ("select percentile(y, array(0.0, 0.5)) over () from t limit 1", [([1.0, 3.0],)]),
    ("select percentile_disc(0.5) within group (order by y desc) over () from t limit 1", [(3.0,)]),
    ("select transform(array_agg(y) over (order by y), e -> e * n) from t order by y limit 2", [([1],), ([0, 0],)]),
]


@pytest.mark.parametrize(("query", "answer"), QUERIES)
def test_answers(t, query, answer):
    assert rows(query, t=t) == answer


def test_names_and_types_are_those_of_spark(spark, t):
    t.createOrReplaceTempView("typed")
    query = "select *, sum(x) over (order by y) as s, avg(x) over (order by y), upper(k), t.k from typed t"
    mine, theirs = sash.sql(query, spark=spark).schema, spark.sql(query).schema
    assert [(each.name, each.dataType) for each in mine] == [(each.name, each.dataType) for each in theirs]


WITHOUT_ORDER = [
    ("row_number() over ()", "row_number() over (order by k, x, y, d, n)"),
    ("row_number() over (partition by n)", "row_number() over (partition by n order by k, x, y, d)"),
    ("lead(y) over (), lag(y, 2, 0) over ()", "lead(y) over (order by k, x, y), lag(y, 2, 0) over (order by k, x, y)"),
    ("ntile(2) over ()", "ntile(2) over (order by k, x, y)"),
    ("sum(y) over (rows 1 preceding)", "sum(y) over (order by k, x, y rows 1 preceding)"),
    (
        "count(distinct x) over (partition by k rows between 1 preceding and 1 following)",
        "count(distinct x) over (partition by k order by x, y rows between 1 preceding and 1 following)",
    ),
]


@pytest.mark.parametrize(("without", "ordered"), WITHOUT_ORDER)
def test_without_an_order_rows_are_in_that_of_the_columns(t, without, ordered):
    with pytest.warns(SashWarning, match="has no ORDER BY: its rows are in the order of k, x, y, d, n, so that"):
        found = sash.sql(f"select y, {without} from t order by y", t=t.repartition(3)).collect()
    assert [tuple(row) for row in found] == rows(f"select y, {ordered} from t order by y", t=t)


WITHOUT_ORDER_OF_COLUMNS = [
    (
        "select k, sum(x), row_number() over () r from t group by 1 order by r desc",
        "k, sum",
        [("b", 4, 2), ("a", 4, 1)],
    ),
    ("select sum(count(*)) over (rows 1 preceding) s from t group by upper(k) order by s", "upper", [(2,), (5,)]),
    (
        "select a.y, b.y, row_number() over () r from t a join t b on a.k = b.k and a.y < b.y order by r",
        "k, x, y, d, n, k, x, y, d, n",
        [(1, 2, 1), (3, 4, 2), (3, 5, 3), (4, 5, 4)],
    ),
    ("select row_number() over ()", "TRUE", [(1,)]),
]


@pytest.mark.parametrize(("query", "order", "answers"), WITHOUT_ORDER_OF_COLUMNS)
def test_without_an_order_rows_are_in_that_of_what_they_are_made_of(t, query, order, answers):
    with pytest.warns(SashWarning, match=f"has no ORDER BY: its rows are in the order of {order}"):
        found = sash.sql(query, t=t)
    assert [tuple(row) for row in found.collect()] == answers


def test_without_an_order_or_a_column_that_has_one_there_is_no_answer(t):
    with pytest.raises(SashError, match="there is no column to order by"):
        sash.sql("select row_number() over () from (select map(1, 2) as m)", t=t)


def test_parameters(t):
    query = "select sum(x + ?) over (order by y), ? from t where y > ? order by y"
    assert rows(query, args=[10, "p", 2], t=t) == [(None, "p"), (12, "p"), (24, "p")]
    query = (
        "select sum(x + :plus) over (order by y rows :back preceding), ntile(:n) over (order by y) from t order by y"
    )
    assert rows(query, args={"plus": 0, "back": 1, "n": 2}, t=t) == [(3, 1), (4, 1), (1, 1), (2, 2), (4, 2)]


def test_tables_of_other_libraries(spark):
    import polars

    query = "select sum(r.x) over (order by y) s from r order by y"
    answer = [(3,), (4,), (4,), (6,), (8,)]
    for table in (
        ROWS,
        ROWS.to_pandas(types_mapper={pa.int64(): __import__("pandas").Int64Dtype()}.get),
        polars.from_arrow(ROWS),
    ):
        assert rows(query, spark=spark, r=table) == answer
    assert rows(query.replace("from r", "from {r} r"), spark=spark, r=ROWS) == answer


def test_files(spark, tmp_path):
    pa.parquet.write_table(ROWS, tmp_path / "t.parquet")
    pa.csv.write_csv(ROWS, tmp_path / "t.csv")
    for name in ("t.parquet", "t.csv"):
        query = f"select max(t.y) over (order by y) from '{tmp_path / name}' order by y"
        assert rows(query, spark=spark) == [(1,), (2,), (3,), (4,), (5,)]
    assert rows(f"select count(*) from '{tmp_path}/t.parquet'", spark=spark) == [(5,)]
    with pytest.raises(SashError, match="cannot be read"):
        sash.sql("select * from 'nowhere.parquet'", spark=spark)


def test_views_and_tables_are_made(spark, t):
    rows("create temporary view made as select median(x) over (order by y) m, y from t", t=t)
    assert rows("select m from made order by y", spark=spark) == [(3.0,), (2.0,), (2.0,), (2.0,), (2.0,)]
    rows("create or replace temp view made (a, b) as select median(y) over (), y from t", t=t)
    assert rows("select a from made limit 1", spark=spark) == [(3.0,)]
    with pytest.warns(SashWarning, match="lives as long as the session"):
        sash.sql("create view lasting as select median(y) over (partition by k) m from t", t=t)
    spark.sql("create table kept (m double) using parquet")
    try:
        rows("insert into kept select median(y) over (partition by k) from t", t=t)
        assert rows("select distinct m from kept order by m", spark=spark) == [(1.5,), (4.0,)]
    finally:
        spark.sql("drop table kept")
        spark.catalog.dropTempView("made")
        spark.catalog.dropTempView("lasting")


def test_nothing_is_left_behind(spark, t):
    before = [each.name for each in spark.catalog.listTables()]
    rows("with u as (select median(x) over (order by y) m from t) select max(m) over () from u", t=t)
    assert [each.name for each in spark.catalog.listTables()] == before


@pytest.mark.parametrize(
    ("query", "sentence", "caret"),
    [
        ("select nope, sum(x) over (order by y) from t", "`nope` cannot be resolved", 7),
        ("select sum(nope) over (order by y) from t", "`nope` cannot be resolved", 11),
        ("select sum(x) over (order by y) from nowhere", "`nowhere` cannot be found", 37),
        ("select sum(x) over (order by :p) from t", "unbound parameter", 29),
        ("select sum(x) over (order by y), from from t", "", None),
    ],
)
def test_what_spark_refuses_is_shown_in_the_query(t, query, sentence, caret):
    with pytest.raises(SashError) as caught:
        sash.sql(query, t=t).collect()
    said = str(caught.value)
    assert sentence in said
    assert "sash_" not in said
    if caret is not None:
        assert isinstance(caught.value, AnalysisException)
        assert said.splitlines()[-1] == "  " + " " * caret + "^"


def test_offsets_below_zero_are_refused(t):
    with pytest.raises(Exception, match="the offset of a frame must be 0 or more"):
        sash.sql("select sum(x) over (order by y rows between y - 3 preceding and current row) from t", t=t).collect()


def test_without_window_calls_spark_answers_alone(spark):
    with pytest.raises(AnalysisException) as caught:
        sash.sql("select nope", spark=spark)
    assert not isinstance(caught.value, SashError)
    assert rows("select 1 as one", spark=spark) == [(1,)]


def test_plans_say_who_does_what(t):
    plan = sash.explain("select median(x) over (order by y) m, approx_count_distinct(x) over (order by y) from t", t=t)
    assert plan.chosen["approx_count_distinct(x) over (order by y)"] == "spark"
    assert "m = median(x)" in str(plan)
    assert str(sash.explain("select 1", spark=t.sparkSession)).startswith("no window calls for Sash")


def test_continuous_queries_are_boards_over_a_stream(spark):
    calls = spark.sql("select timestamp_seconds(60 * id) as at, id % 2 as line, id % 5 as len from range(10)")
    asked = "max(len) as longest from calls [range 4 minutes slide 2 minutes] where len < 4 group by line"
    found = sash.sql(f"select line, {asked}", calls=calls)
    assert found.columns == ["line", "window_end", "longest"]
    board = sash.stream(calls.where("len < 4"), time="at", key="line")
    board = board.query("longest", sash.functions.max("len"), range="4 minutes", slide="2 minutes")
    assert sorted(found.collect()) == sorted(board.results().collect())
    assert "longest = max(len)" in str(sash.explain(f"select line, {asked}", calls=calls))
    changed = sash.sql("select istream max(line) as m from calls [range 2 minutes]", calls=calls)
    assert [row.m for row in changed.collect()] == [1]
    with pytest.raises(SashError, match="must have one column of timestamps, its event time; t has none"):
        sash.sql("select max(len) from t [rows 10]", t=calls.select("len"))
    with pytest.raises(SashError, match="selects from one stream and its window, by its own name"):
        sash.sql("select max(len) as m from calls c [range 2 minutes]", calls=calls)
    days = sash.sql("select count(*) as n from t [range 1 day]", t=calls.selectExpr("date(at) as day"))
    assert [row.n for row in days.collect()] == [10]


def test_what_is_given_is_checked(spark, t):
    with pytest.raises(SashError, match="query must be text, got 3 of type int"):
        sash.sql(3)
    with pytest.raises(SashError, match="t must be a Spark DataFrame"):
        sash.sql("select 1", spark=spark, t=[1, 2])
    with pytest.raises(SashError, match="spark must be a SparkSession, got 7"):
        sash.sql("select 1", spark=7)
    with pytest.raises(SashError, match="args has 1 values, the query 2 parameters"):
        sash.sql("select ?, sum(x) over (order by ?) from t", args=[1], t=t)


def test_registered_aggregates(t):
    biggest = sash.Aggregate("Biggest", lift=lambda x: x, combine=lambda a, b: a if a > b else b, commutative=True)
    assert sash.register(biggest) is biggest
    assert rows("select BIGGEST(y) over (partition by k), biggest(distinct y) over () from t order by y", t=t) == [
        (2, 5), (2, 5), (5, 5), (5, 5), (5, 5),
    ]  # fmt: skip
    with pytest.raises(SashError, match="with a name of its own, got 'max'"):
        sash.register(sash.Aggregate("max", lift=lambda x: x, combine=lambda a, b: a))
    with pytest.raises(SashError, match=r"register takes a sash\.Aggregate, got 3"):
        sash.register(3)


def on_connect(spark):
    """What a session of Connect answers."""
    import pyarrow as pa

    import sash

    given = pa.table({"k": ["a", "a", "b"], "x": [3, 1, 2]})
    query = "with u as (select k, x, median(x) over (partition by k) m from t) select sum(m) over (order by x) from u"
    found = [row[0] for row in sash.sql(f"{query} order by x", spark=spark, t=given).collect()]
    try:
        sash.sql("select sum(nope) over (order by x) from t", spark=spark, t=given)
    except sash.SashError as error:
        return [found, str(error).splitlines()[0]]


@pytest.mark.long
def test_on_connect(connect):
    found, said = connect.run(on_connect)
    assert found == [2.0, 4.0, 6.0]
    assert "`nope` cannot be resolved" in said


def test_one_pass_over_few_rows_is_left_to_spark(as_shipped, t):
    def who(query):
        return set(sash.explain(query, t=t).chosen.values())

    assert who("select row_number() over (order by y), sum(x) over (order by y rows unbounded preceding) from t") == {
        "spark"
    }
    assert who("select sum(x) over (), lag(x) over (order by y desc) from t") == {"spark"}
    assert who("select row_number() over (partition by k order by y) from t") == {"spark"}
    assert "spark" not in who("select sum(x) over (partition by k), median(x) over (partition by k) from t")
    assert "spark" not in who("select sum(x) over (order by y rows 3 preceding) from t")
    assert "spark" not in who("select last_value(x ignore nulls) over (order by y) from t")
    named = "select sum(x) over (w rows unbounded preceding) s from t window w as (order by y) order by s nulls first"
    assert who(named) == {"spark"}
    assert rows(named, t=t) == [(3,), (4,), (4,), (6,), (8,)]
