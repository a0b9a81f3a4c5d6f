"""What becomes of a query before Spark and Sash see it."""

import contextlib
import sys

import pandas as pd
import pyarrow as pa
import pytest

import sash
from sash import Window
from sash import functions as sf
from sash.errors import SashError
from sql.recording import Asked, overs, rewritten

TPCC = """
select dbsystem, tps,
       count(distinct dbsystem) over w,
       rank(order by tps desc) over w,
       first_value(tps order by tps desc) over w,
       first_value(dbsystem order by tps desc) over w,
       lead(tps order by tps desc) over w,
       lead(dbsystem order by tps desc) over w,
from tpcc_results
window w as (order by submission_date
             range between unbounded preceding and current row)
"""


def test_the_papers_query_as_printed():
    found = rewritten(TPCC)
    frame = "over (order by submission_date range between unbounded preceding and current row)"
    assert list(found.over.values()) == [
        f"count_distinct(dbsystem) {frame}",
        f"rank(order by tps desc) {frame}",
        f"first_value(tps order by tps desc) {frame}",
        f"first_value(dbsystem order by tps desc) {frame}",
        f"lead(tps, 1 order by tps desc) {frame}",
        f"lead(dbsystem, 1 order by tps desc) {frame}",
    ]
    assert found.inner == ["SELECT dbsystem, tps, submission_date AS `submission_date` from tpcc_results"]


@pytest.mark.parametrize(
    "query",
    [
        "select a from t",
        "select a, b -- over here\nfrom t",
        "select 'sum(a) over (order by b)' from t",
        "select max(a) from t where b in (select c from u) order by 1 limit 3",
        "select approx_count_distinct(a) over (partition by b) from t",
        "select other.max(a) over (partition by b) from t",
    ],
)
def test_without_calls_for_sash_a_query_stays_as_it_is(query):
    found = rewritten(query)
    assert found.text == query
    assert not found.inner
    assert not found.over


SPELLINGS = [
    [
        "lag(a, 2, b) over (order by c)",
        "lag(a, default => b, offset => 2) over (order by c)",
        "lag(col => a, default => b, OFFSET => 2) over (order by c)",
        "lag(input => a, offset => 2, default => b) over (order by c)",
    ],
    ["percentile_cont(a, 0.5) over (order by c)", "percentile_cont(a, percentage => 0.5) over (order by c)"],
    [
        "percentile_disc(0.9, order by a - b) over (order by c)",
        "percentile_disc(0.9 order by a - b) over (order by c)",
        "percentile_disc(0.9) within group (order by a - b) over (order by c)",
        "percentile_disc(a - b, 0.9) over (order by c)",
        "quantile_disc(a - b, 0.9) over (order by c)",
    ],
    [
        "percentile_cont(0.5) within group (order by a desc) over (order by c)",
        "percentile_cont(0.5 order by a desc) over (order by c)",
        "quantile_cont(0.5 order by a desc) over (order by c)",
    ],
    ["median(a) over (order by c)", "median(order by a) over (order by c)"],
    ["mode(a) over (order by c)", "mode() within group (order by a) over (order by c)"],
    [
        "first_value(a ignore nulls) over (order by c)",
        "first_value(a) ignore nulls over (order by c)",
        "first_value(a, true) over (order by c)",
    ],
    [
        "first_value(a order by b desc ignore nulls) over (order by c)",
        "first_value(a ignore nulls order by b desc) over (order by c)",
        "first_value(a order by b desc) ignore nulls over (order by c)",
    ],
    [
        "lag(a, 2 ignore nulls) over (order by c)",
        "lag(a, 2) ignore nulls over (order by c)",
        "LAG (a, +2) IGNORE  NULLS OVER (ORDER BY c ASC)",
    ],
    [
        "nth_value(a, 2) from last over (order by c)",
        "nth_value(a, 2) from last respect nulls over (order by c)",
    ],
    ["nth_value(a, 2) from first over (order by c)", "nth_value(a, 2) over (order by c nulls first)"],
    ["ntile(4 order by a) over ()", "ntile(4, order by a) over ()"],
    ["sum(a) filter (where b > 0) over ()", "sum(a) filter(b > 0) over ()"],
    ["count(*) over (order by c)", "count() over (order by c)", "count(1) over (order by c)"],
    ["count(distinct a, b) over (order by c)", "COUNT( DISTINCT a , b ) OVER (ORDER BY c)"],
    ["sum(all a) over (order by c)", "sum(a) over (order by c)"],
    [
        "listagg(a, ',') within group (order by b) over (order by c)",
        "listagg(a, ',' order by b) over (order by c)",
    ],
    ["argmax(a, b) over (order by c)", "max_by(b, a) over (order by c)"],
    [
        "sum(a) over (order by c rows 2 preceding)",
        "sum(a) over (order by c rows between 2 preceding and current row)",
        "sum(a) over (sort by c rows between 2 preceding and 0 following exclude no others)",
    ],
    [
        "sum(a) over (order by c range between '2 days' preceding and current row)",
        "sum(a) over (order by c range between interval '2' day preceding and current row)",
        "sum(a) over (order by c range between interval 2 days preceding and current row)",
        "sum(a) over (order by c range between interval '2 days' preceding and current row)",
        "sum(a) over (order by c range '2 days'::interval preceding)",
    ],
    [
        "sum(a) over (order by c range between '14 months' preceding and current row)",
        "sum(a) over (order by c range between interval '1-2' year to month preceding and current row)",
    ],
    [
        "sum(a) over (partition by b order by c desc)",
        "sum(a) over (distribute by b sort by c desc nulls last)",
        "sum(a) over (partition by b order by c desc range between unbounded preceding and current row)",
    ],
]


