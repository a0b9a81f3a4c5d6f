"""Queries that Spark can answer, too: names mean what they mean there, whatever stands around the window calls."""

import pytest

import sash
from sash.errors import SashError

TABLES = {
    "t": "values ('a', 3, 1, 1.5), ('a', 1, 2, 2.5), ('b', null, 3, 0.5), ('b', 2, 4, 4.5), ('b', 2, 5, 3.5) t(k, x, y, v)",
    "u": "values ('a', 10), ('b', 20) t(k, z)",
    "kw": "values (1, 2, 3, 4, 5, 6, 7), (2, 3, 1, 5, 6, 8, 9) t(range, rows, limit, first, last, groups, offset)",
    "pv": "values (1, 10, 2, 3), (2, 20, 3, 100), (3, 30, 4, 50) t(id, `1`, a, b)",
    "st": "select id, named_struct('f', id * 3 % 4, 'g', id) as s, array(id, id + 1) as arr from range(5)",
}


@pytest.fixture(scope="module", autouse=True)
def tables(spark):
    for name, text in TABLES.items():
        query = text if text.startswith("select") else f"select * from {text}"
        spark.sql(query).createOrReplaceTempView(f"{name}")
    yield
    for name in TABLES:
        spark.catalog.dropTempView(name)


QUERIES = [
    "select b * a + 1 + sum(count(*)) over (partition by 1) c from pv group by b, a, a + 1",
    "select a + 1 * 2 + sum(count(*)) over (partition by 1) c from pv group by a, a + 1",
    "select k, case when x > 1 then mod(y, x - 1) else count(*) over (partition by k) end from t where x is not null",
    "select case when k rlike '^[0-9]+$' then cast(k as int) else count(*) over (partition by k) end from t",
    "select if(size(arr) > 5, arr[5], count(*) over (partition by id % 2)) from st",
    "select to_json(struct(k, max(y) over (partition by k), sum(y) over (partition by k) as t, y + 1)) j from t",
    "select struct(k, row_number() over (partition by k order by y) m).k, array(struct(t.k, max(y) over (partition by k) m))[0].m from t",
    "select max(k) over (partition by k) like any ('a%', 'c%'), max(k) over (partition by k) like all ('a%') from t",
    "select max(struct(y, x)) over (partition by k), min(array(x, y)) over (partition by k) from t",
    "select r'a\\', sum(y) over (partition by k) from t",
    "select nth_value(x, 1, true) over (partition by k order by y), sum(x) respect nulls over (partition by k) from t",
    "select sum(y) over w2 from t window w2 as w, w as (partition by k)",
    "select * from (select sum(v) over w, count(*) over w from t) window w as (partition by k)",
    "select *, sum(y) over w from (select k, y, approx_count_distinct(v) over w from t) window w as (partition by k)",
    "select * from (with c as (select k, max(x) over w from t) select * from c union select k, 1 from c) window w as (partition by k)",
    "select * from u join (select k, sum(x) over w as s from t) using (k) window w as (partition by k order by y)",
    "select k, max(y) m, rank() over (partition by 1 order by max(y) desc) from t group by all",
    "select *, sum(1) over (partition by 1 order by id) c from pv",
    "select * from (select *, sum(x) over (partition by k order by y) s from t) as v where v.k = 'b' and s > 2",
    "with w as (select k as j, sum(x) over (partition by k order by y) s from t where y > 1) select s from w where j <> 'a'",
    "select * from (select k, v, max(s) over (partition by k) from (select k, v, sum(x) over (partition by v, k) s from t)) "
    "where k in ('b', 'c') and not v between 1 and 4",
    "select 1 as one, sum(`1`) over (partition by 1 order by id) c from pv",
    "select x, sum(x) over (partition by k) s from t |> where x > 1",
    "select first + sum(last) over (partition by 1 order by groups) s, max(last) over (partition by 1) as first from kw",
    "select range, rows, sum(limit) over (partition by 1 order by range rows 1 preceding) s from kw where limit > 0 "
    "order by offset limit 1 offset 0",
    "select -y as y, count(*), sum(count(*)) over (partition by 1) from t group by -y order by -y",
    "select struct(-s.f as f) as s, sum(id) over (partition by 1 order by id) w from st order by s.f, w",
    "select named_struct('a', sum(x) over (partition by k order by y)) as p, p.a + 1 as q from t",
    "select replace(k, '.csv', ''), sum(x) over (partition by k) from t",
    "select k, first(x) ignore nulls, sum(sum(x)) over (partition by k) from t group by k",
    "select t.* except (v), sum(x) over (partition by k) from t",
    "select (max(struct(y as yy, x)) over (partition by k)).yy from t",
    "select x as a, a + sum(y) over (partition by k order by y), abs(a) + sum(y) over (partition by k) from t",
    "select size(filter(array(1, 2), x -> x > 1)) + x + sum(y) over (partition by k) from t",
    "select trim(both 'b' from max(k) over (partition by k)), substring(max(k) over (partition by k) from 1 for 1) from t",
    "select timestampdiff(day, timestamp '2020-01-01', max(date '2020-01-05') over (partition by k)) from t",
    "select arr[id % 2] + sum(id) over (partition by 1 order by id), arr[cast(min(id) over (partition by 1) as int)] from st",
    "select k, y in (1, 2), sum(x) over (partition by k) not in (4, 5), y between 2 and count(*) over (partition by k) from t",
    "select case k when 'a' then sum(y) over (partition by k) else -y end, y is distinct from max(y) over (partition by k) "
    "from t",
    "select t.k, sum(z) over (partition by t.k order by y) from t join u using (k) natural join (select 'a' as k)",
    "select k, z, sum(z) over (partition by k order by y) from t join u using (k)",
    "select a.*, b.z, count(*) over (partition by a.k) from t a left join u b on a.k = b.k and b.z > 10",
    "with t as (select k, y from t where y < 4) select *, sum(y) over (partition by k order by y) from t",
    "select * from (with u as (select 2 as k) select k, sum(k) over (partition by k) from u) cross join u",
    "select y, (select max(m) from (select sum(v.x) over (partition by v.k) m from t v where v.k = t.k)) from t",
    "select k, rank() over (partition by k order by y) r from t qualify r = 2 or y = 5 order by r desc, k",
    "select k, row_number() over (partition by k order by y desc) as n from t order by k desc, n asc nulls last limit 3",
    "select k as g, sum(x) over (partition by k order by y) from t union select 'z', 1 order by 1, 2 desc nulls last",
    "select if(sum(x) over (partition by k) > 3, 'big', 'small') || k, interval '1' day * count(*) over (partition by k) from t",
    "select cast(sum(x) over (partition by k) as decimal(10, 2)), sum(x) over (partition by k)::string || '!' from t",
    "select date_add(date '2020-01-01', cast(rank() over (partition by k order by y) as int)) from t",
    "select min(x) over (partition by k), current_date() = max(current_date) over (partition by k) from t",
    "select distinct k, max(y) over (partition by k) m from t order by m",
    "select k, sum(x) filter (where y > 1) over (partition by k) from t tablesample (100 percent)",
    "select e, k, count(*) over (partition by e) from t lateral view explode(array(x, y)) l as e",
    "select k, x, lead(x, 1, -1) over (partition by k order by y) - x d from t where x is not null",
    "select k, avg(sum(y)) over (partition by count(*)) from t group by k having sum(y) > 0",
    "select cube_k, sum(n) over (partition by 1) from (select k cube_k, count(*) n from t group by cube(k))",
]


