"""What every function answers for a frame of no rows, on Spark: in tasks, carried from piece to piece, and in SQL."""

import pyarrow as pa
import pytest

import sash
from empty_answers import LISTS, RANKS, empty_answer, framed_calls
from sash import Window
from sash import functions as sf
from sash.spark import ranged
from spark import cases

pytestmark = pytest.mark.filterwarnings("ignore::sash.errors.SashWarning")
ROWS = pa.table({"k": [1, 1, 2], "x": [3, 1, None], "y": [1.5, 2.5, 0.5], "o": [True, None, False]})
ROWS = cases.numbered(ROWS)
CALLS = framed_calls("x", "y", "o")
CHEAP = sorted(LISTS | RANKS | {"count", "count(*)", "count_distinct", "sum", "median", "percentiles"})


@pytest.mark.parametrize("names", [CHEAP, pytest.param(CALLS, marks=pytest.mark.long)], ids=["some", "every"])
def test_functions_of_rows_that_a_filter_drops(spark, names):
    window = Window.partitionBy("k").orderBy("id").rowsBetween(-3, 1)
    asked = {name: CALLS[name].filter("id > 9").over(window) for name in names}
    answers = cases.collected(sash.withColumns(cases.frame_of(spark, ROWS), asked)).to_pydict()
    assert {name: answers[name] for name in asked} == {name: [empty_answer(name)] * 3 for name in asked}


def test_lists_carried_from_piece_to_piece(spark, monkeypatch):
    monkeypatch.setattr(ranged, "ROWS_A_PIECE", 1)
    window = Window.orderBy("id").rowsBetween(Window.unboundedPreceding, -1)
    asked = {"top": sf.top_k("x", 2).over(window), "none": sf.top_k("x", 2).filter("x > 9").over(window)}
    answers = cases.collected(sash.withColumns(cases.in_tasks(spark, ROWS, 2), asked))
    assert answers["top"].to_pylist() == [[], [3], [3, 1]]
    assert answers["none"].to_pylist() == [[]] * 3


def test_lists_in_sql(spark):
    query = """
        select id, top_k(x, 2) over w as top, collect_list(x) over w as all, sum(x) over w as sum, count(x) over w as n,
               top_k(x, 2) filter (where x > 9) over (partition by k) as none
        from given window w as (partition by k order by id rows between 5 following and 6 following)
    """
    answers = cases.collected(sash.sql(query, given=cases.frame_of(spark, ROWS)))
    assert answers.drop_columns("id").to_pylist() == [{"top": [], "all": [], "sum": None, "n": 0, "none": []}] * 3
