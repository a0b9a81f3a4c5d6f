"""State that is sealed as it should be, but says what no Sash would: it is refused with a sentence."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import sash
from engine.streams.mutations import apart, together
from engine.streams.test_windows import SCHEMA, table
from sash import functions as sf
from sash.engine.streams.sharding import Share, cover
from sash.errors import SashError

TESTS = Path(__file__).parents[2]


def test_no_state_makes_a_kernel_leave_its_arrays():
    """Survived: many changed snapshots, heads and chunks with right seals, under kernels that check bounds."""
    fuzz = Path(__file__).with_name("restore_fuzz.py")
    ran = subprocess.run(
        [sys.executable, "-X", "faulthandler", "-m", "pytest", "-q", "-n0", "-p", "no:cacheprovider", str(fuzz)],
        cwd=TESTS.parent,
        env={
            "SASH_TEST_EXAMPLES": "12",
            **os.environ,
            "SASH_BOUNDSCHECK": "1",
            "PYTHONPATH": os.pathsep.join([*sys.path, str(TESTS)]),
        },
        capture_output=True,
        text=True,
    )
    assert ran.returncode == 0, ran.stdout[-8000:] + ran.stderr[-4000:]


def opened():
    stream = sash.stream(SCHEMA, time="ts", key="k", watermark="1 second")
    return stream.query({"n": sf.count(), "s": sf.sum("v")}, range="4 seconds").open("changes")


def rows(step):
    return table([{"ts": (step * 10 + k) * 100_000, "k": "ab"[k % 2], "v": k, "w": None} for k in range(10)])


def changed(state, **bodies):
    """State in which some parts are other arrays."""
    making, parts = apart(state)
    for k, (entry, _) in enumerate(parts):
        if (other := bodies.get(entry["name"].replace(" ", "_"))) is not None:
            parts[k] = ({**entry, "bytes": other.nbytes, "dtype": other.dtype.str}, other.tobytes())
    return together(making, parts, state)


MANY = np.zeros(3_000_000, np.int64)


@pytest.mark.parametrize(
    ("bodies", "message"),
    [
        ({"cell_key": MANY, "cell_at": np.arange(len(MANY))}, "cell held 0 as 3000000 numbers, got 2"),
        ({"cell_key": np.array([0, 2])}, "cell key as numbers from 0 to 1, got 0 to 2"),
        ({"cell_key": np.array([-1, 0])}, "cell key as numbers from 0 to 1, got -1 to 0"),
        ({"cell_key": np.array([1, 0])}, "cells as sorted by key and position, each once"),
        ({"cell_key": np.array([0, 0])}, "cells as sorted by key and position, each once"),
        ({"cell_key": np.array([0, 1], np.int32)}, "cell key as an array of int64, got int32"),
        ({"cell_at": np.array([0])}, "cell at as 2 numbers, got 1"),
        ({"cell_at": np.array([-(2**63), 0])}, "cell at as numbers from "),
        ({"cell_states_0": np.zeros(1, np.int64)}, "cell states 0 as 2 numbers, got 1"),
        ({"cell_states_1": np.zeros(2)}, r"cell states 1 as an array of \(int64, int64\), got float64"),
        ({"cell_held_1": np.array([1, 2], np.uint8)}, "cell held 1 as zeros and ones, got 2"),
        ({"cell_at": np.zeros(3, np.uint8)}, "cell at as an array of int64, got uint8"),
    ],
)
def test_cells_that_do_not_fit_together(bodies, message):
    """Survived: 3,000,000 cells with two partials, which were accepted once; what is refused changes nothing."""
    operator, twin = opened(), opened()
    for each in (operator, twin):
        each.push(rows(0))
    with pytest.raises(SashError, match=f"^state must have {message}"):
        operator.restore(changed(operator.snapshot(), **bodies))
    assert operator.push(rows(6)) == twin.push(rows(6))
    assert operator.close() == twin.close()


def test_which_shares_cover_all_keys():
    whole = [Share()]
    while len(whole) < 9:
        assert cover(whole)
        assert not cover(whole[1:])
        assert not cover([*whole, whole[0]])
        assert not cover([*whole[1:], *whole[0].split(), whole[0]])
        whole = [*whole[1:], *whole[0].split()]
    assert not cover([Share(0, 1)])
    assert not cover([Share(70, 0)])
