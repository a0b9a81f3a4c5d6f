"""Rows of a PostgreSQL table, windows by Sash, answers back into a table; PostgreSQL computes the same itself."""

import os
import sys

import pytest

import sash
from engine.streams.stream_oracle import same
from sash import Window
from sash import functions as sf
from services.jobs import Job, Process
from sessions import BRIEF

SALES = """
drop table if exists sales;
select setseed(0.5);
create table sales as
select
    id,
    'shop ' || (random() * 4)::int as shop,
    timestamp '2026-01-01' + (random() * 200)::int * interval '6 hours' as at,  -- with ties
    case when random() > 0.1 then (random() * 50)::int end as items,
    case when random() > 0.1 then round((random() * 100)::numeric, 2) end as price
from generate_series(1, 2000) id;
"""

# the same windows twice, by their names
THEIRS = """
select
    id,
    sum(items) over (in_order rows between 10 preceding and 2 following exclude current row) as sum_rows,
    sum(price) over (by_time range between '7 days' preceding and '1 day' following exclude ties) as sum_range,
    count(*) over (by_time groups between 3 preceding and 1 preceding) as count_groups,
    max(items) over (by_time groups between 5 preceding and current row exclude group) as max_groups,
    first_value(id) over (in_order rows between 4 preceding and current row exclude current row) as first_id,
    nth_value(id, 3) over (in_order rows between 4 preceding and 4 following) as third_id,
    rank() over by_items as place,
    dense_rank() over by_items as dense_place,
    ntile(7) over in_order as tile,
    percent_rank() over by_items as percent_place,
    cume_dist() over by_items as distribution,
    lag(price, 2) over in_order as price_before,
    lead(id, 1, -1) over in_order as id_after,
    (
        select percentile_cont(0.5) within group (order by others.price)
        from sales others
        where others.shop = sales.shop and others.at between sales.at - interval '7 days' and sales.at
    ) as median_week,
    (
        select percentile_disc(0.9) within group (order by others.items)
        from sales others
        where others.shop = sales.shop and others.at between sales.at - interval '7 days' and sales.at
    ) as high_week,
    (
        select count(distinct others.items)
        from sales others
        where others.shop = sales.shop and others.at between sales.at - interval '7 days' and sales.at
    ) as kinds_week
from sales
window
    by_time as (partition by shop order by at),
    in_order as (partition by shop order by at, id),
    by_items as (partition by shop order by items desc nulls last)
"""

PIPELINE = """
[variables]
forbidden = 0

[spark]
master = "local[2]"
conf = {{ "spark.jars" = "{jars}", "spark.driver.extraJavaOptions" = "{java}", "spark.sql.shuffle.partitions" = 2 }}

[sources.sales]
format = "jdbc"
table = "sales"
[sources.sales.options]
url = "{url}"
user = "{user}"
password = "${{PGPASSWORD}}"

[[steps]]
name = "good_ones"
sql = "select *, 1 / (id - ${{forbidden}}) as inverse from sales"

[[steps]]
name = "typical"
from = "good_ones"
kind = "windows"
partition_by = "shop"
order_by = ["at", "id"]
frame = "rows between 10 preceding and 2 following exclude current row"
columns.sum_items = "sum(items)"
columns.highest = "max(price)"
columns.different = "count(distinct items)"
columns.middle = "median(items)"

[[sinks]]
from = "typical"
format = "jdbc"
table = "typical"
mode = "overwrite"
[sinks.options]
url = "{url}"
user = "{user}"
password = "${{PGPASSWORD}}"
"""

TYPICAL = """
select
    id,
    sum_items,
    highest,
    (select count(distinct value) from unnest(around) value) as different,
    (select percentile_cont(0.5) within group (order by value) from unnest(around) value) as middle
from (
    select id, sum(items) over w as sum_items, max(price) over w as highest, array_agg(items) over w as around
    from sales
    window w as (partition by shop order by at, id rows between 10 preceding and 2 following exclude current row)
) framed
"""


def ours():
    by_time = Window.partitionBy("shop").orderBy("at")
    in_order = Window.partitionBy("shop").orderBy("at", "id")
    by_items = Window.partitionBy("shop").orderBy("items desc nulls last")
    week = by_time.rangeBetween("-7 days", 0)
    return {
        "sum_rows": sf.sum("items").over(in_order.rowsBetween(-10, 2).exclude("current row")),
        "sum_range": sf.sum("price").over(by_time.rangeBetween("-7 days", "1 day").exclude("ties")),
        "count_groups": sf.count().over(by_time.groupsBetween(-3, -1)),
        "max_groups": sf.max("items").over(by_time.groupsBetween(-5, 0).exclude("group")),
        "first_id": sf.first_value("id").over(in_order.rowsBetween(-4, 0).exclude("current row")),
        "third_id": sf.nth_value("id", 3).over(in_order.rowsBetween(-4, 4)),
        "place": sf.rank().over(by_items),
        "dense_place": sf.dense_rank().over(by_items),
        "tile": sf.ntile(7).over(in_order),
        "percent_place": sf.percent_rank().over(by_items),
        "distribution": sf.cume_dist().over(by_items),
        "price_before": sf.lag("price", 2).over(in_order),
        "id_after": sf.lead("id", 1, -1).over(in_order),
        "median_week": sf.median("price").over(week),
        "high_week": sf.percentile_disc("items", 0.9).over(week),
        "kinds_week": sf.count_distinct("items").over(week),
    }


