"""What explain says, that it answers nothing, and what expressions share."""

import re
from unittest import mock

import pyarrow as pa
import pytest

import sash
from algorithms_run import watched
from sash import SashError, Window
from sash import functions as sf
from sash.engine import sorted_partitions

TABLE = pa.table(
    {
        "k": ["a", "b"] * 600,
        "t": [-n for n in range(1200)],  # not sorted yet
        "q": [n * 7 % 40 for n in range(1200)],
        "v": [n * 11 % 60 / 4 for n in range(1200)],
    }
)
WINDOW = Window.partitionBy("k").orderBy("t")
LAST_100 = WINDOW.rowsBetween(-99, Window.currentRow)


def test_chosen_maps_each_column_to_its_algorithm_as_asked():
    plan = sash.explain(
        TABLE,
        {
            "median": sf.median("v").over(LAST_100),
            "rank": sf.rank().order_by("q").over(Window.orderBy("q")),
            "best": sf.max("v").over(WINDOW, using="segment_tree"),
        },
    )
    assert plan.chosen["median"] == "block_sort"
    assert plan.chosen["best"] == "segment_tree"
    assert set(plan.chosen) == {"median", "rank", "best"}


def test_the_plan_in_words():
    plan = sash.explain(TABLE, {"median": sf.median("v").over(LAST_100), "total": sf.sum("v").over(WINDOW)})
    assert re.sub(r"\d+ threads?", "so many threads", str(plan)).splitlines() == [
        "1,200 rows, so many threads",
        "partition by k order by t: 2 partitions, sorted once",
        "  median = median(v)",
        "    frames: rows between 99 preceding and current row; of one size, up to 100 rows",
        "    block_sort: sorted blocks with bitsets of live rows; under a millisecond (rank_bitset would take under a "
        "millisecond; window_order needs the window's own order; small_frames needs frames of at most 64 rows, not "
        "100)",
        "  total = sum(v)",
        "    frames: range between unbounded preceding and current row; only move forward, up to 600 rows",
        "    two_stacks: two stacks of partials; under a millisecond (sba would take under a millisecond; prefix "
        "needs an exact aggregate: no default path subtracts floats; sparse_table needs a selective aggregate; sum "
        "keeps more than one of its inputs)",
    ]
    assert repr(plan) == str(plan)


def test_the_plan_says_what_the_frames_are_like():
    back_and_forth = WINDOW.rowsBetween(-sash.col("q"), sash.col("q")).exclude("ties")
    words = str(sash.explain(TABLE, {"a": sf.count_distinct("q").filter("v > 1").over(back_and_forth)}))
    assert "a = count_distinct(q) filter (where v > 1)" in words
    assert re.search(r"exclude ties; go back and forth, up to \d+ rows, with holes", words)


def test_the_plan_says_what_is_sorted():
    in_order = sash.explain(TABLE, {"a": sf.sum("q").over(Window.orderBy("t desc"))})
    assert in_order.sortings[0].words == "order by t desc: 1 partition, in order as they came"
    assert sash.explain(TABLE, {"a": sf.sum("q").over(Window.partitionBy())}).sortings[0].words == (
        "all rows: 1 partition, in order as they came"
    )
    assert sash.explain(TABLE[:0], {"a": sf.sum("q").over(WINDOW)}).sortings[0].words == (
        "partition by k order by t: 0 partitions, in order as they came"
    )


def test_the_plan_says_how_long_an_algorithm_takes():
    many = pa.table({"t": range(100_000)})
    (cost,) = sash.explain(many, {"a": sf.median("t").over(Window.orderBy("t").rowsBetween(-99, 0))}).sortings[0].steps
    assert str(cost.choices[0]).startswith("block_sort: sorted blocks with bitsets of live rows; about 2 ms")
    assert cost.choices[0].seconds == pytest.approx(25e-9 * 100_000)


EVERYTHING = {
    "sum": sf.sum("q").over(LAST_100),
    "max": sf.max("v").over(WINDOW),
    "distinct sum": sf.sum("q").distinct().over(WINDOW),
    "median": sf.median("v").over(LAST_100),
    "mad": sf.mad("v").over(LAST_100),
    "rank": sf.rank().order_by("q").over(LAST_100),
    "dense_rank": sf.dense_rank().order_by("q").over(LAST_100),
    "lag": sf.lag("v").order_by("q").over(LAST_100),
    "first": sf.first_value("v").over(LAST_100),
    "distinct": sf.count_distinct("q").over(LAST_100),
    "mode": sf.mode("q").over(LAST_100),
    "entropy": sf.entropy("q").over(LAST_100),
    "list": sf.collect_list("q").over(WINDOW.rowsBetween(-1, 0)),
}