@pytest.mark.parametrize("spellings", SPELLINGS, ids=lambda each: each[0])
def test_spellings_mean_the_same(spellings):
    found = [overs(f"select {each} from t") for each in spellings]
    assert [len(each) for each in found] == [1] * len(found)
    normal = {each[0].replace(" range between unbounded preceding and current row", "") for each in found}
    respected = {each.replace(" respect nulls", "") for each in normal}
    assert len(respected) == 1


def test_named_windows_are_extended():
    query = """
        select sum(a) over (w rows 1 preceding), sum(a) over (v order by c desc), sum(a) over v, sum(a) over (u)
        from t
        window v as (partition by b), w as (v order by c), u as (w groups 2 preceding exclude ties)
    """
    assert overs(query) == [
        "sum(a) over (partition by b order by c rows between 1 preceding and current row)",
        "sum(a) over (partition by b order by c desc)",
        "sum(a) over (partition by b)",
        "sum(a) over (partition by b order by c groups between 2 preceding and current row exclude ties)",
    ]


def test_expressions_around_calls_stay_text():
    found = rewritten(
        "select case when row_number() over (order by a) = 1 then upper(b) else cast(max(c) over () as string) "
        "end as d, interval '1' day + b, date '2020-01-01', t.c.d[0] + sum(a) over () from t"
    )
    assert found.text == (
        "SELECT case when COALESCE(`row_number() over (order by a)`, 0) = 1 then upper(`b`) else cast(`max(c) over ()` as string) "
        "end AS d, `interval '1' day + b` AS `interval '1' day + b`, `date '2020-01-01'` AS `date '2020-01-01'`, "
        "`t.c.d[0]` + `sum(a) over ()` AS `t.c.d[0] + sum(a) over ()` FROM computed_1"
    )


def test_what_the_list_has_already_is_not_selected_again():
    found = rewritten("select *, max(b) over (partition by a order by `c`) from t")
    assert found.inner[-1] == "SELECT * from t"
    found = rewritten("select max(b) over (order by c), b, c from t")
    assert found.inner == ["SELECT b, c from t"]


def test_random_arguments_are_drawn_for_each_call():
    found = rewritten("select sum(rand()) over (), avg(rand()) over () from t")
    assert found.inner == ["SELECT rand() AS `rand()`, rand() AS `rand()` from t"]


def test_groups_are_made_before_windows():
    found = rewritten(
        "select b, sum(sum(a)) over (order by b), a+1 from t group by 1, a+1 having max(c) > 0 order by sum(a)"
    )
    assert found.inner == ["SELECT b, NULL, a+1, sum(a) AS `sum(a)` from t group by 1, a+1 having max(c) > 0"]
    assert found.text.endswith("FROM computed_1 order by `sum(a)`")
    assert overs("select b + 1 + sum(count(*)) over () from t group by b + 1") == ["sum(`count(*)`) over (all rows)"]


