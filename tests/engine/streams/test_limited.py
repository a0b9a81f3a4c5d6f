"""A process that may map few addresses gives exact answers or a sentence, and never spoils what was kept."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
ROOT = HERE.parents[2]
MB = 1 << 20
SMALL = [[8 * MB, 2 * MB], [64 * MB, 16 * MB], [400 * MB, None]]
STEPPED = [
    [limit * MB, share and limit * MB // share] for limit in (8, 12, 20, 40, 80, 160, 400) for share in (4, None)
]


def outcomes(*cases):
    """What came of each step of some cases."""
    env = os.environ | {"PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(ROOT), str(ROOT / "tests")])}
    command = [sys.executable, str(HERE / "limited.py"), json.dumps(cases)]
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def check(found, steps):
    assert len(found) == steps
    for each in found:
        assert each["outcome"] in ("exact", "sentence"), each
        if each["outcome"] == "sentence":
            assert "memory" in each["words"], each


def test_few_steps():
    rows = {"rows": 20_000, "keys": 100}
    found = outcomes(*({"board": board, "rows": rows, "steps": SMALL} for board in ("partials", "rows")))
    check(found, 6)
    assert [each["outcome"] for each in found if each["limit"] == 400] == ["exact", "exact"]


@pytest.mark.long
@pytest.mark.parametrize("board", ["partials", "rows", "lists", "counted"])
@pytest.mark.parametrize("width", [20, 4_000, 1 << 20])
@pytest.mark.parametrize("keys", [1, 1_000])
def test_limits_from_8_to_400_mb(board, width, keys):
    """Fold, ship, work, restore, answer and a whole batch, in steps of limits; a stopped one goes on exactly."""
    rows = {"rows": max(min(200_000, (60 << 20) // width), 30), "keys": keys, "width": width}
    check(outcomes({"board": board, "rows": rows, "steps": STEPPED}), len(STEPPED))


@pytest.mark.long
@pytest.mark.parametrize("emit", ["changes", "updates"])
def test_limits_with_other_emits(emit):
    """Early answers and changes under the same limits."""
    rows = {"rows": 60_000, "keys": 500}
    check(outcomes({"board": "partials", "rows": rows, "steps": STEPPED, "emit": emit}), len(STEPPED))
