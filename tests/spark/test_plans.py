"""Whatever is asked of the answers, Spark's optimiser leaves them right: results, and the plans they come from."""

import contextlib
import io
import re
import unicodedata
from collections import Counter

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import functions as F

import sash
from sash import Window
from sash import functions as sf
from sash.spark import ranged

ROWS = 300
random = np.random.default_rng(4)
TRADES = pa.table(
    {
        "at": random.permutation(ROWS),
        "key": random.integers(0, 7, ROWS),
        "side": [["buy", "sell"][place] for place in random.integers(0, 2, ROWS)],
        "price": random.integers(0, 50, ROWS) / 2,
        "qty": [None if x == 0 else int(x) for x in random.integers(0, 20, ROWS)],
        "carried": [f"note {place}" for place in range(ROWS)],
    }
)
OF_KEY = Window.partitionBy("key").orderBy("at")
KEYED = {
    "middle": sf.median("price").over(OF_KEY.rowsBetween(-9, 0)),
    "total": sf.sum("qty").over(OF_KEY),
    "place": sf.rank().order_by("price desc").over(OF_KEY.rowsBetween(-20, 5)),
}
OVERALL = Window.orderBy("at")
RANGED = {
    "best": sf.max("price").over(OVERALL.rowsBetween(-25, -1)),
    "kinds": sf.count_distinct("price").over(OVERALL.rangeBetween(-30, 3)),
    "sum": sf.sum("qty").over(OVERALL),
}
QUERIES = {"keyed": KEYED, "ranged": RANGED, "both": KEYED | RANGED}


@pytest.fixture(scope="module")
def stored(spark, tmp_path_factory):
    """The trades in several files, so that Spark can push filters down to them and prune their columns."""
    folder = tmp_path_factory.mktemp("trades")
    for place in range(3):
        pq.write_table(TRADES.slice(place * 100, 100), folder / f"{place}.parquet")
    return str(folder)


@pytest.fixture(params=["adaptive", pytest.param("static", marks=pytest.mark.long)])
def adaptive(spark, request):
    on = request.param == "adaptive"
    spark.conf.set("spark.sql.adaptive.enabled", str(on).lower())
    yield on
    spark.conf.unset("spark.sql.adaptive.enabled")


@pytest.fixture(autouse=True)
def small_pieces(monkeypatch):
    """Few rows are cut into several pieces, too."""
    monkeypatch.setattr(ranged, "ROWS_A_PIECE", 40)


def answered(query):
    """What the engine in this process answers, as rows."""
    return sash.withColumns(TRADES, QUERIES[query]).to_pylist()


def bag(rows, names):
    """Rows without their order, as they are compared."""
    return Counter(tuple(row[name] for name in names) for row in rows)


def collected(frame):
    return bag([row.asDict() for row in frame.collect()], frame.columns)


def plan(frame):
    """The physical plan as Spark prints it; after the frame has run, the one that ran."""
    text = io.StringIO()
    with contextlib.redirect_stdout(text):
        frame.explain()
    return text.getvalue()


def nodes(frame):
    """The evaluation nodes of the first plan: the columns that go into Python, and all that lies below."""
    text = plan(frame)
    found = []
    for match in re.finditer(r"ArrowEvalPython \[sash: .*?\(((?:\w+#\d+L?(?:, )?)+)\)#", text):
        found.append((re.sub(r"#\d+L?", "", match[1]).split(", "), text[match.end() :]))
    return found


def rows_where(condition):
    return lambda rows: [row for row in rows if condition(row)]


def joined(rows):
    """Each row with the total of the next one of its key."""
    by_place = {(row["key"], row["at"]): row for row in rows}
    return [
        {**row, "other": by_place[row["key"], row["at"] + 7]["total"]}
        for row in rows
        if (row["key"], row["at"] + 7) in by_place
    ]


def self_join(frame):
    later = frame.select(F.col("key"), (F.col("at") - 7).alias("at"), F.col("total").alias("other"))
    return frame.join(later, ["key", "at"])


