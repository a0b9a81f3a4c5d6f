"""Aggregates over another table's rows around each row, written as correlated and lateral queries."""

from datetime import datetime, timedelta
from decimal import Decimal

import duckdb
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sash
from sash.errors import SashError
from sash.sql.without_spark import InMemory
from strategies import usually

START = datetime(2026, 1, 1)


def at(seconds):
    return pa.array([None if s is None else START + timedelta(seconds=s) for s in seconds], pa.timestamp("us"))


TRADES = pa.table({
    "id": range(9),
    "sym": ["a", "a", "b", None, "c", "b", "a", "b", "a"],
    "ts": at([10, 20, 10, 10, 5, None, 20, 40, 12]),
    "price": [1.5, 2.0, 4.0, 1.0, 3.0, 4.5, None, 9.5, 1.0],
})  # fmt: skip
QUOTES = pa.table({
    "sym": ["a", "a", "a", "b", "b", None, "a", "b", "a", "a"],
    "ts": at([10, 12, 20, 9, 10, 10, None, 31, 12, 25]),
    "bid": [1.0, 2.0, None, 4.0, 5.0, 6.0, 7.0, 9.0, 3.0, 2.5],
    "n": pa.array([1, 2, 3, 4, 5, 6, 7, 8, 9, 10], pa.int32()),
})  # fmt: skip
TABLES = {"trades": TRADES, "quotes": QUOTES}
NEAR = "q.sym = t.sym and q.ts between t.ts - interval 10 seconds and t.ts"

ANSWERED = [
    f"select t.id, (select median(q.bid) from quotes q where {NEAR}) as m from trades t order by t.id",
    f"select *, (select count(*) from quotes q where {NEAR}) as c from trades t where price > 1 order by id",
    f"select t.*, (select sum(n) from quotes q where {NEAR} and bid > 1.5) + 1 as s, id + 1 as other from trades as t order by id",
    f"select id, coalesce((select max(q.bid) - min(q.bid) from quotes q where {NEAR}), -1) as spread from trades t order by id",
    f"select id, (select count(distinct q.bid) filter (where n > 1) from quotes q where {NEAR}) as d from trades t order by id",
    """select id, case when sym = 'a' then (select avg(bid) from quotes as q where t.sym = q.sym and t.ts > q.ts) end as v
       from (select * from trades where id <> 2) t order by id""",
    """select id, (select count(*) from quotes where quotes.sym = trades.sym and quotes.ts >= trades.ts
       and quotes.ts < trades.ts + interval '15' second) as ahead from trades order by id limit 5""",
    f"""with few as (select * from quotes where n < 9), own as (select id, sym, ts from trades)
        select id, (select sum(q.n) from few q where {NEAR}) as s from own t order by id""",
    f"""select id, x.m, x.c + 1 as c from trades t
        left join lateral (select median(q.bid) as m, count(q.bid) as c from quotes q where {NEAR}) x on true order by id""",
    f"""select * from trades t cross join lateral (select coalesce(sum(n), 0) as s from quotes q where {NEAR}) as x
        join (select distinct sym as s2 from quotes) u on u.s2 = t.sym where x.s > 1 order by id""",
    f"""select id from (select id, (select count(*) from quotes q where {NEAR}) as c from trades t) where c > 1 order by id""",
    """select id, (select max(q.price) from trades q where q.sym = trades.sym and q.ts < trades.ts) as m
       from trades order by id""",
    f"""select count(*) as n, sum((select count(*) from quotes q where {NEAR})) as c from trades t""",
]
LEFT_TO_OTHERS = [
    f"select t as whole, (select count(*) from quotes q where {NEAR}) as c from trades t order by t.id",
    "select id, (select count(*) from quotes q where q.sym = t.sym) as c from trades t order by id",
    "select id, (select count(*) from quotes q where q.ts <= t.ts) as c from trades t order by id",
    f"select id, (select max(q.bid) + t.id from quotes q where {NEAR}) as c from trades t order by id",
    f"select id, (select count(*) from quotes q where {NEAR} and q.bid < t.price) as c from trades t order by id",
    f"select id, (select count(*) from quotes q where {NEAR} or q.n = 1) as c from trades t order by id",
    f"select id, exists (select 1 from quotes q where {NEAR}) as c from trades t order by id",
    f"select id, (select sum(c) from (select count(*) as c from quotes q where {NEAR}) x) as c from trades t order by id",
    f"""select u.k, (select count(*) from quotes q where {NEAR}) as c
        from trades t right join (select 'z' as k) u on u.k = t.sym""",
    f"select sym, ts, (select count(*) from quotes q where {NEAR}) as c from trades t group by sym, ts order by sym nulls first, ts nulls first",
]