def fields(frame):
    """What columns are called, of what type they are, and whether they may be NULL."""
    return [(field.name, field.dataType, field.nullable) for field in frame.schema]


@pytest.mark.parametrize("query", QUERIES)
def test_the_same_rows_come(spark, query):
    mine, theirs = sash.sql(query, spark=spark), spark.sql(query)
    assert fields(mine) == fields(theirs)
    mine, theirs = mine.collect(), theirs.collect()
    mine, theirs = [tuple(row) for row in mine], [tuple(row) for row in theirs]
    if "order by" not in query.rpartition(")")[2]:
        mine, theirs = sorted(mine, key=repr), sorted(theirs, key=repr)
    assert repr(mine) == repr(theirs)


@pytest.mark.parametrize(
    "listed",
    [
        "count(x) over w, count_if(x > 1) over w + 1, row_number() over w, ntile(2) over w, rank() over w, cume_dist() over w",
        "first(y) over w, max_by(k, y) over w, any_value(y) over w, bool_and(y > 1) over w, string_agg(k, '-') over w",
        "lead(y) over w, lag(y, 2) over w, nth_value(y, 2) over w, nth_value(y, 2) ignore nulls over w",
        "median(x) over v, mode(k) over v, percentile_cont(0.5) within group (order by y) over v, percentile(x, 0.1) over v",
        "stddev(x) over w, var_pop(x) over w, corr(x, y) over w, regr_slope(x, y) over w, regr_count(x, y) over w",
        "sum(v) over w, avg(v) over w, avg(x) over w, sum(x) over w, min(v) over w, max(k) over w, bit_and(x) over w",
        "sum(y) over (partition by k order by y, v desc nulls last rows between 1 preceding and 1 following), x",
        "sum(y) over (partition by k order by y desc range between current row and 2 following) - y, t.*, max(t.v) over v",
        "sum(interval '1' day * x) over w, avg(interval '1' day * x) over w, min(interval '1' day * x) over w",
        "upper(k), sum(count(*)) over (partition by k), max(sum(y)) over (partition by k)",
        "x as a, a + 1, a + sum(y) over w, 2 * a",
    ],
)
def test_a_query_may_go_from_spark_to_sash_without_a_change_of_schema(spark, listed):
    query = f"select {listed} from t {'group by k ' * ('count(*)' in listed)}window w as (v order by y), v as (partition by k)"
    plain = (
        query.replace("v as", "spare as")
        .replace("(v order", "(partition by k order")
        .replace("over v", "over (partition by k)")
    )
    assert fields(sash.sql(query, spark=spark)) == fields(spark.sql(plain))


