"""Answers are the same, and in the same order, however little memory there is; and no file is left."""

import math
import os
import tempfile

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sash
from sash import SashError, Window
from sash import functions as sf
from sash.engine import ranges
from sash.engine.spilling import Ranges, answers, need
from sash.engine.spilling.answering import CHUNK

ROW = 1000  # bytes of scratch that a row is said to need, next to which its own bytes are few
KEYS = {
    "integers": (st.integers(0, 12), pa.int64()),
    "strings": (st.sampled_from(["", "a", "b", "a longer one", "x" * 300]), pa.string()),
    "floats": (st.sampled_from([0.0, -0.0, math.nan, 1.0, -math.inf]), pa.float64()),
    "structs": (st.fixed_dictionaries({"a": st.integers(0, 2), "b": st.none() | st.just("b")}),
                pa.struct({"a": pa.int64(), "b": pa.string()})),
    "dictionaries": (st.sampled_from("abc"), pa.dictionary(pa.int8(), pa.string())),
}  # fmt: skip
WINDOW = Window.partitionBy("k").orderBy("t").rowsBetween(-2, 1)
ASKED = {"total": sf.sum("v"), "place": sf.row_number(), "last": sf.max("s")}


def plain(table, window=WINDOW):
    return sash.withColumns(table, {name: call.over(window) for name, call in ASKED.items()}).select(list(ASKED))


def batches_of(table, sizes):
    """A table in batches of these sizes, over and over."""
    start, found = 0, []
    while start < table.num_rows:
        for size in sizes:
            found += pa.Table.to_batches(table.slice(start, size).combine_chunks()) or [empty(table)]
            start += size
    return found


def empty(table):
    return pa.RecordBatch.from_pylist([], schema=table.schema)


def joined(found, schema):
    return pa.Table.from_batches(list(found), schema)


@st.composite
def tables(draw, keys, kind, most=60):
    count = draw(st.integers(0, most))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    pool = draw(st.lists(st.none() | keys, min_size=1, max_size=12))
    return pa.table({
        "k": pa.array([pool[place] for place in rng.integers(0, len(pool), count)], kind),
        "t": rng.integers(0, 40, count),
        "v": pa.array(rng.integers(-5, 6, count), mask=rng.random(count) < 0.2),
        "s": pa.array(rng.integers(0, 1000, count).astype(str)),
    })  # fmt: skip


class Watched:
    """An evaluation that knows how many rows it was given at most, and how often."""

    def __init__(self, evaluate=plain):
        self.evaluate, self.most, self.times = evaluate, 0, 0

    def __call__(self, table):
        self.most, self.times = max(self.most, table.num_rows), self.times + 1
        return self.evaluate(table)


@pytest.mark.parametrize("kind", KEYS)
@given(data=st.data(), sizes=st.lists(st.integers(0, 20), min_size=1, max_size=4).filter(any))
def test_rows_in_files_are_answered_as_rows_in_memory(kind, data, sizes):
    table = data.draw(tables(*KEYS[kind]))
    keys = [repr(key).replace("-0.0", "0.0") for key in table["k"].to_pylist()]
    largest = max(map(keys.count, keys), default=1)
    watched = Watched()
    budget = largest * 2 * ROW
    found = list(answers(iter(batches_of(table, sizes)), watched, ["k"], budget=budget, bytes_per_row=ROW))
    expected = plain(table)
    assert joined(found, expected.schema) == expected
    assert watched.most <= 2 * largest


@given(data=st.data(), sizes=st.lists(st.integers(1, 20), min_size=1, max_size=4), partitioned=st.booleans(),
       descending=st.booleans(), kind=st.sampled_from(["rows", "range", "groups"]))  # fmt: skip
def test_a_large_partition_is_answered_in_pieces(data, sizes, partitioned, descending, kind):
    table = data.draw(tables(st.just("one"), pa.string(), most=200))
    window = Window.partitionBy("k") if partitioned else Window.partitionBy()
    window = getattr(window.orderBy("t desc" if descending else "t"), f"{kind}Between")(-2, 1).checked()
    reach = ranges.together([ranges.reach(call.over(window)) for name, call in ASKED.items() if name != "place"])
    partition = ["k"] if partitioned else []
    pieces = Ranges((*partition, "t"), ranges.KeyOrder.of(window), reach)
    columns = {name: call.over(window) for name, call in ASKED.items() if name != "place"}

    def evaluate(rows):
        return sash.withColumns(rows, columns).select(list(columns))

    watched = Watched(evaluate)
    found = answers(batches_of(table, sizes), watched, partition, budget=45 * ROW, pieces=pieces, bytes_per_row=ROW)
    expected = evaluate(table)
    assert joined(found, expected.schema) == expected
    assert watched.most <= 45
    assert watched.times * 45 >= table.num_rows


def test_a_partition_is_cut_into_very_many_pieces(disk):
    count = 1000
    table = pa.table({"t": np.random.default_rng(1).permutation(count), "v": np.arange(count), "s": ["x"] * count})
    window = Window.orderBy("t").rowsBetween(-1, 0)
    reach = ranges.reach(sf.sum("v").over(window))
    pieces = Ranges(("t",), ranges.KeyOrder.of(window.checked()), reach)
    watched = Watched(lambda rows: plain(rows, window).select(["total"]))
    found = answers([table], watched, budget=8 * ROW, pieces=pieces, bytes_per_row=ROW)
    assert joined(found, None) == plain(table, window).select(["total"])
    assert watched.times > 128
    assert watched.most <= 8


