"""State outlives code: what an earlier Sash kept is gone on with exactly, or refused by name."""

import json
import re
import zipfile

import numpy as np
import pyarrow as pa
import pytest

import sash
from golden.boards import HALF, PARTIALS, ROWS, SCHEMA, WINDOWS, by_hand, functions, kinds, one_of_each, rows, stream
from golden.states import DEFINITIONS, PYTHON, STATES, STEP, definitions, job_of, watermark
from sash import functions as sf
from sash.engine.streams import packing
from sash.engine.streams.sharding import Share
from sash.errors import SashError

FUNCTIONS, KINDS = one_of_each(functions()), kinds()
ANEW = "write golden states anew with `PYTHONPATH=tests .venv/bin/python -m golden.states`"


@pytest.fixture(scope="module")
def golden():
    with zipfile.ZipFile(STATES) as file:
        return {name: file.read(name) for name in file.namelist()}


def as_rows(*tables):
    found = [row for table in tables for row in table.to_pylist()]
    return sorted(repr(sorted((name, near(value)) for name, value in row.items())) for row in found)


def near(value):
    if isinstance(value, (list, dict)):
        parts = value.items() if isinstance(value, dict) else enumerate(value)
        return [(name, near(part)) for name, part in parts]
    return f"{value:.9g}" if isinstance(value, float) else value


def test_no_partial_changes_its_meaning_under_the_same_number():
    before, now = json.loads(DEFINITIONS.read_text()), definitions()
    changed = []
    for name, (number, fields, digest) in now["partials"].items():
        assert name in before["partials"], f"{name} is new: {ANEW}"
        was_number, was_fields, was_digest = before["partials"][name]
        if number != was_number:
            continue
        if fields != was_fields or (before["python"] == PYTHON and digest != was_digest):
            changed.append(name)
    told = f"the partials of {', '.join(changed)} are defined otherwise"
    assert not changed, f"{told}: if they mean another thing, give it another format=; then {ANEW}"
    assert set(before["partials"]) <= set(now["partials"])


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_state_of_every_function_is_gone_on_with(golden, name):
    first, board = FUNCTIONS[name].open(), FUNCTIONS[name]
    given = [first.push(rows(0, HALF))]
    operator = board.open()
    operator.restore(golden[f"function/{name}"])
    given += [operator.push(rows(HALF, ROWS)), operator.close()]
    expected = stream(rows(), watermark=None).query("q", board._queries[0].call, range="40 seconds", slide="20 seconds")
    assert as_rows(*given) == as_rows(expected.results())


@pytest.mark.parametrize("name", KINDS)
def test_a_snapshot_of_every_kind_is_gone_on_with(golden, name):
    board, emit = KINDS[name]
    one, other = board.open(emit=emit), board.open(emit=emit)
    one.push(rows(0, HALF))
    other.restore(golden[f"snapshot/{name}"])
    for operator in (one, other):
        operator.answered = [operator.push(rows(HALF, ROWS)), operator.close(), operator.late()]
    assert as_rows(*one.answered) == as_rows(*other.answered)
    assert sum(table.num_rows for table in one.answered) > 0


@pytest.mark.parametrize("name", KINDS)
def test_a_store_of_every_kind_is_gone_on_with(golden, name):
    board, emit = KINDS[name]
    whole, kept = job_of(board, emit), job_of(board, emit)
    for start in range(0, HALF, STEP):
        whole.batch([rows(start, start + STEP)], watermark(start) if start else None)
    for part, body in golden.items():
        if part.startswith(f"store/{name}/"):
            shard, chunk = part.removeprefix(f"store/{name}/").split("/")
            kept.stores[int(shard)][int(chunk) if chunk.isdigit() else chunk] = body
    assert all("head" in store for store in kept.stores)
    for start in range(HALF, ROWS, STEP):
        one, other = (job.batch([rows(start, min(start + STEP, ROWS))], watermark(start)) for job in (whole, kept))
        assert as_rows(one[0]) == as_rows(other[0])
        assert one[2] == other[2]
    one, other = (job.batch([], 10**17)[0] for job in (whole, kept))
    assert as_rows(one) == as_rows(other)


def test_some_stores_have_several_buckets_runs_and_pieces(golden):
    heads = [packing.unpacked("head", body) for name, body in golden.items() if re.fullmatch("store/.*/head", name)]
    assert any(len(head["shares"]) > 1 for head in heads)
    buckets = [
        packing.unpacked("bucket", head[name].tobytes()) for head in heads for name in head if name[:7] == "bucket "
    ]
    assert any(len(bucket["runs"]) > 2 for bucket in buckets)
    assert any(len(pieces) > 1 for bucket in buckets for pieces in bucket["pieces"].values())


def test_a_window_by_hand_is_gone_on_with(golden):
    window, again = by_hand(), by_hand()
    window.insert(rows(0, HALF))
    window.evict(np.arange(10))
    again.restore(golden["by hand"])
    for each in (window, again):
        each.insert(rows(HALF, ROWS))
    assert window.query() == pytest.approx(again.query())


def test_state_of_version_1_is_refused_by_name(golden):
    board = stream().query(PARTIALS, **WINDOWS["time"])
    with pytest.raises(SashError, match=r"state must be of version 2, got version 1, .* fold the rows again"):
        board.open().restore(golden["version 1/snapshot"])
    job = job_of(board, "final")
    job.stores[0]["head"] = golden["version 1/store/head"]
    with pytest.raises(SashError, match=r"state must be of version 2, got version 1"):
        job.batch([], 1)


def other(aggregate, **changes):
    """A board of an aggregate that is the user's own."""
    own = sash.Aggregate("own", **({"lift": lambda x: x, "combine": lambda a, b: a + b, "commutative": True} | changes))
    return stream().query("q", own("f"), range="40 seconds", slide="20 seconds")


def test_a_partial_of_another_format_is_refused_by_name():
    before, now = other(sf), other(sf, format=2)
    job = job_of(before, "final")
    job.batch([rows(0, 30)], None)
    job.asked(now)
    words = r"partials of own\(f\) are of format 2 and were of format 1"
    with pytest.raises(SashError, match=words):
        job.batch([], 1)
    operator = before.open()
    operator.push(rows(0, 30))
    with pytest.raises(SashError, match=words):
        now.open().restore(operator.snapshot())
    job.asked(before)
    assert job.batch([], 10**17)[0].num_rows > 0


def test_format_takes_a_whole_number():
    for wrong in (0, -1, True, "2", 1.5):
        with pytest.raises(SashError, match=re.escape(f"format must be a whole number, at least 1, got {wrong!r}")):
            other(sf, format=wrong)


def test_partials_of_a_wrong_length_are_refused():
    job = job_of(stream().query("q", sf.sum("f"), range="40 seconds", slide="20 seconds"), "final")
    job.batch([rows(0, 30)], None)
    bucket = job.shards[0].buckets[Share()]
    run = bucket.logs["runs"].runs[0]
    entry = packing.table_of(job.stores[0][run.number])
    name = next(name for name in entry.column_names if name.startswith("state"))
    short = entry.set_column(entry.column_names.index(name), name, pa.array([b"1234"] * entry.num_rows, pa.binary()))
    with pytest.raises(SashError, match=r"state must have partials of 8 bytes for sum, got others"):
        bucket.operator.replay(short)


def test_the_golden_rows_are_what_they_were():
    assert rows().schema == SCHEMA
    assert rows().num_rows == ROWS