def test_what_spark_does_not_have_is_called_as_it_is_written(spark):
    listed = (
        "sum(x) over w, sum(distinct x) over w, max(x) over w + count(distinct k) over w, max(v) over (order by v) as m"
    )
    found = sash.sql(f"select {listed} from t window w as (partition by k)", spark=spark)
    rows = "ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING"
    assert found.columns == [
        f"sum(x) OVER (PARTITION BY k {rows})",
        "sum(distinct x) over w",
        "max(x) over w + count(distinct k) over w",
        "m",
    ]


def test_case_counts_where_the_session_says_so(spark):
    spark.conf.set("spark.sql.caseSensitive", "true")
    try:
        spark.sql("select * from values (1, 10), (2, 20) t(a, A)").createOrReplaceTempView("cs")
        query = "select a, sum(A) over (partition by 1 order by a) s, sum(a) over (partition by 1 order by a) S from cs"
        assert [tuple(row) for row in sash.sql(query, spark=spark).collect()] == [(1, 10, 1), (2, 30, 3)]
    finally:
        spark.conf.unset("spark.sql.caseSensitive")
        spark.catalog.dropTempView("cs")


def test_double_quotes_are_names_where_the_session_says_so(spark):
    query = 'select "y" + sum("x") over (partition by "k") as "s t" from t order by "s t"'
    with pytest.raises(SashError, match='"x" is a text in Spark, not a column; write `x`'):
        sash.sql('select sum("x") over (partition by k) from t', spark=spark)
    spark.conf.set("spark.sql.ansi.doubleQuotedIdentifiers", "true")
    try:
        found = sash.sql(query, spark=spark)
        assert (found.columns, found.first()[0]) == (["s t"], 5)
    finally:
        spark.conf.unset("spark.sql.ansi.doubleQuotedIdentifiers")


def test_what_is_given_may_be_named_anew(spark):
    given = spark.sql("select * from t")
    query = "with t as (select * from t where y < 4) select y, median(x) over (order by y) from t order by y"
    assert [tuple(row) for row in sash.sql(query, t=given).collect()] == [(1, 3.0), (2, 2.0), (3, 2.0)]


def test_a_file_does_not_hide_a_table(spark, tmp_path):
    spark.sql("select 1 as z union all select 2").write.parquet(str(tmp_path / "u.parquet"))
    query = f"select f.z, u.z, median(f.z) over (order by f.z, u.z) m from '{tmp_path}/u.parquet' f cross join u order by 1, 2"
    assert [tuple(row)[:2] for row in sash.sql(query, spark=spark).collect()] == [(1, 10), (1, 20), (2, 10), (2, 20)]
    query = f"with u as (select * from '{tmp_path}/u.parquet') select max(z) over (order by z) from u order by 1"
    assert [tuple(row) for row in sash.sql(query, spark=spark).collect()] == [(1,), (2,)]