def read_and_write(spark, url, user, password):
    """From the table, in four parts, and back."""
    options = {"url": url, "user": user, "password": password, "driver": "org.postgresql.Driver"}
    parts = {"partitionColumn": "id", "lowerBound": 1, "upperBound": 2001, "numPartitions": 4}
    sales = spark.read.format("jdbc").options(**options, dbtable="sales", **parts).load()
    answers = sash.withColumns(sales, ours()).select("id", *ours())
    answers.write.format("jdbc").options(**options, dbtable="answers").mode("overwrite").save()


def batches(spark, url, user, password):
    """Batches of two streams, some of which come again, as after a crash; and one that fails in the middle."""
    from sash.spark import postgres
    from sash.spark.postgres_books import Planned

    options = {"url": url, "user": user, "password": password}
    for stream, number in (("a", 0), ("a", 1), ("a", 1), ("b", 0), ("a", 2)):
        rows = spark.sql(f"select '{stream}' as stream, {number} as number, id from range(10)").repartition(2)
        postgres.write(
            rows, options, 'public."my batches"', append=True, batch=Planned(stream, number, f"plan {number}")
        )
    assert postgres.exists(spark, options, 'public."my batches"')
    assert not postgres.exists(spark, options, "public.nothing")
    broken = spark.sql("select 'a' as stream, 3 as number, 1 div if(id = 9, 0, 1) as id from range(10)").repartition(2)
    try:
        postgres.write(broken, options, 'public."my batches"', append=True, batch=Planned("a", 3, "plan 3"))
    except Exception as error:
        return str(error)


def piped(spark, file, password):
    """A run of the pipeline, on this session."""
    from sash.pipelines import load, run

    os.environ["PGPASSWORD"] = password
    return run(load(file), spark).rows_in


@pytest.fixture(scope="module")
def sales(postgres):
    postgres.sql(SALES)
    return postgres


@pytest.fixture(scope="module")
def job(sales, tmp_path_factory):
    with Job(tmp_path_factory.mktemp("job"), sales.conf) as job:
        yield job


def differing(postgres, table, query):
    """The columns in which a table is not what a query gives, numbers being equal when they are near."""
    mine, theirs = ({row["id"]: row for row in postgres.rows(each)} for each in (f"select * from {table}", query))
    assert mine.keys() == theirs.keys()
    return {
        name: (number, mine[number][name], value)
        for number, row in theirs.items()
        for name, value in row.items()
        if not same(mine[number][name], value)
    }


def written(postgres, folder):
    """The file of the pipeline."""
    file = folder / "typical.toml"
    jars = postgres.conf["spark.jars"]
    file.write_text(PIPELINE.format(jars=jars, java=BRIEF, url=postgres.url, user=postgres.user))
    return str(file)


def run(postgres, folder, *options):
    """The code and the output of the pipeline as a command."""
    command = [sys.executable, "-m", "sash.cli", "run", written(postgres, folder), *options]
    with Process(folder, command, {"PGPASSWORD": postgres.password}) as process:
        return process.finish(), process.log()


def test_windows_of_a_table_are_those_of_postgres(sales, job):
    job.ask(read_and_write, sales.url, sales.user, sales.password)
    assert sales.sql("select count(*) from answers").strip() == "2000"
    assert differing(sales, "answers", THEIRS) == {}


def test_a_batch_that_comes_again_is_written_once(sales, job):
    failure = job.ask(batches, sales.url, sales.user, sales.password)
    assert "zero" in failure
    counts = sales.rows('select stream, number, count(*) as n from "my batches" group by 1, 2 order by 1, 2')
    assert [tuple(row.values()) for row in counts] == [("a", 0, 10), ("a", 1, 10), ("a", 2, 10), ("b", 0, 10)]
    tables = sales.rows("select tablename as name from pg_tables where schemaname = 'public' order by 1")
    assert not [
        row for row in tables if row["name"].startswith("sash_") and row["name"] not in ("sash_writes", "sash_commits")
    ]


def test_a_pipeline_from_table_to_table(sales, job, tmp_path):
    assert job.ask(piped, written(sales, tmp_path), sales.password) == {"good_ones": 2000}
    assert differing(sales, "typical", TYPICAL) == {}

    before = sales.rows("select * from typical order by id")
    code, told = run(sales, tmp_path, "--set", "forbidden=1000")  # the inverse of 0, of one row in the middle
    assert code == 1, told
    assert "zero" in told
    assert sales.password not in told
    assert sales.rows("select * from typical order by id") == before