# What is done to the answers on Spark, and the same to rows in plain Python.
EXACT = {
    "filter by an answer": (lambda f: f.where("total > 60"), rows_where(lambda row: (row["total"] or 0) > 60)),
    "filter by an input": (lambda f: f.where("at >= 200"), rows_where(lambda row: row["at"] >= 200)),
    "filter by the key": (lambda f: f.where("key = 3"), rows_where(lambda row: row["key"] == 3)),
    "filter by what is carried": (
        lambda f: f.where(F.col("side") == "buy"),
        rows_where(lambda row: row["side"] == "buy"),
    ),
    "select": (lambda f: f.select("carried", "total"), None),
    "drop": (lambda f: f.drop("at", "price", "qty", "key"), None),
    "union": (lambda f: f.union(f.where("at < 50")), lambda rows: rows + [r for r in rows if r["at"] < 50]),
    "self join": (self_join, joined),
    "join": (
        lambda f: f.join(f.sparkSession.range(3).withColumnRenamed("id", "key"), "key"),
        rows_where(lambda row: row["key"] < 3),
    ),
    "semi join": (
        lambda f: f.join(f.sparkSession.range(10, 90).withColumnRenamed("id", "at"), "at", "left_semi"),
        rows_where(lambda row: 10 <= row["at"] < 90),
    ),
    "distinct": (
        lambda f: f.select("key", "middle").distinct(),
        lambda rows: list({(r["key"], r["middle"]): r for r in rows}.values()),
    ),
    "group by": (
        lambda f: f.groupBy("key").agg(F.max("total").alias("total"), F.count("*").alias("rows")),
        lambda rows: [
            {
                "key": key,
                "total": max((r["total"] for r in rows if r["key"] == key and r["total"] is not None), default=None),
                "rows": sum(r["key"] == key for r in rows),
            }
            for key in {r["key"] for r in rows}
        ],
    ),
    "a filter before and after": (
        lambda f: f.where("qty is not null").where("place < 4").select("at", "place"),
        rows_where(lambda row: row["qty"] is not None and row["place"] < 4),
    ),
    "repartition": (lambda f: f.repartition(3, "side").coalesce(1), None),
    "local checkpoint": (lambda f: f.localCheckpoint().where("at < 100"), rows_where(lambda row: row["at"] < 100)),
}
PLAIN_FILTERS = ["filter by an answer", "filter by an input", "filter by the key", "filter by what is carried"]


STATIC = ["filter by what is carried", "union", "self join", "join", "group by"]


@pytest.mark.parametrize(
    ("adaptive", "operation"),
    [
        *(("adaptive", name) for name in EXACT),
        ("static", "filter by an answer"),
        *(pytest.param("static", name, marks=pytest.mark.long) for name in STATIC),
    ],
    indirect=["adaptive"],
)
def test_what_follows_sees_the_right_answers(spark, adaptive, stored, operation):
    on_spark, in_python = EXACT[operation]
    query = "both" if operation in ("filter by an answer", "filter by an input", "union") else "keyed"
    frame = on_spark(sash.withColumns(spark.read.parquet(stored), QUERIES[query]))
    rows = answered(query)
    assert collected(frame) == bag(in_python(rows) if in_python else rows, frame.columns)


def test_order_by_limit_and_offset(spark, adaptive, stored):
    frame = sash.withColumns(spark.read.parquet(stored), QUERIES["both"])
    rows = sorted(answered("both"), key=lambda row: row["at"])
    assert [row.asDict() for row in frame.orderBy("at").collect()] == rows
    assert [row.asDict() for row in frame.orderBy(F.desc("at")).limit(5).collect()] == rows[:-6:-1]
    assert [row.asDict() for row in frame.orderBy("at").offset(290).collect()] == rows[290:]
    assert frame.orderBy("at").take(3)[2].asDict() == rows[2]


@pytest.mark.parametrize("query", ["keyed", "ranged"])
def test_part_of_the_rows_has_the_answers_of_all(spark, adaptive, stored, query):
    frame = sash.withColumns(spark.read.parquet(stored), QUERIES[query])
    rows = bag(answered(query), frame.columns)
    for part, least, most in ((frame.limit(17), 17, 17), (frame.sample(0.3, seed=5), 40, 140)):
        found = collected(part)
        assert found <= rows
        assert least <= found.total() <= most
    assert frame.count() == ROWS


def test_a_frame_that_is_cached_or_checkpointed(spark, adaptive, stored, tmp_path):
    spark.sparkContext.setCheckpointDir(str(tmp_path))
    frame = sash.withColumns(spark.read.parquet(stored), QUERIES["both"])
    rows = answered("both")
    kept = frame.where("at > 3").cache()
    try:
        few = [row for row in rows if row["at"] > 3]
        assert collected(kept) == bag(few, frame.columns)
        assert collected(kept.where("total > 60").select("at", "best")) == bag(
            [row for row in few if (row["total"] or 0) > 60], ["at", "best"]
        )
    finally:
        kept.unpersist()
    assert collected(frame.checkpoint()) == bag(rows, frame.columns)


