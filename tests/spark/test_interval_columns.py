"""Intervals of both kinds as keys, as values and as answers: those of Spark, where it has the call."""

import pytest

import sash
from sash import Window
from sash import functions as sf

KINDS = {
    "months": ("make_ym_interval(0, x)", "interval 2 month"),
    "years to months": ("cast(make_ym_interval(x, 5) as interval year)", "interval 3 year"),
    "days": ("cast(make_dt_interval(x) as interval day)", "interval 2 day"),
    "seconds": ("make_dt_interval(x, 0, 0, 0.25)", "interval 2 day"),
}
SPARKS = [
    *(f"{name}(i) over w" for name in ("sum", "avg", "min", "max", "first_value", "count")),
    "lag(i) over v",
    "lead(i, 2, i) over v",
    "nth_value(i, 2) over w",
    "max_by(y, i) over w",
    "sum(y) over (partition by k order by i)",
    "rank() over (partition by k order by i desc)",
    "count(*) over (partition by i)",
    "sum(y) over (partition by k order by i range between {far} preceding and current row)",
    "max(i) over (partition by k order by i range between {far} following and unbounded following)",
    "median(i) over (partition by k)",
    "percentile(i, 0.25) over (partition by k)",
    "mode(i) over (partition by i)",
]


@pytest.fixture(scope="module")
def rows(spark):
    frame = spark.sql(
        "from values (1, 'a', 4), (2, 'a', null), (3, 'b', -7), (4, 'a', 5), (5, 'a', 4), (6, 'b', 13) t(y, k, x)"
    )
    for name, (made, _) in KINDS.items():
        frame.selectExpr("y", "k", f"{made} as i").createOrReplaceTempView(name.replace(" ", "_"))
    yield frame
    for name in KINDS:
        spark.catalog.dropTempView(name.replace(" ", "_"))


def shown(frame):
    texts = frame.selectExpr(*(f"cast(`{name}` as string)" for name in frame.columns))
    return sorted(map(tuple, texts.collect()), key=str)


@pytest.mark.parametrize("kind", KINDS)
def test_answers_and_types_are_those_of_spark(spark, rows, kind):

    calls = ", ".join(f"{call.format(far=KINDS[kind][1])} as c{number}" for number, call in enumerate(SPARKS))
    named = "w as (partition by k order by y), v as (partition by k order by y)"
    query = f"select y, {calls} from {kind.replace(' ', '_')} window {named}"
    mine, theirs = sash.sql(query, spark=spark), spark.sql(query)
    assert [field.dataType for field in mine.schema] == [field.dataType for field in theirs.schema]
    assert shown(mine) == shown(theirs)


def test_what_spark_does_not_have(spark, rows):
    query = """
        select y, count(distinct i) over w, cast(max(i) over w as string),
            cast(percentile_disc(0.5 order by i) over w as string)
        from months window w as (order by y rows between 2 preceding and current row exclude current row)
        order by y
    """
    four, five, back = "INTERVAL '0-4' YEAR TO MONTH", "INTERVAL '0-5' YEAR TO MONTH", "INTERVAL '-0-7' YEAR TO MONTH"
    assert [tuple(row) for row in sash.sql(query, spark=spark).collect()] == [
        (1, 0, None, None),
        (2, 1, four, four),
        (3, 1, four, four),
        (4, 1, back, back),
        (5, 2, five, back),
        (6, 2, five, four),
    ]


def test_dataframes_too(spark, rows):
    frame = spark.table("months")
    window = Window.orderBy("i").rangeBetween("-1 month", 0)
    found = sash.withColumns(frame, {"n": sf.count().over(window), "i": sf.max("i").over(window)})
    assert found.columns == ["y", "k", "i", "n"]
    assert found.schema["i"].dataType == frame.schema["i"].dataType
    texts = [tuple(row) for row in found.selectExpr("y", "cast(i as string)", "n").orderBy("y").collect()]
    assert texts[3] == (4, "INTERVAL '0-5' YEAR TO MONTH", 3)
    assert "rows cut into pieces" in str(sash.explain(frame, {"n": sf.count().over(window)}))
