"""Queries of tables in memory, with engine="local": the same answers, without Spark."""

import subprocess
import sys
from collections import Counter

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import sash
from sash import Window
from sash import functions as sf
from sash.errors import SashError, SashWarning
from sql.test_queries import QUERIES, ROWS, WITHOUT_ORDER

REFUSED = [query for query, _ in QUERIES if "with rollup" in query]


def answers(query, args=None, **tables):
    table = sash.sql(query, args, engine="local", **tables)
    assert isinstance(table, pa.Table)
    return list(zip(*(column.to_pylist() for column in table.columns), strict=True))


@pytest.mark.parametrize(("query", "expected"), [each for each in QUERIES if each[0] not in REFUSED])
@pytest.mark.filterwarnings("ignore::sash.errors.SashWarning")
def test_answers_are_those_on_spark(query, expected):
    assert answers(query, t=ROWS) == expected


@pytest.mark.parametrize(("without", "ordered"), WITHOUT_ORDER)
def test_without_an_order_rows_are_in_that_of_the_columns(without, ordered):
    with pytest.warns(SashWarning, match="has no ORDER BY: its rows are in the order of k, x, y, d, n, so that"):
        found = answers(f"select y, {without} from t order by y", t=ROWS)
    assert found == answers(f"select y, {ordered} from t order by y", t=ROWS)


def test_rows_are_in_no_order_of_lists():
    rows = pa.table({"items": [[1], [2]], "pair": pa.array([[1, 2]] * 2, pa.list_(pa.int32(), 2)), "v": [2, 1]})
    with pytest.warns(SashWarning, match="its rows are in the order of v, so that"):
        assert answers("select v, row_number() over () from t order by v", t=rows) == [(1, 1), (2, 2)]


def test_tables_of_all_libraries_and_parameters():
    frame = pd.DataFrame({"k": ["a", "a", "b"], "v": [1.5, 2.5, None]})
    query = (
        "select l.k, sum(n) over (partition by l.k order by n rows :back preceding) s, median(v) over (partition by l.k) m "
        "from l join r on l.k = r.k where n > ? order by 1, 2"
    ).replace("?", ":low")
    found = answers(query, {"back": 1, "low": 0}, l=pl.DataFrame({"k": ["a", "b"], "n": [1, 2]}), r=frame)
    assert found == [("a", 1, 2.0), ("a", 2, 2.0), ("b", 2, None)]
    query = "select n + ?, max(n) over (order by n) from l where n < ?"
    assert answers(query, [10, 2], l=pa.table({"n": [1, 2]})) == [(11, 1)]


def test_types_and_names():
    query = "select sum(x) as s, k, sum(count(*)) over (order by k), rank() over (order by sum(x)) from t group by k order by k"
    found = sash.sql(query, engine="local", t=ROWS)
    assert found.schema.types == [pa.int64(), pa.string(), pa.int64(), pa.int32()]
    assert found.column_names == ["s", "k", "sum(count(*)) over (order by k)", "rank() over (order by sum(x))"]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        (
            "select j, mm from (select s.k as j, count(distinct v) over (partition by s.k) as mm from "
            "(select k, s, v, median(v) over (partition by k) m from t) q) where j = 1 order by 1",
            [(1, 2), (1, 2)],
        ),
        (
            "select k, m from (select s.*, median(v) over (partition by k) m from t) where k = 1 order by m",
            [(1, 2), (1, 3)],
        ),
    ],
)
def test_conditions_on_fields_of_structs_are_not_of_columns_of_their_names(query, expected):
    rows = [{"k": 1, "v": 1, "s": 1}, {"k": 2, "v": 2, "s": 1}, {"k": 1, "v": 3, "s": 2}, {"k": 2, "v": 4, "s": 2}]
    assert answers(query, t=pa.Table.from_pylist([row | {"s": {"k": row["s"]}} for row in rows])) == expected


@pytest.mark.parametrize(
    ("query", "line", "word"),
    [
        ("select k,\n sum(x) over (partition by k order by zz) b\nfrom t", 2, "zz"),
        ("select k,\n sum(x) over (order by y) b from t\nwhre k = 1", 3, "k = 1"),
        ("select k,\n sum(x) over (order by y) b\nfrom elsewhere", 3, "elsewhere"),
        ("select k,\n nofun(x), sum(x) over (order by y) b from t", 2, "nofun"),
        ("select k, x,\n sum(x) over (order by y) from t where q.x = 1", 2, "q.x"),
    ],
)
def test_errors_point_at_what_they_name(query, line, word):
    with pytest.raises(SashError) as raised:
        sash.sql(query, engine="local", t=ROWS)
    *_, at, shown, caret = str(raised.value).splitlines()
    assert at == f"line {line}:"
    assert shown[caret.index("^") :].startswith(word)


PARTS = pa.table({"k": [1, 1, 2, None, 3, 3, None], "y": range(7), "x": [5, 1, 4, 2, 8, 0, 3]})
OTHERS = pa.table({"k": [1, 2, 4, None], "j": [0, 1, 1, 3]})
RUNNING = "(select k, y, sum(x) over (partition by k order by y) m from t) v"


