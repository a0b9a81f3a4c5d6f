"""Ten million partitions of one row each, in one process."""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

import sash
from sash import Window
from sash import functions as sf

pytestmark = pytest.mark.long
ROWS = 10_000_000
CALLS = {
    "sum": sf.sum("x"),
    "max": sf.max("x"),
    "median": sf.median("x"),
    "kinds": sf.count_distinct("x"),
    "rank": sf.rank(),
    "before": sf.lag("x", 1, -1),
}


@pytest.mark.parametrize("frame", ["so far", "some rows"])
def test_each_row_is_a_partition_of_its_own(frame):
    """Survived 10,000,000 keys of one row each: six functions answer each row from itself alone."""
    keys = np.random.default_rng(3).permutation(ROWS)
    table = pa.table({"k": keys, "t": keys[::-1].copy(), "x": keys % 1009})
    window = Window.partitionBy("k").orderBy("t")
    window = window if frame == "so far" else window.rowsBetween(-3, 3)
    out = sash.withColumns(table, {name: call.over(window) for name, call in CALLS.items()})
    for name in ("sum", "max", "median"):
        assert np.array_equal(out[name].to_numpy(), table["x"].to_numpy())
    for name, always in (("kinds", 1), ("rank", 1), ("before", -1)):
        assert pc.min_max(out[name]).as_py() == {"min": always, "max": always}
    assert all(column.null_count == 0 for column in out.columns)
