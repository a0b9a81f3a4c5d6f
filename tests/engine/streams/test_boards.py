"""Many queries over one stream: what they give together is what each gives alone, for as many calls as few make."""

import re

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sash
from sash import functions as sf
from sash.kernels.compiling import native
from sash.kernels.slices.board_windows import GridArrays, KeySegments, board_windows
from sash.kernels.slices.due import bounds_of, windows_of
from sash.windows.grids import Grid

LEAST, MOST = -(2**63), 2**63 - 1
CALLS = {"max": sf.max("v"), "avg": sf.avg("v"), "stddev": sf.stddev("v"), "n": sf.count("v").filter("v > 0")}

grids = st.builds(Grid, st.integers(1, 30), st.integers(1, 20), st.integers(-9, 9))
positions = st.lists(st.integers(-40, 60), min_size=1, max_size=12, unique=True).map(sorted)


@given(st.lists(positions, min_size=1, max_size=3), st.lists(grids, min_size=1, max_size=4), st.data())
def test_one_walk_finds_the_windows_of_each_grid(keys, grids, data):
    after, upto = data.draw(st.tuples(st.sampled_from([LEAST, -50, 0, 20]), st.sampled_from([MOST, 70, 30, 1])))
    key = np.repeat(np.arange(len(keys)), [len(each) for each in keys])
    at = np.concatenate([np.array(each) for each in keys])
    first = np.searchsorted(key, np.arange(len(keys)))
    segments = KeySegments(np.arange(len(keys)), first, np.append(first[1:], len(key)), first, at)
    arrays = GridArrays(*np.array([(each.range, each.slide, each.origin) for each in grids]).T.copy())
    found = board_windows(segments, arrays, after, upto)
    held = set()
    for grid in grids:
        windows = windows_of(key, *grid.holding(at))
        ends = grid.ends(windows.number)
        held |= {(k, end) for k, end in zip(windows.key.tolist(), ends.tolist(), strict=True) if after < end <= upto}
    rows = list(zip(found.key.tolist(), found.end.tolist(), strict=True))
    assert rows == sorted(held)
    for g, grid in enumerate(grids):
        some = slice(found.offsets[g], found.offsets[g + 1])
        row = found.row[some]
        assert row.tolist() == np.flatnonzero(grid.ends_at(found.end)).tolist()
        ends = found.end[row]
        lo, hi = bounds_of(key, at, found.key[row], ends - grid.range, ends)
        moved = first[found.key[row]]
        empty = lo == hi
        assert np.array_equal(found.lo[some] == found.hi[some], empty)
        assert np.array_equal((found.lo[some] + moved)[~empty], lo[~empty])
        assert np.array_equal((found.hi[some] + moved)[~empty], hi[~empty])


def events(rows, keys=1):
    random = np.random.default_rng(3)
    return pa.table({"ts": pa.array(np.arange(rows) * 100_000, pa.timestamp("us")),
                     "k": random.integers(0, keys, rows), "v": random.normal(size=rows)})  # fmt: skip


def board(source, count, **settings):
    """So many queries, which take turns among the aggregates, with ranges and slides of their own."""
    stream = sash.stream(source, time="ts", **settings)
    for place in range(count):
        name = list(CALLS)[place % len(CALLS)]
        stream = stream.query(f"{name} {place}", CALLS[name], range=f"{20 + 3 * place} seconds",
                              slide=f"{1 + place % 7} seconds")  # fmt: skip
    return stream


def alone(source, count, **settings):
    """The same queries, each on a board of its own."""
    for place in range(count):
        name = list(CALLS)[place % len(CALLS)]
        yield (
            f"{name} {place}",
            sash.stream(source, time="ts", **settings).query(
                f"{name} {place}", CALLS[name], range=f"{20 + 3 * place} seconds", slide=f"{1 + place % 7} seconds"
            ),
        )


def by_window(table, name):
    return {
        tuple(row[each] for each in table.column_names if each in ("k", "window_end")): row[name]
        for row in table.select([*({"k"} & set(table.column_names)), "window_end", name]).to_pylist()
        if row[name] is not None
    }