@pytest.fixture
def nothing_answers():
    """Every way to an answer raises."""

    class Answered(Exception):
        pass

    def refuse(*arguments, **named):
        raise Answered

    with watched(refuse):
        yield Answered


@pytest.mark.parametrize("name", EVERYTHING)
def test_explain_answers_nothing(name, nothing_answers):
    assert set(sash.explain(TABLE, {name: EVERYTHING[name]}).chosen) == {name}
    with pytest.raises(nothing_answers):
        sash.withColumns(TABLE, {name: EVERYTHING[name]})


def test_explain_and_answering_choose_alike():
    chosen = sash.explain(TABLE, EVERYTHING).chosen
    for name, over in EVERYTHING.items():
        with watched() as ran:
            sash.withColumns(TABLE, {name: over})
        assert ran[-1].name == chosen[name]


def test_explain_refuses_what_answering_refuses():
    for ask in (sash.explain, sash.withColumns):
        with pytest.raises(SashError, match="avg takes columns of numbers, got string"):
            ask(TABLE, {"a": sf.avg("k").over(WINDOW)})
        with pytest.raises(SashError, match="columns must map names to window expressions, got list"):
            ask(TABLE, [sf.median("v").over(WINDOW)])


# What is shared


def counting(name):
    return mock.patch.object(sorted_partitions, name, wraps=getattr(sorted_partitions, name))


@pytest.mark.parametrize("ask", [sash.explain, sash.withColumns])
def test_expressions_over_the_same_partitions_and_order_share_one_sort(ask):
    with counting("argsort") as sort:
        ask(TABLE, EVERYTHING)
    assert sort.call_count == 1
    other = Window.partitionBy("k").orderBy("q")
    with counting("argsort") as sort:
        ask(TABLE, {**EVERYTHING, "other": sf.sum("q").over(other), "again": sf.max("v").over(other.rowsBetween(0, 1))})
    assert sort.call_count == 2


def test_functions_of_the_same_order_share_its_ranks():
    asked = {
        "median": sf.median("v").over(LAST_100),
        "p90": sf.percentile_cont("v", 0.9).over(WINDOW),
        "rank": sf.rank().order_by("v").over(LAST_100),
        "first": sf.first_value("q").order_by("v").over(LAST_100),
        "some": sf.median("v").filter("q > 3").over(LAST_100),
        "mode": sf.mode("v").over(LAST_100),
    }
    with counting("rank_within") as rank:
        sash.withColumns(TABLE, asked)
    assert rank.call_count == 1
    with counting("rank_within") as rank:
        sash.withColumns(TABLE, {**asked, "down": sf.rank().order_by("v desc").over(LAST_100)})
    assert rank.call_count == 2


def test_the_bounds_of_one_frame_are_found_once():
    with counting("frame_bounds") as bounds:
        sash.withColumns(TABLE, {name: over for name, over in EVERYTHING.items() if over.window == LAST_100})
    assert bounds.call_count == 1
    both = {"near": sf.sum("q").over(LAST_100), "far": sf.sum("q").over(WINDOW), "too": sf.avg("v").over(LAST_100)}
    with counting("frame_bounds") as bounds:
        sash.withColumns(TABLE, both)
    assert bounds.call_count == 2


def test_equal_values_are_looked_for_once():
    asked = {
        "distinct": sf.count_distinct("q").over(LAST_100),
        "so far": sf.count_distinct("q").over(WINDOW),
        "sum": sf.sum("q").distinct().over(LAST_100),
    }
    with counting("occurrences") as occurrences:
        sash.withColumns(TABLE, asked)
    assert occurrences.call_count == 1


def test_frames_that_go_anywhere_share_a_wavelet_matrix():
    from sash.kernels.structures import wavelet_matrix

    window = WINDOW.rowsBetween(-sash.col("q"), sash.col("q") * 3)
    asked = {str(p): sf.percentile_cont("v", p).over(window, using="wavelet_matrix") for p in (0.1, 0.5, 0.9)}
    with mock.patch.object(wavelet_matrix, "WaveletMatrix", wraps=wavelet_matrix.WaveletMatrix) as made:
        sash.withColumns(TABLE, asked)
    assert made.call_count == 1


def test_sharing_changes_no_answer():
    together = sash.withColumns(TABLE, EVERYTHING)
    for name, over in EVERYTHING.items():
        assert sash.withColumns(TABLE, {name: over})[name].equals(together[name]), name