@pytest.fixture
def computed(monkeypatch):
    """How many columns each frame was given by Sash."""
    found, right = [], InMemory.computed

    def counting(self, frame, columns, by_spark):
        found.append(len(columns))
        return right(self, frame, columns, by_spark)

    monkeypatch.setattr(InMemory, "computed", counting)
    return found


def rows(table):
    return [
        tuple(int(each) if isinstance(each, Decimal) else each for each in row.values()) for row in table.to_pylist()
    ]


def by_duckdb(query, tables):
    with duckdb.connect() as connection:
        for name, table in tables.items():
            connection.register(name, table)
        return connection.sql(query).to_arrow_table()


@pytest.mark.parametrize("query", ANSWERED)
def test_answers_are_those_of_duckdb(query, computed):
    found, expected = sash.sql(query, engine="local", **TABLES), by_duckdb(query, TABLES)
    assert rows(found) == rows(expected)
    assert found.column_names == expected.column_names
    assert len(computed) == 1


@pytest.mark.parametrize("query", LEFT_TO_OTHERS)
def test_other_shapes_are_left_as_they_are(query, computed):
    assert rows(sash.sql(query, engine="local", **TABLES)) == rows(by_duckdb(query, TABLES))
    assert computed == []


def test_queries_of_one_shape_share_their_work(computed):
    query = f"""select id, (select median(bid) from quotes q where {NEAR}) as m, (select median(bid) from quotes q
        where {NEAR}) + (select sum(n) from quotes q where {NEAR}) as more from trades t order by id"""
    assert rows(sash.sql(query, engine="local", **TABLES)) == rows(by_duckdb(query, TABLES))
    assert computed == [2]


bounds = st.sampled_from(["<", "<=", ">", ">="])
offsets = st.sampled_from(["", " - interval 3 seconds", " + interval 2 seconds", " - interval '1' minute"])
calls = st.sampled_from(["count(*)", "sum(q.n)", "median(q.bid)", "max(bid)", "count(distinct q.sym)", "avg(q.n) filter (where n > 2)"])  # fmt: skip
keys = st.lists(st.sampled_from(["a", "b", None]), min_size=12, max_size=12)
seconds = st.lists(st.one_of(st.none(), st.integers(0, 12)), min_size=12, max_size=12)


@usually(8)
@given(calls, bounds, offsets, st.one_of(st.none(), st.tuples(bounds, offsets)), keys, seconds, keys, seconds)
def test_any_bounds(call, word, offset, other, left_keys, left_times, right_keys, right_times):
    left = pa.table({"id": range(12), "sym": pa.array(left_keys, pa.string()), "ts": at(left_times)})
    right = QUOTES.slice(0, 0).append_column("x", pa.array([], pa.int8())).drop_columns("x")
    right = pa.table({"sym": pa.array(right_keys, pa.string()), "ts": at(right_times),
                      "bid": [float(k % 5) for k in range(12)], "n": pa.array(range(12), pa.int32())}, right.schema)  # fmt: skip
    condition = f"q.sym = t.sym and q.ts {word} t.ts{offset}"
    condition += "" if other is None else f" and t.ts{other[1]} {other[0]} q.ts"
    query = f"select id, (select {call} from quotes q where {condition}) as v from trades t order by id"
    tables = {"trades": left, "quotes": right}
    assert rows(sash.sql(query, engine="local", **tables)) == rows(by_duckdb(query, tables))


def test_on_spark_as_spark_answers_it(spark):
    """Values, names and types; the plan says that it is of Sash."""
    for name, table in TABLES.items():
        spark.createDataFrame(table.to_pandas()).createOrReplaceTempView(name)
    query = f"""select t.sym, (select max(q.bid) from quotes q where {NEAR}), x.c,
                       (select count(*) from quotes q where {NEAR}) as n, t.id
                from trades t left join lateral (select sum(q.n) as c from quotes q where q.sym = t.sym and q.ts <= t.ts)
                     as x on true order by t.id"""
    found, expected = sash.sql(query, spark=spark), spark.sql(query)
    assert found.dtypes == expected.dtypes
    assert found.collect() == expected.collect()
    others = f"""select *, (select count(*) from quotes q where {NEAR}), to_json(struct(*)) as j, hash(t.*) as h
                 from trades t order by t.id"""
    assert sash.sql(others, spark=spark).collect() == spark.sql(others).collect()
    named = f"select t.id, t.*, (select count(*) from quotes q where {NEAR}) from trades t"
    assert sash.sql(named, spark=spark).columns == spark.sql(named).columns
    plan = str(sash.explain(query, spark=spark))
    assert "rows of both tables shuffled by" in plan
    assert "max(" in plan


def test_what_is_wrong_is_said_by_spark_or_duckdb():
    query = f"select id, (select median(q.bd) from quotes q where {NEAR}) as m from trades t"
    with pytest.raises(SashError, match="bd"):
        sash.sql(query, engine="local", **TABLES)
