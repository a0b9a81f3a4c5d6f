"""Functions over time, by bucket and with weights on Spark, in SQL too: what they answer in memory."""

from datetime import datetime, timedelta

import pyarrow as pa
import pytest

import sash
from sash import Window
from sash import functions as sf
from spark import cases

ROWS = pa.table(
    {
        "k": [n % 2 for n in range(24)],
        "ts": [datetime(2026, 1, 1) + timedelta(seconds=n * n % 37) for n in range(24)],
        "x": pa.array([None if n % 5 == 2 else n * 7 % 11 / 2 for n in range(24)]),
        "n": [n % 4 for n in range(24)],
        "id": range(24),
    }
)
BY = Window.partitionBy("k").orderBy("ts", "id")
ASKED = {
    "ewm": sf.ewm_avg("x", "5 seconds").over(BY),
    "by_rows": sf.ewm_avg("x", 2.5).over(BY),
    "held": sf.time_weighted_avg("x", "linear").over(BY),
    "line": sf.interpolate("x").over(BY),
    "middle": sf.percentile_cont("x", 0.5, weight="n").over(BY),
    "counts": sf.histogram("x", [0, 2, 6]).over(BY),
    "ranks": sf.rank(method="average").order_by("n").over(BY),
}
QUERY = """
    select id, ewm_avg(x, interval '5' second) over w as ewm, ewm_avg(x, 2.5) over w as by_rows,
           time_weighted_avg(x, 'linear') over w as held, interpolate(x) over w as line,
           percentile_cont(x, 0.5, n) over w as middle, histogram(x, array(0, 2, 6)) over w as counts,
           rank(method => 'average' order by n) over w as ranks, by_bucket(n, sum(x)) over w as map
    from t window w as (partition by k order by ts, id)
"""


@pytest.mark.filterwarnings("ignore::sash.errors.SashWarning")
def test_spark_and_sql_answer_as_in_memory(spark):
    wanted = sash.withColumns(ROWS, ASKED).sort_by("id").to_pylist()
    frame = cases.frame_of(spark, ROWS)
    asked = ASKED | {"map": sf.by_bucket("n", sf.sum("x")).over(BY)}
    columns = cases.collected(sash.withColumns(frame, asked)).sort_by("id")
    by_sql = sash.sql(QUERY, t=frame).toArrow().sort_by("id")
    for want, got, sql in zip(wanted, columns.to_pylist(), by_sql.to_pylist(), strict=True):
        assert cases.same({name: got[name] for name in ASKED}, {name: want[name] for name in ASKED})
        assert cases.same({name: sql[name] for name in ASKED}, {name: want[name] for name in ASKED})
    maps = sash.withColumns(ROWS, {"map": asked["map"]}).sort_by("id")["map"].to_pylist()
    for table in (columns, by_sql):
        assert [dict(each) for each in table["map"].to_pylist()] == [dict(each) for each in maps]
