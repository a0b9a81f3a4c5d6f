"""State of columns beside rows outlives code: what an earlier Sash kept is gone on with exactly."""

import re
import zipfile

import pyarrow as pa
import pytest

from golden.boards import HALF, ROWS, rows
from golden.row_states import ROW_STATES, job_of, kinds
from golden.states import STEP, watermark
from sash.engine.evaluating import evaluate
from sash.engine.row_streams.row_operator import RowOperator
from sash.engine.streams import packing
from sash.errors import SashError

KINDS = kinds()
END = 10**17


@pytest.fixture(scope="module")
def golden():
    with zipfile.ZipFile(ROW_STATES) as file:
        return {name: file.read(name) for name in file.namelist()}


def bag(*tables):
    return sorted(repr(row) for table in tables for row in table.to_pylist())


def stored(golden, name, job):
    for part, body in golden.items():
        if part.startswith(f"store/{name}/"):
            shard, chunk = part.removeprefix(f"store/{name}/").split("/")
            job.stores[int(shard)][int(chunk) if chunk.isdigit() else chunk] = body
    assert all("head" in store for store in job.stores)
    return job


@pytest.mark.parametrize("name", KINDS)
def test_a_snapshot_is_gone_on_with(golden, name):
    one, other = RowOperator(KINDS[name]), RowOperator(KINDS[name])
    left = one.push(rows(0, HALF))
    other.restore(golden[f"snapshot/{name}"])
    rest = [[operator.push(rows(HALF, ROWS)), operator.close(), operator.late()] for operator in (one, other)]
    assert bag(*rest[0]) == bag(*rest[1])
    if KINDS[name].emit == "final":
        assert bag(left, *rest[1][:2]) == bag(evaluate(rows(), KINDS[name].columns, arrival=False))


@pytest.mark.parametrize("name", KINDS)
def test_a_store_is_gone_on_with(golden, name):
    whole, kept = job_of(KINDS[name]), stored(golden, name, job_of(KINDS[name]))
    left = [
        whole.batch([rows(start, start + STEP)], watermark(start) if start else None)[0]
        for start in range(0, HALF, STEP)
    ]
    for start in [*range(HALF, ROWS, STEP), None]:
        came, mark = ([], END) if start is None else ([rows(start, min(start + STEP, ROWS))], watermark(start))
        one, other = whole.batch(came, mark), kept.batch(came, mark)
        assert bag(one[0]) == bag(other[0])
        assert one[2] == other[2]
        left.append(other[0])
    if KINDS[name].emit == "final":
        assert bag(pa.concat_tables(left)) == bag(evaluate(rows(), KINDS[name].columns, arrival=False))


def test_some_stores_have_several_runs(golden):
    heads = [packing.unpacked("head", body) for name, body in golden.items() if re.fullmatch("store/.*/head", name)]
    buckets = [
        packing.unpacked("bucket", head[name].tobytes()) for head in heads for name in head if name[:7] == "bucket "
    ]
    assert any(len(bucket["waiting"]) > 1 for bucket in buckets)
    assert any(len(bucket["context"]) > 1 for bucket in buckets)


def test_another_format_of_rows_is_refused_by_name(golden):
    name = "past final"
    job = stored(golden, name, job_of(KINDS[name]))
    head = packing.unpacked("head", job.stores[0]["head"])
    head["told"]["rows"] = 2
    job.stores[0]["head"] = packing.packed("head", head)
    with pytest.raises(SashError, match="state of rows must be of format 1, got 2"):
        job.batch([], END)
