"""The offset of lead and lag, the place of nth_value and the tiles of ntile as each row has them."""

import duckdb
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sash
from engine.summaries.cutting import answered, by_rows, cut
from sash import Window, col
from sash import functions as sf
from sash.errors import SashError
from sash.expressions.columns import lit

ROWS = pa.table(
    {
        "k": ["a", "b", "a", "b", "a", "a", "b", "a"],
        "y": [1, 2, 3, 4, 5, 6, 7, 8],
        "x": [10, None, 30, None, 50, 60, 70, 80],
        "n": pa.array([1, None, 0, -2, 2, 9, -(2**31), 2**31 - 1], pa.int32()),
        "p": pa.array([1, None, 2, 3, 1, 2, 2**63 - 1, 2], pa.int64()),
    }
)
IN_ORDER = Window.orderBy("y")
N, P = col("n"), col("p")
CALLS = {
    "lag(x, n, -1) over (order by y)": sf.lag("x", N, -1).over(IN_ORDER),
    "lag(x, n, y * 2) over (partition by k order by y)": sf.lag("x", N, col("y") * 2).over(IN_ORDER.partitionBy("k")),
    "lead(x, n, -1 ignore nulls) over (order by y)": sf.lead("x", N, -1).ignore_nulls().over(IN_ORDER),
    "lead(x, n + 1) over (order by y desc)": sf.lead("x", col("n") % 3 + 1).over(Window.orderBy("y desc")),
    "lag(x, 0, -1 ignore nulls) over (order by y)": sf.lag("x", 0, -1).ignore_nulls().over(IN_ORDER),
    "lead(x, null::int, -1) over (order by y)": sf.lead("x", lit(None), -1).over(IN_ORDER),
    "nth_value(x, p) over (order by y)": sf.nth_value("x", P).over(IN_ORDER),
    "nth_value(x, p ignore nulls) over (order by y rows between 2 preceding and 1 following)": (
        sf.nth_value("x", P).ignore_nulls().over(IN_ORDER.rowsBetween(-2, 1))
    ),
    "nth_value(x, p order by x desc nulls last) over (order by y rows between 3 preceding and 3 following)": (
        sf.nth_value("x", P).order_by("x desc").over(IN_ORDER.rowsBetween(-3, 3))
    ),
    "nth_value(x, null::int) over (order by y)": sf.nth_value("x", lit(None)).over(IN_ORDER),
    "ntile(p) over (order by y)": sf.ntile(P).over(IN_ORDER),
    "ntile(p) over (partition by k order by y)": sf.ntile(P).over(IN_ORDER.partitionBy("k")),
}


@pytest.mark.parametrize("query", CALLS)
def test_answers_are_those_of_duckdb(query):
    expected = duckdb.sql(f"select {query.replace('n + 1', 'n % 3 + 1')} from ROWS order by y").fetchall()
    found = sash.withColumns(ROWS, {"a": CALLS[query]})["a"].to_pylist()
    assert found == [row[0] for row in expected]


offsets = st.lists(st.none() | st.integers(-4, 4), min_size=8, max_size=8)


@given(offsets=offsets, partitioned=st.booleans())
def test_each_row_is_answered_as_if_its_offset_were_a_constant(offsets, partitioned):
    rows = ROWS.set_column(3, "n", pa.array(offsets, pa.int64()))
    window = IN_ORDER.partitionBy("k") if partitioned else IN_ORDER
    places = sash.col("n") * sash.col("n") + 1
    found = sash.withColumns(
        rows,
        {
            "lead": sf.lead("x", N, 0).over(window),
            "nth": sf.nth_value("x", places).over(window),
            "tile": sf.ntile(places).over(window),
        },
    )
    for number, offset in enumerate(offsets):
        row = found.slice(number, 1).to_pylist()[0]
        if offset is None:
            assert (row["lead"], row["nth"], row["tile"]) == (None, None, None)
            continue
        place = offset * offset + 1
        alone = {"lead": sf.lead("x", offset, 0), "nth": sf.nth_value("x", place), "tile": sf.ntile(place)}
        constant = sash.withColumns(ROWS, {name: call.over(window) for name, call in alone.items()})
        assert {name: row[name] for name in alone} == constant.select(list(alone)).slice(number, 1).to_pylist()[0]


@pytest.mark.parametrize("together", [True, False])
def test_tiles_of_pieces_are_those_of_the_whole(together):
    over = sf.ntile(P).over(IN_ORDER)
    whole = sash.withColumns(ROWS, {"a": over})["a"].to_pylist()
    places = cut(ROWS, IN_ORDER, [2, 5], by_rows(0))
    found, _ = answered(ROWS, {"a": over}, places, together=together)
    assert found["a"] == whole
    assert len(np.unique(places.own)) == 3


def test_what_is_refused():
    with pytest.raises(SashError, match="the place of nth_value must be at least 1 in every row, got -2147483648"):
        sash.withColumns(ROWS, {"a": sf.nth_value("x", N).over(IN_ORDER)})
    with pytest.raises(SashError, match="the offset of lag must be a whole number, got a column of type string"):
        sash.withColumns(ROWS, {"a": sf.lag("x", col("k")).over(IN_ORDER)})
    with pytest.raises(SashError, match="offset must be a whole number or a column, got None"):
        sf.lead("x", None)
    with pytest.raises(SashError, match="default must be of the type of the column, int64, got string"):
        sash.withColumns(ROWS, {"a": sf.lag("x", N, "none").over(IN_ORDER)})
