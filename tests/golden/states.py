"""Golden states: written by `PYTHONPATH=tests .venv/bin/python -m golden.states`, read by tests of what state outlives.

With `added` behind it, only those that are not there yet are written.

Write them anew when a format has changed on purpose, and say in the changelog what becomes of state of before.
"""

import json
import sys
import zipfile
from functools import partial
from pathlib import Path

import numpy as np

from engine.streams.test_shards import Job
from golden.boards import HALF, by_hand, functions, kinds, one_of_each, rows
from sash.engine.streams.limits import Limits
from sash.kernels.sealing import making
from sash.version import VERSION

HERE = Path(__file__).parent
STATES, DEFINITIONS = HERE / "states.zip", HERE / "definitions.json"
SMALL = Limits(memory=120_000, rows=50, body=1_000, answers=40, piece=500, fan=3, few=20)
STEP = 30
PYTHON = f"{sys.version_info.major}.{sys.version_info.minor}"


def snapshot(board, emit="final"):
    """The state of an operator that has taken the first rows."""
    operator = board.open(emit=emit)
    operator.push(rows(0, HALF))
    return operator.snapshot()


def job_of(board, emit):
    """A job with two shards, small in every way."""
    return Job(board, 2, emit, limits=SMALL)


def watermark(stop):
    """Where Spark's watermark is after so many rows."""
    return int(rows(stop - 1, stop)["ts"].cast("int64")[0].as_py()) - 2_000_000


def stored(board, emit):
    """The stores of shards that have taken the first rows, as bytes by name."""
    job = job_of(board, emit)
    for start in range(0, HALF, STEP):
        job.batch([rows(start, start + STEP)], watermark(start) if start else None)
    return {f"{k}/{name}": bytes(body) for k, store in enumerate(job.stores) for name, body in store.items()}


def definitions():
    """What each built-in's partials are: the number of their format, their fields, and a digest of their functions."""
    found = {}
    for name, board in functions().items():
        scheme = board._scheme
        for (aggregate, _), each in zip(scheme.shared.partials, scheme.formats, strict=True):
            found[name] = [each.number, list(each.fields), making(aggregate)]
    return {"python": PYTHON, "partials": found}


def main(only_added):
    """Write all, or what is not there yet."""
    DEFINITIONS.write_text(json.dumps(definitions(), indent=1, sort_keys=True) + "\n")
    old = {}
    if STATES.exists():
        with zipfile.ZipFile(STATES) as before:
            kept = "" if only_added else "version 1/"
            old = {name: before.read(name) for name in before.namelist() if name.startswith(kept)}
    with zipfile.ZipFile(STATES, "w", zipfile.ZIP_DEFLATED) as file:

        def write(name, made):
            if name not in old:
                file.writestr(entry_named(name), made())

        for name, body in old.items():
            file.writestr(entry_named(name), body)
        for name, board in one_of_each(functions()).items():
            write(f"function/{name}", partial(snapshot, board))
        for name, (board, emit) in kinds().items():
            write(f"snapshot/{name}", partial(snapshot, board, emit))
            if not any(each.startswith(f"store/{name}/") for each in old):
                for part, body in stored(board, emit).items():
                    file.writestr(entry_named(f"store/{name}/{part}"), body)
        write("by hand", window_by_hand)
        write("version", lambda: VERSION)


def window_by_hand():
    """The state of a window that is managed by hand."""
    window = by_hand()
    window.insert(rows(0, HALF))
    window.evict(np.arange(10))
    return window.snapshot()


def entry_named(name):
    """An entry of the archive, which does not depend on when it is written."""
    entry = zipfile.ZipInfo(name)
    entry.compress_type = zipfile.ZIP_DEFLATED
    return entry


if __name__ == "__main__":
    main(only_added=sys.argv[1:] == ["added"])
