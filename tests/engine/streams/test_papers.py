"""The papers' worked examples: shared plans, slicers, and FlatFIT over the ring of a shared plan."""

import pyarrow as pa
import pytest

import sash
from sash import functions as sf
from sash.windows.grids import Grid
from sash.windows.shared_plan import SharedPlan
from sash.windows.slicers import edges_of


def test_example_1_two_queries_share_partials_of_two_tuples():
    """2017, 2.3: slides 2 and 4, ranges 6 and 8: partials every 2 tuples; 3 of them answer the first, 4 the second."""
    plan = SharedPlan({"q1": Grid(6, 2), "q2": Grid(8, 4)}, "pairs")
    assert plan.composite == 4
    assert plan.edges.between(0, 8).tolist() == [0, 2, 4, 6, 8]
    assert (plan.slices_in("q1"), plan.slices_in("q2"), plan.largest) == (3, 4, 4)
    assert plan.edges_per_composite == 2
    assert plan.common_edges == 1
    assert list(plan.due(0, 8)) == [(2, ("q1",)), (4, ("q1", "q2")), (6, ("q1",)), (8, ("q1", "q2"))]
    values = [2, 4, 0, 3, 7, 6, 1, 8, 9, 5, 3, 2]
    board = sash.stream(pa.table({"v": values})).query("q1", sf.max("v"), range=6, slide=2)
    out = board.query("q2", sf.max("v"), range=8, slide=4).results()
    assert out["window_end"].to_pylist() == [2, 4, 6, 8, 10, 12]
    assert out["q1"].to_pylist() == [max(values[max(end - 6, 0) : end]) for end in range(2, 13, 2)]
    assert out["q2"].to_pylist() == [
        max(values[max(end - 8, 0) : end]) if end % 4 == 0 else None for end in range(2, 13, 2)
    ]
    assert "the partial of max(v) is shared by q1, q2" in str(
        board.query("q2", sf.max("v"), range=8, slide=4).explain()
    )


def test_figure_7_both_queries_step_by_step():
    """2017, Figure 7: ranges 5 and 2 over 2,4,0,3,7,6,1,8,9,5."""
    values = [2, 4, 0, 3, 7, 6, 1, 8, 9, 5]
    board = sash.stream(pa.table({"v": values}))
    board = board.query("q1", sf.max("v"), range=5, slide=1, using="flatfit")
    out = board.query("q2", sf.max("v"), range=2, slide=1, using="flatfit").results()
    assert out["q1"].to_pylist() == [2, 4, 4, 4, 7, 7, 7, 8, 9, 9]
    assert out["q2"].to_pylist() == [2, 4, 4, 3, 7, 7, 6, 8, 9, 9]


def test_slices_of_each_slicer():
    """2017, 2.1: panes range/gcd; pairs two fragments a slide, f1 = range mod slide; cutty range/slide + 1."""
    grid = Grid(range=10, slide=4)
    assert edges_of([grid], "panes").between(0, 8).tolist() == [0, 2, 4, 6, 8]
    assert edges_of([grid], "pairs").between(0, 8).tolist() == [0, 2, 4, 6, 8]
    uneven = Grid(range=11, slide=4)
    assert SharedPlan({"q": uneven}, "panes").slices_in("q") == 11
    assert SharedPlan({"q": uneven}, "pairs").slices_in("q") == 5
    assert SharedPlan({"q": uneven}, "cutty").slices_in("q") == 3
    assert edges_of([uneven], "pairs").between(0, 8).tolist() == [0, 3, 4, 7, 8]
    ends = [end for end, _ in SharedPlan({"q": uneven}, "pairs").due(0, 20)]
    assert {(end - uneven.range % uneven.slide) % uneven.slide for end in ends} == {0}  # answers come after f1


def test_plans_stay_small_where_the_least_common_multiple_explodes():
    slides = (7, 11, 13, 997, 10_007, 1_000_003)
    grids = {f"q{slide}": Grid(3 * slide + 1, slide) for slide in slides}
    plan = SharedPlan(grids, "pairs")
    assert plan.composite == 7 * 11 * 13 * 997 * 10_007 * 1_000_003
    assert not plan.counted
    assert len(plan.edges.progressions) == 12
    assert plan.edges.between(10**15, 10**15 + 20).size < 20
    board = sash.stream(pa.table({"v": list(range(50))}))
    for name, grid in grids.items():
        board = board.query(name, sf.max("v"), range=grid.range, slide=grid.slide)
    assert "at most" in str(board.explain())
    assert board.results()["q7"].drop_null().to_pylist() == [6, 13, 20, 27, 34, 41, 48]


@pytest.mark.parametrize("slicer", ["panes", "pairs", "cutty"])
def test_cells_that_a_key_keeps(slicer):
    """Between batches an operator keeps no more slices than the longest window has; cutty keeps the fewest."""
    board = sash.stream(pa.schema({"v": pa.int64()}), slicer=slicer).query("s", sf.sum("v"), range=11, slide=4)
    operator, most = board.open(), 0
    for k in range(60):
        operator.push(pa.table({"v": [k]}))
        most = max(most, len(operator.state.cells))
    assert most <= SharedPlan({"s": Grid(11, 4, 1)}, slicer).slices_in("s") + (slicer == "cutty")