def test_qualify_sees_the_names_of_the_list():
    found = rewritten("select a, rank() over (order by b) as r from t qualify r = 1 and a > 0 and count(*) over () > 2")
    assert found.text == (
        "SELECT `a` AS `a`, COALESCE(`r`, 0) AS r FROM computed_2 WHERE (COALESCE(`r`, 0)) = 1 and `a` > 0 and `count(*) over ()` > 2"
    )


def test_a_name_of_the_table_comes_before_one_of_the_list():
    found = rewritten("select a, rank() over (order by b) as c from t qualify c = 1")
    (rank,) = found.over
    assert found.raw.split("WHERE ")[1] == f"`{rank}2` = 1"  # not the rank: the column read under the same name


def test_later_expressions_see_earlier_windowed_names():
    found = rewritten("select sum(a) over () as s, s / 2 as h, h + 1 from t")
    assert found.text == ("SELECT `s` AS s, (`s`) / 2 AS h, ((`s`) / 2) + 1 AS `h + 1` FROM computed_2")


def test_each_part_of_a_query_is_rewritten():
    found = rewritten(
        "with u as (select lag(a) over (order by b) as l from t) select l from u "
        "union all select max(x) from (select sum(a) over () x from t) order by 1"
    )
    assert found.text == (
        "WITH u as (SELECT `l` AS l FROM computed_1) select l from u "
        "union all select max(x) from (SELECT `x` AS x FROM computed_2) order by 1"
    )


def test_common_tables_stand_before_what_needs_them():
    found = rewritten("with u as (select 1 a), v as (select * from u) select sum(a) over () from v")
    assert found.inner == ["WITH u as (select 1 a), v as (select * from u) (SELECT a AS `a` from v)"]
    found = rewritten("with u as (select 1 a), v as (select 2 b) select sum(b) over () from v")
    assert found.inner == ["WITH v as (select 2 b) (SELECT b AS `b` from v)"]


def test_statements_around_a_query_are_kept():
    found = rewritten("insert into q (a) select sum(a) over () from t;")
    assert found.text == "insert into q (a) SELECT `sum(a) over ()` AS `sum(a) over ()` FROM computed_1"


def test_hints_and_distinct_go_where_they_belong():
    found = rewritten("select /*+ broadcast(t) */ distinct a, sum(a) over () from t")
    assert found.inner == ["SELECT /*+ broadcast(t) */ a from t"]
    assert found.text.startswith("SELECT DISTINCT `a`")


def test_calls_of_spark_are_computed_with_what_sash_reads():
    found = rewritten(
        "select approx_count_distinct(a) over w, max(a) over w from t "
        "window w as (partition by b order by c desc nulls first rows 3 preceding)"
    )
    assert found.by_spark == ["approx_count_distinct(a) over w"]
    assert found.inner[0].startswith(
        "SELECT approx_count_distinct(a) OVER (PARTITION BY b ORDER BY c desc nulls first rows 3 preceding) AS "
    )


def test_frames_that_start_after_their_end_are_empty_not_wrong():
    (found,) = overs("select sum(a) over (order by b rows between 2 following and 1 following) from t")
    assert "rows between 2 following and 1 following" in found


def test_lambdas_keep_their_arguments():
    found = rewritten("select transform(collect_list(a) over (order by b), e -> e + c) from t")
    assert "e -> e + `c`" in found.text


