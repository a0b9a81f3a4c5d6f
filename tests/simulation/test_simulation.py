"""Any history of a query on Spark gives what its windows hold; a seed decides batches, retries, restarts and limits."""

import hashlib
import os
import subprocess
import sys
from itertools import islice

import pytest

from simulation.history import History
from simulation.running import on_all_cores, run, seeds_of

SEEDS = seeds_of(os.environ.get("SASH_SEEDS", "0-239"))  # with make test
MANY = int(os.environ.get("SASH_HISTORIES", "1_000_000"))  # with make test-long
LEAST = int(os.environ.get("SASH_FIRST", "10_000"))  # its first seed: where one that was broken off goes on


def test_histories_by_their_seeds():
    histories = [run(seed) for seed in SEEDS]
    found = [history.wrong for history in histories if history.wrong]
    assert not found, "\n\n".join(found)
    assert sum(history.refused for history in histories) <= len(histories) // 10 + 1  # keys that do not fit memory


@pytest.mark.long
def test_a_million_histories(capsys):
    with capsys.disabled():
        found = list(islice(on_all_cores(range(LEAST, 10_000 + MANY)), 5))
    assert not found, "\n\n".join(found)


def told(seeds):
    """What happened in some histories, in short."""
    traces = []
    for seed in seeds:
        history = History(seed)
        history.run()
        traces.append("\n".join([*history.trace, repr(history.sink), repr(dict(history.versions))]))
    return hashlib.sha256("\n".join(traces).encode()).hexdigest()


TOLD = "from simulation.test_simulation import told; print(told(range(5)), end='')"


def test_a_seed_is_one_history_to_the_last_byte_of_its_state():
    environment = {**os.environ, "PYTHONHASHSEED": "1", "PYTHONPATH": os.pathsep.join(sys.path)}
    again = subprocess.run([sys.executable, "-c", TOLD], env=environment, check=True, capture_output=True, text=True)
    assert again.stdout == told(range(5))
