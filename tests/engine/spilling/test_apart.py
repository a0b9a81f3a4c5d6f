"""Rows of a board over a batch come in groups that fit memory, all rows of a key together, or the key is named."""

from itertools import chain

import numpy as np
import pyarrow as pa
import pytest

from sash.engine.sizes import total_bytes
from sash.engine.spilling.apart import groups
from sash.errors import SashError


@pytest.fixture(autouse=True)
def disk(tmp_path, monkeypatch):
    monkeypatch.setenv("SPARK_LOCAL_DIRS", str(tmp_path))
    return tmp_path


def by_key(table):
    return [table["k"]]


def rows(keys, width=20):
    return pa.table({"k": keys, "n": np.arange(len(keys)), "text": ["x" * width] * len(keys)})


@pytest.mark.parametrize("budget", [24_000, 60_000, 1 << 30])
def test_no_row_is_lost_and_all_rows_of_a_key_are_in_one_group(disk, budget):
    table = rows(np.random.default_rng(1).integers(0, 60, 2_000))
    tables = [pa.table(batch) for batch in table.to_batches(max_chunksize=70)]
    found = []
    for group in groups(iter(tables), by_key, ["k"], budget):
        parts = list(group)
        assert 4 * sum(map(total_bytes, parts)) <= budget
        found.append(pa.concat_tables(parts))
    assert len(found) == 1 if budget == 1 << 30 else len(found) > 2
    assert sorted(n for group in found for n in group["n"].to_pylist()) == list(range(2_000))
    keys = [key for group in found for key in set(group["k"].to_pylist())]
    assert len(keys) == len(set(keys))
    assert list(disk.iterdir()) == []


def test_a_key_that_does_not_fit_is_named(disk):
    table = rows([1, 2, 3] * 10 + [7] * 400)
    said = r"the key k = 7 has rows of about .* in one task, for which a worker needs .* and may use 9.8 kB"
    with pytest.raises(SashError, match=said + r": set sash\.options\.memory"):
        list(chain.from_iterable(groups([table], by_key, ["k"], 10_000)))
    with pytest.raises(SashError, match=r"^a stream without a key has rows of about"):
        list(groups([table], lambda table: [], [], 10_000))
    assert list(disk.iterdir()) == []