ERRORS = [
    ("lag(a, 1, offset => 2) over ()", "lag is given offset twice"),
    ("lag(a, of => 2) over ()", "lag has no argument of; it takes col, offset, default"),
    ("lag(offset => 2, a) over ()", "lag: arguments with names stand behind the others"),
    ("count(col => a) over ()", "count takes its arguments in their order here, without names"),
    ("sum(a) over nope", "there is no window nope; there is no WINDOW clause"),
    ("sum(a) over (nope order by b)", "there is no window nope"),
    ("sum(a) over", "OVER takes a window in parentheses or the name of one"),
    ("sum(a) over (order by)", "an expression to order by is missing"),
    ("sum(a) over (partition by)", "an expression to partition by is missing"),
    ("sum(a) over (order by b partition by c)", "in this order"),
    ("sum(a) over (order by b rows)", "a bound is CURRENT ROW, or ends with"),
    ("sum(a) over (rows between 1 preceding)", "BETWEEN takes two bounds"),
    ("sum(a) over (rows between unbounded following and current row)", "cannot start with UNBOUNDED FOLLOWING"),
    ("sum(a) over (rows between current row and unbounded preceding)", "cannot end with UNBOUNDED PRECEDING"),
    ("sum(a) over (rows between current row and 1 preceding)", "starts with CURRENT ROW cannot end with PRECEDING"),
    ("sum(a) over (rows between 1 following and current row)", "starts with FOLLOWING cannot end with CURRENT ROW"),
    ("sum(a) over (rows between 1 following and 1 preceding)", "starts with FOLLOWING cannot end with PRECEDING"),
    ("sum(a) over (rows 1 following)", "starts with FOLLOWING cannot end with CURRENT ROW"),
    ("sum(a) over (order by b rows -1 preceding)", "an offset must not be negative, got -1"),
    ("sum(a) over (order by b rows 1.5 preceding)", "must be a whole number"),
    ("sum(a) over (order by b rows '1 day' preceding)", "must be a whole number"),
    ("sum(a) over (order by b range 'soon' preceding)", "takes whole numbers of year"),
    ("sum(a) over (order by b, c range 1 preceding)", "exactly one ORDER BY expression, got 2"),
    ("sum(a) over (range 1 preceding)", "exactly one ORDER BY expression, got 0"),
    ("sum(a) over (groups 1 preceding)", "GROUPS needs an ORDER BY"),
    ("sum(a) over (order by b rows 1 preceding exclude all)", "EXCLUDE takes CURRENT ROW, GROUP, TIES or NO OTHERS"),
    ("sum(sum(a) over ()) over ()", "a window call cannot be inside another one"),
    ("sum(a) over (order by rank() over (order by b))", "a window call cannot be inside another one"),
    ("rank(distinct a) over (order by b)", "rank cannot be distinct"),
    ("sum(a order by b) over (order by b)", "sum takes no order_by"),
    ("sum(a) ignore nulls over (order by b)", "sum cannot be told how to treat NULLs"),
    ("sum(a) from last over (order by b)", "FROM LAST is for nth_value"),
    ("ntile(0) over (order by b)", "n must be"),
    ("nth_value(a, 0) over (order by b)", "offset must be"),
    ("nth_value(a) over (order by b)", "nth_value takes 2 to 3 arguments, got 1"),
    ("percentile_disc(1.5 order by a) over (order by b)", "percentage must be between 0 and 1"),
    ("percentile_disc(0.5 order by a, b) over (order by b)", "takes one expression to order by, got 2"),
    ("sum() over (order by b)", "sum takes 1 argument, got 0"),
    ("sum(*) over (order by b)", "sum takes columns, got *"),
    ("sum(a, ) over (order by b)", "an argument is missing"),
    ("medain(distinct a) over (order by b)", "there is no function medain over windows; did you mean median?"),
    ("first_value(a ignore nulls) respect nulls over (order by b)", "what to do with NULLs is said twice"),
    ("listagg(a order by b) within group (order by c) over ()", "an order is given twice"),
]


@pytest.mark.parametrize(("call", "sentence"), ERRORS)
def test_what_is_wrong_is_said_with_its_place(call, sentence):
    with pytest.raises(SashError) as caught:
        rewritten(f"select\n  {call}\nfrom t")
    said = str(caught.value).splitlines()
    assert sentence in said[0]
    assert said[1] in ("line 2:", "line 3:")
    assert said[-1].strip() == "^"


@pytest.mark.parametrize(
    ("query", "sentence"),
    [
        ("select a from t where sum(a) over () > 1", "cannot stand in WHERE"),
        ("select a from t group by rank() over (order by b)", "cannot stand in GROUP BY"),
        ("select a from t group by a having rank() over (order by a) > 1", "cannot stand in HAVING"),
        ("select a from t join u on sum(a) over () = 1", "cannot stand in FROM"),
        ("select sum(a) over w from t window w as (order by b), w as (order by c)", "w is defined twice"),
        ("select sum(a) over w from t window v as (order by b), w as (order by c), w as v", "w is defined twice"),
        ("select sum(a) over (w order by c) from t window w as (order by b)", "has an ORDER BY already"),
        ("select sum(a) over (w partition by c) from t window w as (order by b)", "PARTITION BY of its own"),
        ("select sum(a) over (w rows 1 preceding) from t window w as (order by b rows 2 preceding)", "has a frame"),
        ("select sum(a) over v from t window v as (u), w as (order by b)", "there is no window u; there are v, w"),
        ("select sum(a) over v from t window v as (w rows 1 preceding), w as v", "extend each other, in a circle"),
        (
            "select * from (select sum(a) over w from t window v as (order by b)) window w as (order by a)",
            "there is no window w; there are v",
        ),
        ("select a in (select sum(a) over w from t) from t window w as (order by a)", "there is no window w"),
        ("select a,, sum(a) over () from t", "an expression is missing in the list of SELECT"),
        ("select sum(a) over () from t; select 1", "one statement at a time"),
        (";", "query must not be empty"),
    ],
)
def test_queries_that_are_wrong(query, sentence):
    with pytest.raises(SashError, match=sentence):
        rewritten(query)


