"""What is kept between pushes gives what all events give, whatever order they come in; and costs what it should."""

from contextlib import contextmanager

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sash
from engine.streams.stream_oracle import count_answers, time_answers
from engine.streams.test_windows import CALLS, DIGITS, SCHEMA, check, disordered, microseconds, pushed, queries, table
from sash.engine.streams import ended_windows
from sash.engine.streams.forest import Forest
from sash.engine.streams.partial_layouts import PartialLayout
from strategies import usually

FOLDED = st.sampled_from(["count", "count_v", "sum", "avg", "max", "stddev", "positive"])
FORWARD = ["recalc", "two_stacks", "daba", "flatfat", "b_int", "flatfit", "sba", "pba"]
USING = {
    "count": [*FORWARD, "subtract_on_evict", "prefix", "segment_tree"],
    "max": [*FORWARD, "slick_deque", "slide_side", "sparse_table", "segment_tree"],
}


@st.composite
def named(draw, among=FOLDED):
    """Queries, each by an algorithm that can answer it."""
    asked = draw(queries(among))
    return asked, {
        name: draw(st.sampled_from([None, *USING.get(call, FORWARD)])) for name, (call, _, _) in asked.items()
    }


def board_of(asked, using, kind, **settings):
    board = sash.stream(SCHEMA, key="k", **settings)
    for name, (aggregate, length, slide) in asked.items():
        extent = (microseconds(length), microseconds(slide)) if kind == "time" else (length, slide)
        board = board.query(name, CALLS[aggregate], range=extent[0], slide=extent[1], using=using[name])
    return board


@contextmanager
def few(count):
    """Trees are kept from so many cells on where that pays, and always below."""
    before, ended_windows.FEW = ended_windows.FEW, count
    try:
        yield
    finally:
        ended_windows.FEW = before


@usually(12)
@given(stream=disordered(), asked=named(), always=st.booleans())
def test_named_algorithms_over_time(stream, asked, always):
    events, delay, edges = stream
    board = board_of(*asked, "time", time="ts", watermark=microseconds(delay), slicer="pairs")
    with few(2048 * always):
        check(pushed(board.open, events, edges), time_answers(events, asked[0]))


@usually(12)
@given(stream=disordered(), asked=named(), always=st.booleans())
def test_named_algorithms_by_count(stream, asked, always):
    events, _, edges = stream
    with few(2048 * always):
        check(pushed(board_of(*asked, "count").open, events, edges), count_answers(events, asked[0]))


@given(
    st.lists(st.tuples(st.sampled_from("ab"), st.integers(-9, 9)), max_size=60), st.integers(1, 20), st.integers(1, 9)
)
def test_order_counts_where_functions_do_not_commute(events, length, slide):
    rows = [{"ts": 0, "k": key, "v": value, "w": None} for key, value in events]
    operator = sash.stream(SCHEMA, key="k").query("q", DIGITS("v"), range=length, slide=slide).open()
    answers = [operator.push(table([row])) for row in rows]
    check(pa.concat_tables([*answers, operator.close()]), count_answers(rows, {"q": ("digits", length, slide)}))


@pytest.mark.parametrize("keys", [1, 3])
@pytest.mark.parametrize("seed", range(4))
def test_a_forest_is_what_all_of_its_cells_are(seed, keys):
    """Cells come at the end, in between and again, and leave in front; any range is the fold of its cells in order."""
    rng = np.random.default_rng(seed)
    layout = PartialLayout(DIGITS, (np.dtype(np.int64),))
    forest, cells = Forest([layout]), {key: {} for key in range(keys)}
    reached = 0
    for _ in range(120):
        reached += int(rng.integers(0, 6))
        key, at = rng.integers(0, keys, 8), reached + rng.integers(-12 if rng.random() < 0.5 else 0, 8, 8)
        pairs = np.unique(np.stack([key, at], 1), axis=0)
        key, at = np.ascontiguousarray(pairs[:, 0]), np.ascontiguousarray(pairs[:, 1])
        states, filled = np.zeros(len(key), layout.partial.state), (rng.random(len(key)) < 0.8).astype(np.uint8)
        values = rng.integers(0, 1000, len(key))
        layout.fold((values[filled != 0],), np.flatnonzero(filled), states, np.zeros(len(key), np.uint8))
        forest.insert(key, at, [states], [filled])
        for k, position, value, some in zip(key.tolist(), at.tolist(), values.tolist(), filled, strict=True):
            cells[k].setdefault(position, []).extend([value] if some else [])
        if rng.random() < 0.3:
            cut = reached - int(rng.integers(0, 30))
            forest.let_go(forest.keys, np.array([cut]))
            cells = {k: {at: held for at, held in each.items() if at >= cut} for k, each in cells.items()}
        assert len(forest) == sum(map(len, cells.values()))
        asked = np.sort(rng.integers(0, keys, 20)) % max(len(forest.base), 1)
        starts = reached - rng.integers(0, 40, 20)
        ends = starts + rng.integers(0, 40, 20)
        lo, hi, _ = forest.ranges(asked, starts, ends)
        folded, some = forest.fold(0, asked, lo, hi)
        for i, k in enumerate(asked.tolist()):
            values = [value for at in sorted(cells[k]) if starts[i] <= at < ends[i] for value in cells[k][at]]
            assert bool(some[i]) == bool(values)
            if values:
                digits = values[0] % 1009
                for value in values[1:]:
                    digits = (digits * 31 + value) % 1009
                assert folded[i][0] == digits