def test_answers_of_answers(spark, adaptive, stored):
    """The same expressions twice in one plan, and windows over answers and filtered answers."""
    of_total = {"rise": sf.lag("total").over(OF_KEY)}
    first = sash.withColumns(spark.read.parquet(stored), KEYED).where("price > 5")
    frame = sash.withColumns(first, of_total)
    kept = pa.Table.from_pylist([row for row in answered("keyed") if row["price"] > 5])
    assert collected(frame) == bag(sash.withColumns(kept, of_total).to_pylist(), frame.columns)
    again = sash.withColumns(sash.withColumns(spark.read.parquet(stored), KEYED), KEYED)
    assert again.columns == first.columns
    assert collected(again) == bag(answered("keyed"), again.columns)


def test_what_comes_before_is_seen_in_full(spark, adaptive, stored):
    """A filter, a limit or an order before ``withColumns`` decides which rows there are."""
    frame = spark.read.parquet(stored)
    first = sash.withColumns(frame.orderBy("at").limit(50).where("key <> 2"), KEYED | RANGED)
    kept = pa.Table.from_pylist([r for r in TRADES.to_pylist() if r["at"] < 50 and r["key"] != 2], schema=TRADES.schema)
    assert collected(first) == bag(sash.withColumns(kept, KEYED | RANGED).to_pylist(), first.columns)


@pytest.mark.parametrize("operation", [*PLAIN_FILTERS, "limit", "sample", "select"])
def test_nothing_is_pushed_below_the_evaluation(spark, adaptive, stored, operation):
    others = {
        "limit": lambda f: f.limit(5),
        "sample": lambda f: f.sample(0.5, seed=1),
        "select": lambda f: f.select("total", "side"),
    }
    on_spark = others.get(operation) or EXACT[operation][0]
    frame = on_spark(sash.withColumns(spark.read.parquet(stored), KEYED))
    for ran in (False, True):
        if ran and not adaptive:  # else the plan may change as it runs
            break
        if ran:
            frame.collect()
        found = nodes(frame)
        assert len(found) == 1 + ran, plan(frame)  # then the first plan is printed, too
        for columns, below in found:
            below = below.partition("Initial Plan")[0]
            assert sorted(columns) == ["at", "key", "price", "qty"]
            assert below.count("Exchange hashpartitioning(key") == 1
            assert not re.search(r"\bFilter |Limit|Sample|PushedFilters: \[[^\]]", below), plan(frame)


def test_only_what_is_needed_is_read_shuffled_and_evaluated(spark, stored):
    frame = sash.withColumns(spark.read.parquet(stored), {"total": KEYED["total"]})
    [(columns, below)] = nodes(frame.select("total"))
    assert sorted(columns) == ["at", "key", "qty"]
    assert sorted(re.findall(r"(\w+):", below[below.index("ReadSchema") :].split("<")[1])) == ["at", "key", "qty"]
    [(columns, below)] = nodes(frame.select("total", "carried"))
    assert sorted(columns) == ["at", "key", "qty"]
    assert not nodes(frame.select("carried")), "an answer that nobody reads is not computed"


def test_expressions_share_a_shuffle_where_they_can(spark, stored):
    frame = spark.read.parquet(stored)
    finer = Window.partitionBy("key", "side")
    shared = {
        "a": sf.max("price").over(OF_KEY),
        "b": sf.max("price").over(Window.partitionBy("key").orderBy("price")),
        "c": sf.count("qty").over(finer),
        "d": sf.median("price").over(finer.orderBy("at").rowsBetween(-3, 3)),
    }
    assert len(nodes(sash.withColumns(frame, shared))) == 1
    apart = shared | {"e": sf.max("price").over(Window.partitionBy("side").orderBy("at"))}
    found = plan(sash.withColumns(frame, apart))
    assert found.count("ArrowEvalPython") == 2
    assert found.count("Exchange hashpartitioning") == 2
    rows = sash.withColumns(TRADES, apart)
    assert collected(sash.withColumns(frame, apart)) == bag(rows.to_pylist(), rows.column_names)


EXOTIC = """
select id as at, id % 3 as key, cast(id * 7 % 11 as double) as price,
       named_struct('a', id, 'b', array('x', null)) as struct,
       map('k', id, 'l', null) as map, array(named_struct('c', id)) as structs,
       parse_json('{"n": ' || id || '}') as variant,
       make_ym_interval(1, cast(id as int)) as months, make_dt_interval(0, cast(id as int)) as days,
       make_interval(1, 2, 3, cast(id as int)) as calendar,
       cast(cast(id as string) as binary) as bytes, cast(id as decimal(38, 10)) / 3 as wide,
       null as nothing, cast('2024-02-29 12:00:00' as timestamp_ntz) as local,
       timestamp'2024-02-29 12:00:00' as instant, date'2024-02-29' as day, cast(id as tinyint) as tiny,
       cast('NaN' as double) as nan, 'é' collate unicode_ci as collated, cast('ab' as char(4)) as padded
from range(0, 40, 1, 3)
"""