def test_parts_that_are_too_large_are_split_again():
    keys = np.random.default_rng(1).integers(0, 5000, 20_000)
    table = pa.table({"k": keys, "n": np.arange(len(keys))})
    watched = Watched(lambda rows: rows.select(["n"]))
    found = list(answers(table.to_batches(max_chunksize=777), watched, ["k"], budget=100 * ROW, bytes_per_row=ROW))
    assert joined(found, None) == table.select(["n"])
    assert watched.times > 200
    assert watched.most < 100


def test_what_fits_is_evaluated_at_once_and_leaves_in_chunks(disk):
    table = pa.table({"k": np.zeros(CHUNK + 5)})
    watched = Watched(pa.Table.combine_chunks)
    found = list(answers(table.to_batches(max_chunksize=1000), watched, ["k"], budget=need(table.nbytes, CHUNK + 5)))
    assert [batch.num_rows for batch in found] == [CHUNK, 5]
    assert watched.times == 1


@pytest.mark.parametrize("budget", [1, 1 << 30])
def test_no_rows_have_no_answers(budget):
    table = pa.table({"k": pa.array([], pa.int64())})
    for batches in ([], [empty(table)], [table, empty(table)]):
        assert list(answers(iter(batches), pytest.fail, ["k"], budget=budget)) == []


@pytest.mark.parametrize("budget", [3 * ROW, 1 << 30])
def test_answers_may_be_structs(budget):
    table = pa.table({"k": [1, 2, 3, 1]})

    def evaluate(rows):
        return rows.rename_columns(["answer"]).to_struct_array()

    found = answers([table], evaluate, ["k"], budget=budget, bytes_per_row=ROW)
    assert joined(found, None) == table.rename_columns(["answer"])


@pytest.fixture
def disk(tmp_path, monkeypatch):
    monkeypatch.setenv("SPARK_LOCAL_DIRS", f"/not/there,{tmp_path}")
    yield tmp_path
    assert os.listdir(tmp_path) == []


MANY = pa.table({"k": np.arange(500) % 100})


def test_files_are_gone_after_success(disk):
    def evaluate(table):
        assert os.listdir(disk)
        return table

    assert joined(answers([MANY], evaluate, ["k"], budget=30 * ROW, bytes_per_row=ROW), None) == MANY


def test_files_are_gone_after_an_error(disk):
    with pytest.raises(ZeroDivisionError):
        list(answers([MANY], lambda table: 1 / 0, ["k"], budget=30 * ROW, bytes_per_row=ROW))

    def broken():
        yield from MANY.to_batches(max_chunksize=100)
        assert os.listdir(disk)
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        list(answers(broken(), lambda table: table, ["k"], budget=30 * ROW, bytes_per_row=ROW))


def test_files_are_gone_when_nobody_wants_the_rest(disk):
    found = answers([MANY], lambda table: table, ["k"], budget=30 * ROW, bytes_per_row=ROW)
    assert next(found).num_rows < 500
    assert os.listdir(disk)
    found.close()
    assert os.listdir(disk) == []
    found = answers([MANY], lambda table: table, ["k"], budget=30 * ROW, bytes_per_row=ROW)
    next(found)
    del found


def test_files_are_where_python_keeps_them_without_spark(tmp_path, monkeypatch):
    monkeypatch.delenv("SPARK_LOCAL_DIRS", raising=False)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    found = answers([MANY], lambda table: table, ["k"], budget=30 * ROW, bytes_per_row=ROW)
    next(found)
    assert [name[:5] for name in os.listdir(tmp_path)] == ["sash-"]
    found.close()


@pytest.mark.parametrize(
    ("partition", "value", "which"),
    [(["k"], "a", r" \(k = 'a'\)"), ({"k": "lower(name)", "n": "day"}, None, r" \(lower\(name\) = NULL, day = 1\)"),
     ([], "a", ", as there is no partitionBy,")],
)  # fmt: skip
def test_a_partition_that_cannot_be_cut_is_refused(disk, partition, value, which):
    count = 12_345
    table = pa.table({"k": pa.array([value] * count, pa.string()), "n": np.ones(count, np.int64)})
    text = rf"^a partition of 12,345 rows{which} needs about 1\.\d MB and a worker may use 1\.0 MB: set "
    text += r"sash\.options\.memory \(or SASH_MEMORY\), or use a frame bounded on both sides$"
    with pytest.raises(SashError, match=text):
        list(answers(table.to_batches(max_chunksize=1000), pytest.fail, partition, budget=1 << 20))


def test_a_dictionary_is_not_counted_with_every_row(disk):
    words = pa.array([f"a long word of a long dictionary {number}" for number in range(5000)])
    column = pa.DictionaryArray.from_arrays(pa.array(np.arange(3000) % 50, pa.int32()), words)
    table = pa.table({"k": column})
    watched = Watched(lambda rows: rows)
    found = joined(answers([table], watched, ["k"], budget=500 * ROW, bytes_per_row=ROW), None)
    assert found["k"].to_pylist() == table["k"].to_pylist()
    assert watched.times < 50


def test_ties_are_never_cut(disk):
    table = pa.table({"t": [7] * 100, "v": [1] * 100})
    window = Window.orderBy("t").rowsBetween(-1, 0).checked()
    pieces = Ranges(("t",), ranges.KeyOrder.of(window), ranges.reach(sf.sum("v").over(window)))
    with pytest.raises(SashError, match=r"a partition of 100 rows.* or use narrower frames"):
        list(answers([table], pytest.fail, budget=50 * ROW, pieces=pieces, bytes_per_row=ROW))


def test_unbounded_frames_are_not_cut():
    window = Window.orderBy("t").checked()
    with pytest.raises(SashError, match="only where all frames are bounded on both sides"):
        Ranges(("t",), ranges.KeyOrder.of(window), ranges.reach(sf.sum("v").over(window)))