@pytest.mark.parametrize("key", [None, "k"])
def test_queries_together_give_what_each_gives_alone(key):
    data = events(2_000, 3)
    together = board(data, 24, key=key).results()
    for name, each in alone(data, 24, key=key):
        one, many = by_window(each.results(), name), by_window(together, name)
        assert np.allclose([many.pop(where) for where in one], list(one.values()), rtol=1e-12, atol=1e-12)
        assert set(many.values()) <= {0}  # windows without events, which end where others do


@pytest.fixture
def calls(monkeypatch):
    """How many times a kernel was called."""
    count, words = [0], native._words

    def counted(arguments):
        count[0] += 1
        return words(arguments)

    monkeypatch.setattr(native, "_words", counted)
    return count


def test_more_queries_over_a_table_make_no_more_calls_of_kernels(calls):
    data, made = events(5_000), []
    for count in (8, 80):
        asked = board(data, count)
        asked.results()
        calls[0] = 0
        asked.results()
        made.append(calls[0])
    assert made[0] == made[1]


def test_more_queries_make_no_more_calls_of_kernels_a_push(calls):
    data, made = events(3_000), []
    for count in (8, 80):
        operator = board(data.schema, count, watermark="0 seconds").open()
        operator.push(data.slice(0, 2_900))
        operator.push(data.slice(2_900, 50))
        calls[0] = 0
        assert operator.push(data.slice(2_950, 50)).num_rows > 0
        made.append(calls[0])
    assert made[0] == made[1]


@pytest.mark.parametrize("call", ["max", "median"])
def test_a_push_that_ends_no_window_makes_no_table_and_calls_no_kernel(calls, call):
    data = events(3_000, 5)
    operator = sash.stream(data.schema, time="ts", key="k", watermark="0 seconds").query(
        "q", getattr(sf, call)("v"), range="60 seconds", slide="10 seconds"
    ).open()  # fmt: skip
    operator.push(data.slice(0, 2_001))
    none = operator.push(data.slice(2_001, 1))
    calls[0] = 0
    assert all(operator.push(data.slice(2_002 + place, 1)) is none for place in range(90))
    assert calls[0] == 0
    assert none.num_rows == 0
    assert operator.push(data.slice(2_092, 60)).num_rows == 5


def test_rows_of_small_pushes_are_in_all_that_is_asked_for():
    data = events(400)
    board = sash.stream(data.schema, time="ts", watermark="0 seconds").query(
        "n", sf.count(), range="10 seconds", slide="10 seconds"
    )
    operator = board.open()
    answers = [operator.push(data.slice(0, 150))]
    answers += [operator.push(data.slice(place, 1)) for place in range(150, 180)]
    assert operator.watermark == 17_900_000
    again = board.open()
    again.restore(operator.snapshot())
    answers += [again.push(data.slice(place, 1)) for place in range(180, 195)]
    answers += [again.push(data.slice(20, 1))]  # late, and said at once
    assert again.late_count == 1
    assert again.late()["v"].to_pylist() == [data["v"][20].as_py()]
    answers += [again.push(data.slice(place, 1)) for place in range(195, 400)]
    assert pa.concat_tables([*answers, again.close()])["n"].to_pylist() == [100, 100, 100, 100]


def test_explain_says_which_ranges_are_folded_together_and_what_that_saves():
    plan = str(board(events(10), 24).explain())
    assert "6 ranges of stddev(v) are folded together by disjoint_table, where a push brings much: about" in plan
    found = re.search(r"6 ranges of max.* about ([0-9.]+) combines a second for each key, ([0-9.]+) apart", plan)
    assert float(found[1]) < float(found[2])
    assert "ranges of" not in str(board(events(10), 4).explain())


def test_slices_of_large_batches_hold_their_memory_for_a_while_only():
    board = sash.stream(events(1).schema, time="ts", watermark="0 seconds")
    operator = board.query("n", sf.count(), range="1 hour", slide="1 hour").open()
    operator.push(events(1))
    batches = [events(200_000) for _ in range(40)]
    held = []
    for number, batch in enumerate(batches):
        operator.push(batch.slice(100 + number, 1))
        held.append(sum(each.nbytes < each.get_total_buffer_size() for each in operator._few.tables))
    assert 1 < max(held) <= (1 << 24) // batches[0].nbytes + 1
    assert operator.close()["n"].to_pylist() == [41]