def test_what_is_only_carried_along_is_untouched(spark, adaptive):
    before = spark.sql(EXOTIC)
    told = [F.col(name).cast("string") if name in ("months", "calendar") else F.col(name) for name in before.columns]
    expected = {row.at: str(row) for row in before.select(*told).collect()}
    by_key = {"best": sf.max("price").over(Window.partitionBy("key").orderBy("at").rowsBetween(-3, 0))}
    overall = {"best": sf.max("price").over(Window.orderBy("at").rowsBetween(-3, 0))}
    for query in (by_key, overall):
        after = sash.withColumns(before, query)
        assert after.columns == [*before.columns, "best"]
        assert after.schema.fields[:-1] == before.schema.fields
        assert {row.at: str(row) for row in after.select(*told).collect()} == expected


def test_names_that_need_care(spark):
    frame = spark.createDataFrame([(1, 2.0, 1), (2, 5.0, 1)], ["a.b", "`odd`", "Key"])
    twice = frame.join(frame.select(F.col("Key"), F.col("`a.b`").alias("other")), "Key").select(
        "*", F.lit(1).alias("Key")
    )
    w = Window.partitionBy("a.b").orderBy("other")
    out = sash.withColumns(twice, {"max of": sf.max("`odd`").over(w)})
    assert out.columns == [*twice.columns, "max of"]
    assert sorted(row["max of"] for row in out.collect()) == [2.0, 2.0, 5.0, 5.0]


def test_an_answer_takes_the_place_of_a_column_of_its_name(spark, stored):
    frame = spark.read.parquet(stored)
    out = sash.withColumns(frame, {"price": sf.max("price").over(OF_KEY), "next": sf.lead("price").over(OF_KEY)})
    rows = sash.withColumns(TRADES, {"price": sf.max("price").over(OF_KEY), "next": sf.lead("price").over(OF_KEY)})
    assert out.columns == rows.column_names == [*frame.columns, "next"]
    assert collected(out) == bag(rows.to_pylist(), out.columns)


def test_no_rows(spark, adaptive, stored):
    frame = spark.read.parquet(stored).where("at < 0")
    assert sash.withColumns(frame, KEYED | RANGED).collect() == []
    assert sash.withColumns(frame, KEYED | RANGED).count() == 0


def test_the_settings_of_the_session_stay(spark, stored):
    before = dict(spark.conf.getAll)
    sash.withColumns(spark.read.parquet(stored), KEYED | RANGED).collect()
    assert dict(spark.conf.getAll) == before


@pytest.mark.parametrize(("rows", "read"), [(50_001, 50_000), (300, 300)])
def test_explain_reads_fifty_thousand_rows_at_most(spark, rows, read):
    frame = spark.range(rows).coalesce(1)
    total = {"total": sf.sum("id").over(Window.orderBy("id").rowsBetween(-2, 0))}
    assert f"the first {read:,} rows" in str(sash.explain(frame, total))


def test_plans_say_what_tasks_compute(spark, stored):
    """In plans, and so in Spark's UI, tasks are called by what they compute, in letters that can be seen."""
    trades = spark.read.parquet(stored)
    over = sash.withColumns(trades, {"m": sf.median("price").over(OF_KEY.rowsBetween(-9, 0)), **RANGED})
    ranged_name = "sash: max(price), count_distinct(price), sum(qty)"
    plan = planned(over)
    assert "sash: median(price) by key" in plan
    assert ranged_name in plan
    assert f"partials of {ranged_name.removeprefix('sash: ')}" in plan
    asked = sash.sql("select median(price + 1) over (partition by side order by at) from trades", trades=trades)
    assert re.search(r"sash: median\(`?price \+ 1`?\) by `?side`?", planned(asked))
    times = trades.select(F.timestamp_seconds("at").alias("ts"), "side", "price")
    board = sash.stream(times, time="ts", key="side").query("peak", sf.max("price"), range="1 minute")
    assert "sash: slices of max(price) by side" in planned(board.results())
    assert "sash: max(price) by side" in planned(board.results())
    for frame in (over, asked, board.results()):
        assert all(unicodedata.category(letter) != "Cf" and letter != "\uffa0" for letter in planned(frame))


def planned(frame):
    """All of Spark's plans of a frame."""
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        frame.explain(True)
    return said.getvalue()