def test_ten_thousand_columns_are_no_trouble():
    found = rewritten(f"select {', '.join(f'sum(a) over (order by b) as c{n}' for n in range(10_000))} from t")
    assert found.text.count(" AS c") == 10_000


def test_identifiers_cannot_break_out():
    found = rewritten("select sum(`a``; drop table t --`) over (order by `b\"'`) from t")
    assert found.inner == [
        "SELECT `a``; drop table t --` AS `a``; drop table t --`, `b\"'` AS `b\"'` from t".replace(
            "AS `a``; drop table t --`", "AS ```a````; drop table t --```"
        ).replace("AS `b\"'`", "AS ```b\"'```")
    ]


def test_queries_inside_queries_are_read_once():
    query = "select sum(a) over (partition by b) as a, b, c from t"
    for _ in range(12):
        query = f"select *, max(a) over (partition by b) as m from ({query}) order by m"
    found = rewritten(query)
    assert len(found.inner) < 60


def test_queries_nested_too_deep_are_refused():
    def nested(levels):
        return "select * from (" * levels + "select sum(a) over () from t" + ")" * levels

    rewritten(nested(60))
    with pytest.raises(SashError, match="may have 60 levels of queries"):
        rewritten(nested(61))


WATCHED: list[str] = []


def watch(event, args):
    if event in ("compile", "exec", "import", "os.system", "subprocess.Popen", "open"):
        WATCHED.append(f"{event} {args}")


def test_text_is_never_run_as_python():
    """Python tells what it compiles, imports and opens; text of a query is in none of that."""
    sys.addaudithook(watch)
    planted = "__import__('os').system('touch planted_by_text')"
    for text in (
        f"select sum(x) over (order by {planted}) from t",
        f"select sum({planted}) over (order by x) from t",
        f"select median(x, {planted}) over (order by x rows {planted} preceding) from t",
        f"select sum(x) filter (where {planted}) over (order by x) from t",
        f"select sum(x) over (order by x) from `{planted}`",
        planted,
    ):
        with contextlib.suppress(SashError, Asked):
            rewritten(text)
    with contextlib.suppress(SashError):
        sash.stream(pa.table({"x": [1]})).query("n", planted, range=2).results()
    for given in (pa.table({"x": [1]}), pd.DataFrame({"x": [1]})):
        with pytest.raises(SashError):
            sash.withColumns(given, {"n": sf.sum(planted).over(Window.orderBy("x"))})
    assert not [each for each in WATCHED if "planted_by_text" in each]
    compile("planted_by_text", "here", "eval")
    assert [each for each in WATCHED if "planted_by_text" in each]  # it would be seen


BELOW = [
    (
        "select * from (select k, median(x) over (partition by k order by y) m from t) where k = 'a' and m > 2",
        "(k = 'a')",
    ),
    (
        "select * from (select *, median(x) over (partition by k, j order by y) m from t where x > 1 or x < 0) as v "
        "where v.k in ('a', 'b') and v.j between 1 and 2 and m < 3",
        "(x > 1 or x < 0) AND (k in ('a', 'b')) AND (j between 1 and 2)",
    ),
    (
        "with w as (select k as kk, median(x) over (partition by k order by y) m from t) "
        "select kk, m from w where kk = date '2020-01-01' or kk is null",
        "(k = date '2020-01-01' or k is null)",
    ),
    (
        "select * from (select *, max(m) over (partition by k) mm from "
        "(select k, j, median(x) over (partition by k, j order by y) m from t) u) where k = 'a' and j = 2",
        "(k = 'a')",
    ),
    (
        "select * from (select t.k, median(x) over (partition by t.k) m from t join u) where not k <=> :key",
        "(not t.k <=> :key)",
    ),
    ("select * from (select t.*, median(x) over (partition by k) m from a as t) where k = 1", "(k = 1)"),
    (
        "select * from (select u.k, max(m) over (partition by u.k) mm from "
        "(select k, median(x) over (partition by k) m from t) u) where k = 'a'",
        "(k = 'a')",
    ),
]