@pytest.mark.parametrize("how", ["join", "left join", "right join", "full join"])
@pytest.mark.parametrize("condition", ["v.k = 1", "v.k is null", "not v.k = 1 and b.j = 0", "v.k = 3 or b.j = 1"])
def test_conditions_in_joins_leave_the_rows_that_duckdb_leaves(how, condition):
    for joined in (f"{RUNNING} {how} b on v.k = b.k", f"b {how} {RUNNING} on v.k = b.j and v.m > 3"):
        query = f"select v.k, v.y, cast(v.m as bigint), b.j from {joined} where {condition}"
        with duckdb.connect() as connection:
            connection.register("t", PARTS)
            connection.register("b", OTHERS)
            theirs = connection.sql(query).fetchall()
        assert Counter(answers(query, t=PARTS, b=OTHERS)) == Counter(theirs)


def test_tables_with_commas_are_joined_as_duckdb_joins_them():
    query = "select a.k, b.j, c.j from t a, b left join b c on b.j = c.k and b.k = 1 where a.y < 2"
    with duckdb.connect() as connection:
        connection.register("t", PARTS)
        connection.register("b", OTHERS)
        assert Counter(answers(query, t=PARTS, b=OTHERS)) == Counter(connection.sql(query).fetchall())


def test_a_function_of_each_category():
    query = "select y, by_bucket(k, sum(x) filter (where y > 1)) over (order by y) from t order by y"
    asked = {"m": sf.by_bucket("k", sf.sum("x").filter("y > 1")).over(Window.orderBy("y"))}
    wanted = sash.withColumns(ROWS, asked).sort_by("y")
    assert answers(query, t=ROWS) == list(zip(wanted["y"].to_pylist(), wanted["m"].to_pylist(), strict=True))


def test_texts_are_read_as_spark_reads_them():
    query = """select 'it''s', "a\\tb", r'\\d', 'x\\\\', x'4A', count(*) over () from t limit 1"""
    assert answers(query, t=ROWS) == [("it's", "a\tb", "\\d", "x\\", b"J", 5)]


WRONG = [
    ("select nope from t", 'Referenced column "nope" not found in FROM clause! .with engine="local".\nline 1:'),
    ("select medain(x) over () from t", "there is no function medain over windows; did you mean median"),
    ("create table z as select 1", "a query is needed"),
    ("select x from 'a.csv'", "file system operations are disabled"),
    ("select x from nothing", "nothing does not exist"),
    ("select read_text from read_text('/etc/hostname')", "disabled by configuration"),
    ("select k like 'a\\\\_' from t", "takes no escapes in the pattern of LIKE"),
    ("select approx_count_distinct(x) over (partition by k) from t", "there is no function approx_count_distinct"),
    ("select istream max(x) from t [range 2 minutes]", "takes no continuous queries"),
    ("select max(x) over (order by y rows :n preceding) from t", "args has no value for :n"),
    (REFUSED[0], "syntax error"),
    ("select t.x, u.k from t, t u right join t v on u.k = v.k", "no RIGHT, FULL or NATURAL JOIN, and no USING, behind"),
    ("select t.x, u.k from t, t u full outer join t v on u.k = v.k", "no RIGHT, FULL or NATURAL JOIN"),
    (
        "select count(*) over () from (select t.x from t, t u join t v using (k))",
        "and no USING, behind tables with a comma",
    ),
    ("select by_bucket(k, x) over () from t", r"the function must be one over windows, such as sum\(x\)\nline 1"),
    ("select by_bucket(k, summ(x)) over () from t", r"the function must be one over windows, such as sum\(x\)\nline 1"),
    ("select by_bucket(k, rank()) over () from t", "by_bucket takes a function of a frame"),
]


@pytest.mark.parametrize(("query", "sentence"), WRONG)
def test_what_does_not_fit_is_refused(query, sentence):
    with pytest.raises(SashError, match=sentence):
        sash.sql(query, engine="local", t=ROWS)


def test_engines_are_two():
    with pytest.raises(SashError, match='engine must be "spark" or "local", got \'duckdb\''):
        sash.sql("select 1", engine="duckdb")
    with pytest.raises(SashError, match="takes no session of Spark"):
        sash.sql("select 1", spark=1, engine="local")
    with pytest.raises(SashError, match="t: frame must be a pyarrow Table, a pandas or a polars DataFrame, got int"):
        sash.sql("select 1", engine="local", t=1)


def test_a_spark_frame_is_not_in_memory(spark):
    with pytest.raises(SashError, match="t is a DataFrame of Spark"):
        sash.sql("select 1", engine="local", t=spark.range(1))


def test_spark_is_neither_started_nor_imported():
    script = (
        "import sys, pyarrow as pa, sash\n"
        "found = sash.sql('select median(x) over (order by x) m from t', engine='local', t=pa.table({'x': [1, 2]}))\n"
        "print(found['m'].to_pylist(), 'pyspark' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["[1.0,", "1.5]", "False"]


def test_without_duckdb_it_is_said_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "duckdb", None)
    with pytest.raises(SashError, match=r"needs DuckDB for what surrounds the windows: pip install 'sash\[local\]'"):
        sash.sql("select 1", engine="local")