@pytest.mark.parametrize(
    ("query", "sentence"),
    [
        (
            "select struct(*, sum(y) over (partition by k)) p from t",
            r"\* cannot stand in an expression around a window",
        ),
        ("select to_json(struct(t.*, max(y) over (partition by k))) p from t", r"\* cannot stand in an expression"),
        (
            "select x, rank() over (partition by k order by y) r, sum(v) from t group by all",
            "GROUP BY ALL does not tell",
        ),
        (
            "select meadian(x) over (partition by k) from t",
            "there is no function meadian over windows; did you mean median",
        ),
        ("cache table c as select median(x) over (partition by k) from t", "CACHE TABLE cannot keep a query"),
        ("select x median(x) over (partition by k) from t", ""),
        ("select k, count(*) over (partition by k) from t group by 1, 2", "cannot stand in GROUP BY"),
        ("create view nodb.v9 as select count(distinct k) over () c from t", "is in no schema"),
        ("select count(distinct k) over () from t qualify", "QUALIFY takes a condition"),
        ("select sum(x) filter () over (order by y) from t", "FILTER takes a condition"),
        ("select sum(x) over (order by y exclude ties) from t", "EXCLUDE takes rows out of a frame"),
        ("select mad(k) over (order by y) from t", "mad takes"),
        (
            "select sum(distinct x) over (order by y range interval 1 day preceding) from t",
            "RANGE: start must be a number",
        ),
        ("select sum(x) over w from t window w (order by y)", "WINDOW takes definitions such as"),
        ("select percentile_disc(0.5) over (order by y) from t", "needs an ORDER BY in the call, or WITHIN GROUP"),
        ("select quantile_cont(0.5, y) over (order by y) from t", "takes the value first and the share second"),
        (
            "select sum(x) over (order by y rows '3' preceding) from t",
            "the offset of ROWS must be a whole number, got '3'",
        ),
        (
            "select ntile(y - 3) over (order by y) from t",
            "the number of ntile must be at least 1 in every row, got -2",
        ),
        (
            "select lead(x, v) over (order by y) from t",
            r"the offset of lead must be a whole number, got a column of type",
        ),
        ("select lead(x, 'a') over (order by y) from t", "offset must be a whole number, got 'a'"),
        ("from t select median(x) over (order by y)", "Cannot specify ORDER BY"),
        ("from t |> extend median(x) over (order by y) as m", "Cannot specify ORDER BY"),
        ("delete from t where median(x) over (order by y) > 1", "Cannot specify ORDER BY"),
        ("update t set x = median(x) over (order by y)", "Cannot specify ORDER BY"),
        (
            "select y, (select max(m) from (select median(u.z + t.y) over (order by u.z) m from u)) from t",
            "Cannot specify",
        ),
    ],
)
def test_what_is_refused(spark, query, sentence):
    with pytest.raises(SashError, match=sentence):
        sash.sql(query, spark=spark).collect()


def test_the_longest_offsets_are_offsets(spark):
    query = """
        select count(*) over (order by x range between 9223372036854775807 preceding and 9223372036854775807 following)
        from values (cast('-9223372036854775808' as bigint)), (0L), (9223372036854775807L) t(x) order by x
    """
    assert [row[0] for row in sash.sql(query, spark=spark).collect()] == [1, 2, 2]


@pytest.mark.parametrize("kind", ["rows", "groups", "range"])
@pytest.mark.parametrize("part", ["", "partition by 1 "])
def test_an_offset_beyond_all_rows_is_none(spark, kind, part):
    far = f"{2**63 - 1}"
    frames = [
        f"between {far} preceding and {far} preceding",
        f"between {far} following and {far} following",
        f"between {far}0 preceding and {2**63} preceding",
        f"between 1 following and {far} following",
        f"between {far} preceding and {far} following",
        "between abs(y - 2) * 9223372036854775807 preceding and current row",
    ]
    calls = [f"count(distinct y) over ({part}order by y {kind} {frame})" for frame in frames]
    found = sash.sql(f"select {', '.join(calls)} from t where y < 4 order by y", spark=spark).collect()
    assert [tuple(row) for row in found] == [(0, 0, 0, 2, 3, 1), (0, 0, 0, 1, 3, 1), (0, 0, 0, 0, 3, 3)]


@pytest.mark.parametrize("way", ["", " desc"])
def test_a_range_of_floats_may_be_infinite(spark, way):
    infinite, unknown = "cast('inf' as double)", "cast('nan' as double)"
    frames = [  # what Spark can say, too
        f"{infinite} preceding and current row",
        f"current row and {infinite} following",
        f"{infinite} preceding and {infinite} following",
        f"{infinite} preceding and 1 following",
        f"{unknown} preceding and {unknown} following",
        "0.1 preceding and 0.25 following",
        "0.1F preceding and 1e0 following",
    ]
    calls = [f"count(v) over (partition by k order by v{way} range between {each})" for each in frames]
    calls += [each.replace("order by v", "order by float(v)").replace("as double", "as float") for each in calls]
    query = f"select {', '.join(calls)} from (select k, double(v) / 10 as v from t) order by k, v"
    assert sash.sql(query, spark=spark).collect() == spark.sql(query).collect()
    with pytest.raises(SashError, match="must be finite where the order key is of type int32, got -inf"):
        sash.sql(
            "select count(distinct x) over (order by x range double('inf') preceding) from t", spark=spark
        ).collect()