MEDIANS = "(select k, median(x) over (partition by k) m from t) v"
JOINED = [
    f"select * from {MEDIANS}, b where v.k = 'a'",
    f"select * from b, {MEDIANS} where v.k = 'a'",
    f"select * from b join {MEDIANS} on b.j = v.k or b.j is null where b.j = 2 and v.k = 'a'",
    f"select * from {MEDIANS} left join b using (k) where v.k = 'a'",
    f"select * from b inner join c on b.i = c.i right outer join {MEDIANS} on v.k = b.k where v.k = 'a'",
    f"select v.m from {MEDIANS} left semi join b on v.k = b.k where v.k = 'a'",
    "with v as (select k, median(x) over (partition by k) m from t) select * from b join v on b.j = v.k where v.k = 'a'",
    f"select * from (select v.k, max(m) over (partition by v.k) mm from {MEDIANS} cross join b) where k = 'a'",
]


@pytest.mark.parametrize("query", JOINED)
def test_conditions_of_one_of_several_tables_do(query):
    assert rewritten(query).inner[0].endswith(" WHERE (k = 'a')")


@pytest.mark.parametrize(("query", "condition"), BELOW)
def test_conditions_on_whole_partitions_hold_below_the_windows(query, condition):
    assert rewritten(query).inner[0].endswith(f" WHERE {condition}")
    assert rewritten(query).text.partition(" where ")[2] == query.rpartition(" where ")[2]  # and stay where they are


ABOVE = [
    "select * from (select k, median(x) over (partition by k order by y) m from t) where k = 'a' or m > 2",
    "select * from (select k, median(x) over (partition by k order by y) m from t) where upper(k) = 'A'",
    "select * from (select k, median(x) over (partition by k order by y) m from t) where k in (select 1)",
    "select * from (select k, median(x) over (partition by k order by y) m, count(*) over (partition by j) from t) where k = 1",
    "select * from (select k, median(x) over (partition by k order by y) m from t limit 5) where k = 'a'",
    "select * from (select k, median(x) over (partition by k) m from t union all select 1, 2) where k = 'a'",
    "select * from (select x as k, median(x) over (partition by k order by y) m from t) where k = 'a'",
    "select * from (select *, x as k, median(x) over (partition by k order by y) m from t) where k = 'a'",
    "select * from (select k, median(sum(x)) over (partition by k order by y) m from t group by k, y) where k = 'a'",
    "select * from (select k, median(x) over (partition by k) m from t) a, b where k = 'a'",
    "select * from (select k, median(x) over (partition by k) m from t) a where b.k = 'a'",
    "select * from (select k, median(x) over (partition by k) m from t) as a(m, k) where k = 'a'",
    "with w as (select k, median(x) over (partition by k) m from t) select * from w where k = 1 union select * from w",
    "with w as (select k, median(x) over (partition by k) m from t) select * from w join u where k = 1",
    "select * from (select x as k, k as j, median(x) over (partition by k) m from t) where j = 'a'",
    "select * from (select *, j as k, median(x) over (partition by j, k) m from t) where k = 1",
    "select * from (select s.*, median(x) over (partition by k) m from t) where k = 1",
    "select * from (select u.*, median(x) over (partition by k) m from t left join u using (k)) where k is null",
    f"select * from b left join {MEDIANS} on b.k = v.k where v.k is null",
    f"select * from {MEDIANS} right join b on b.k = v.k where v.k is null",
    f"select * from {MEDIANS} full join b on b.k = v.k where v.k is null",
    f"select * from c, {MEDIANS} join b on b.k = v.k full outer join d on d.k = b.k where v.k is null",
    f"select * from b natural join {MEDIANS} where v.k = 1",
    f"select * from b, lateral {MEDIANS} where v.k = 1",
    f"select * from (b join {MEDIANS} on b.k = v.k) where v.k = 1",
    f"select * from b join {MEDIANS} on b.k = v.k where k = 1",
    f"select * from b join {MEDIANS} on b.k = v.k where v.k = b.j",
]


@pytest.mark.parametrize("query", ABOVE)
def test_other_conditions_do_not(query):
    assert not any(" WHERE " in text for text in rewritten(query).inner)
