"""What is one query, and what is something else, however it is dressed."""

import pytest

from sash.errors import SashError
from sash.sql.one_query import check_query
from sash.sql.rows import rows_of

QUERIES = [
    "select 1",
    "(select 1)",
    "((select 1) union (values (2)));",
    "with a as (select 1) select * from a",
    "with recursive r(n) as (select 1 union all select n + 1 from r where n < 3) select * from r",
    "with a as (with b as (select 1) select * from b), c as (select 2) select * from a, c",
    "values (1)",
    "table t",
    "from t select x",
    "from t |> where x > 1 |> drop y |> set x = 2",
    "-- drop\nselect 1;;",
    "/* a /* b */ c */ select 1",
    "select insert, `drop table t;` from t where x = '; drop table t' -- ; drop",
    "select istream max(x) from t [range 5 minutes slide 1 minute]",
]
STATEMENTS = [
    "",
    "-- nothing",
    "drop table t",
    "DROP TABLE t",
    "delete from t",
    "truncate table t",
    "insert into t select 1",
    "insert overwrite t select 1",
    "with a as (select 1) insert into t select * from a",
    "with a as (select 1) insert overwrite t select * from a",
    "with a as (select 1) delete from t",
    "with a as (select 1) from a insert into t select *",
    "with a as (drop table t) select 1",
    "with a as (select 1)",
    "from t insert into u select x",
    "from t\ninsert overwrite table a select 1 insert into b select 2",
    "from t |> insert into u",
    "update t set x = 1",
    "merge into t using u on t.a = u.a when matched then delete",
    "create table t as select 1",
    "create or replace temp view v as select 1",
    "alter table t rename to u",
    "set x = 1",
    "reset",
    "use db",
    "cache table t as select 1",
    "uncache table t",
    "explain select 1",
    "describe t",
    "show tables",
    "analyze table t compute statistics",
    "refresh table t",
    "msck repair table t",
    "load data inpath 'x' into table t",
    "add jar 'x'",
    "call system.p()",
    "execute immediate 'drop table t'",
    "begin select 1; end",
    "declare x int",
    "select 1; drop table t",
    "select 1; select 2",
    "/* select */ drop table t",
    "-- select 1\ndrop table t",
    "-- select 1 \\\nselect 1\ndrop table t",
    "-- \rdrop table t /* \n select 1 -- */",
    "/* /*+ */ drop table t -- */ select 1",
    "(drop table t)",
    "((insert into t select 1))",
    "`select`",
    "'select 1'",
]


@pytest.mark.parametrize("text", QUERIES)
def test_queries_are_taken(text):
    check_query(text)


@pytest.mark.parametrize("text", STATEMENTS)
def test_anything_else_is_refused(text):
    with pytest.raises(SashError, match=r"a query is needed|WITH names queries"):
        check_query(text)


@pytest.mark.parametrize("text", ["-- \rdrop table t_ /* \n select 1 -- */", "/* /*+ */ drop table t_ -- */ select 1",
                                  "-- a \\\nselect 1\ndrop table t_"])  # fmt: skip
def test_comments_end_where_spark_ends_them(spark, text):
    spark.sql("create table t_ (n int) using parquet")
    spark.sql(text)
    assert not spark.catalog.tableExists("t_")


@pytest.mark.parametrize(
    ("text", "table"),
    [
        ("select k, n + 1 as m from boards where n > 3", "boards"),
        ("select *, upper(k), coalesce(n, 0), case when n > 1 then 2 end from boards b", "boards"),
        ("select max(n) from boards", None),
        ("select any(n > 1) from boards", None),
        ("select unheard_of(n) from boards", None),
        ("select distinct k from boards", None),
        ("select k from boards limit 3", None),
        ("select k from boards order by k", None),
        ("select k from boards group by k", None),
        ("select k, sum(n) over (order by k) from boards", None),
        ("select k from boards where k in (select 1)", None),
        ("select a.k from boards a join boards b on a.k = b.k", None),
        ("select k from boards union all select k from boards", None),
        ("select k from boards tablesample (5 rows)", None),
        ("with a as (select 1 as k) select k from a", None),
        ("select k from db.boards", None),
        ("insert into a select k from boards", None),
        ("select k from", None),
    ],
)
def test_which_queries_take_rows_one_by_one(text, table):
    assert rows_of(text) == table


@pytest.mark.long
def test_no_aggregate_of_spark_is_taken_for_a_function_of_one_row(spark):
    kinds = {row["function"]: row for row in spark.sql("show system functions").collect()}
    wrong = []
    for name in kinds:
        if not name.isidentifier():
            continue
        told = "\n".join(row[0] for row in spark.sql(f"describe function extended {name}").collect())
        if "catalyst.expressions.aggregate." in told and rows_of(f"select {name}(n) from boards") is not None:
            wrong.append(name)
    assert not wrong
