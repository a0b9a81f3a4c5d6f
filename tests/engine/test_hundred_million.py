"""A window of a hundred million rows in one process, within a memory that is counted."""

import json
import os
import subprocess
import sys
import textwrap

import pytest

pytestmark = pytest.mark.long
SCRIPT = """
    import json, resource, sys
    import numpy as np
    import pyarrow as pa
    import sash
    from sash import Window
    from sash import functions as sf

    rows, function, back = int(sys.argv[1]), sys.argv[2], int(sys.argv[3])
    values = np.random.default_rng(5).integers(-1000, 1000, rows, np.int64)
    table = pa.table({"t": pa.array(np.arange(rows)), "x": pa.array(values)})
    places = np.unique(np.concatenate([[0, 1, rows - 1], np.random.default_rng(6).integers(0, rows, 17)])).tolist()

    def held(what):
        lines = open("/proc/self/status").read().splitlines()
        return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(what))

    open("/proc/self/clear_refs", "w").write("5")  # from here on, a new peak
    before = held("VmRSS")
    window = Window.orderBy("t").rowsBetween(-back if back else Window.unboundedPreceding, 0)
    out = sash.withColumns(table, {"c": getattr(sf, function)("x").over(window)})["c"]
    peak = held("VmHWM")
    assert len(out) == rows and out.null_count == 0
    for place in places:
        expected = getattr(np, function)(values[max(place - back, 0) if back else 0 : place + 1]).item()
        assert out[place].as_py() == expected, (place, out[place], expected)
    print(json.dumps([peak, (peak - before - out.nbytes) / rows]))
    """


def peak_of(*asked):
    """The most bytes that a fresh process held, and how many a row were neither input nor output."""
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(SCRIPT), *map(str, asked)],
        env={**os.environ, "SASH_THREADS": "2"},
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize("back", [0, 1_000_000], ids=["all before", "a million before"])
@pytest.mark.parametrize("function", ["sum", "max"])
def test_sums_and_maxima_of_a_hundred_million_rows(function, back):
    """Survived 100,000,000 rows whose frames are all rows before, or a million, with less than 8 GiB in all."""
    peak, _ = peak_of(100_000_000, function, back)
    assert peak < 8 << 30


@pytest.mark.parametrize("back", [0, 1_000_000], ids=["all before", "a million before"])
def test_medians_of_twenty_million_rows(back):
    """Survived medians of 20,000,000 rows, with less than 80 bytes a row beyond what goes in and comes out."""
    _, each = peak_of(20_000_000, "median", back)
    assert each < 80
