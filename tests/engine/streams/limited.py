"""A stream in processes that may map few addresses: told what to do on the command line, they say what came of it.

Each step is a fork of a process in which everything is loaded, and which can still look at what the step left.
"""

import hashlib
import json
import os
import resource
import select
import shutil
import signal
import sys
import tempfile
import traceback

from bench.studies._bounded import END, Run, events, status

from sash import options
from sash.engine.memory_need import within_memory
from sash.engine.streams.limits import Limits
from sash.errors import SashError

PATIENCE = 1800  # seconds of a step: one at 3 MB takes minutes, and more where others work, too
HALF = 150_000_000  # microseconds: half of the rows are before it


def phases(run, rows, start):
    """All that a stream and a batch do, one after the other; ``start`` is called with the name of each."""
    start("fold")
    run.fold(events(**rows), 0)
    run.fold(events(**rows, seed=1), 1)
    start("work")
    run.work(0, 1)
    start("restore")
    run.restart()
    run.work(1, HALF)
    start("answer")
    run.work(None, END)
    start("batch")
    run.whole(events(**rows))


def digests(run):
    """What all answers are known by."""
    return {name: hashlib.sha256("\n".join(rows).encode()).hexdigest() for name, rows in run.answers().items()}


def unlimited(run, rows):
    """What all answers should be."""
    phases(run, rows, lambda _: None)
    return digests(run)


def finished(run, rows, stopped):
    """The answers once the rest of a stream that stopped somewhere is done without limits, from what was committed."""
    run.limits = Limits()
    run.restart()
    left = {"begin": 0, "fold": 0, "work": 1, "restore": 2, "answer": 3}.get(stopped, 4)
    if left < 1:
        run.fold(events(**rows), 0)
        run.fold(events(**rows, seed=1), 1)
    if left < 2:
        run.work(0, 1)
    if left < 3:
        run.work(1, HALF)
    if left < 4:
        run.work(None, END)
    run.whole(events(**rows))
    return digests(run)


def attempt(run, rows, limit, memory):
    """Do all phases with so many more bytes of addresses than there are; gives where it ended, and how."""
    most, phase = status("VmSize") + limit, "begin"
    resource.setrlimit(resource.RLIMIT_AS, (most, resource.RLIM_INFINITY))

    def start(name):
        nonlocal phase
        phase = name

    try:
        run.limits = Limits.of(memory or options.budget())
        with within_memory(run.limits.memory, "the rows of a test"):
            phases(run, rows, start)
        outcome = ["exact", ""]
    except SashError as error:
        outcome = ["sentence", str(error)]
    except BaseException:
        resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        outcome = ["other", traceback.format_exc()]
    return [phase, run.limits.memory, *outcome]


def forked(function, *args):
    """What a function gives in a process of its own, or how that ended."""
    read, write = os.pipe()
    child = os.fork()
    if not child:
        try:
            os.write(write, json.dumps(function(*args)).encode()[:60_000])
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(0)
    os.close(write)
    ready, _, _ = select.select([read], [], [], PATIENCE)
    if not ready:
        os.kill(child, signal.SIGKILL)
    body = os.read(read, 1 << 16) if ready else b""
    os.close(read)
    _, code = os.waitpid(child, 0)
    return json.loads(body) if body else ["?", 0, "dead" if ready else "hangs", f"status {code}"]


def stepped(board, rows, steps, emit="final", late=False):
    """For each step, the limit, the memory that Sash was told, where it ended, and how."""
    with tempfile.TemporaryDirectory() as folder:
        expected = forked(unlimited, Run(board, f"{folder}/whole", Limits(), emit, late), rows)
        for limit, memory in steps:
            run = Run(board, f"{folder}/run", Limits(), emit, late)
            phase, memory, outcome, words = forked(attempt, run, rows, limit, memory)
            if outcome in ("exact", "sentence"):
                left = forked(digests, run) if outcome == "exact" else forked(finished, run, rows, phase)
                if left != expected:
                    outcome = f"{outcome}, but wrong"
            yield {"limit": limit >> 20, "memory": memory, "phase": phase, "outcome": outcome, "words": words}
            shutil.rmtree(f"{folder}/run")


def warmed(board, emit="final", late=False, **_):
    """Have all that a case needs compiled and loaded."""
    with tempfile.TemporaryDirectory() as folder:
        unlimited(Run(board, folder, Limits.of(1 << 22), emit, late), {"rows": 5_000, "keys": 50})


if __name__ == "__main__":
    os.environ["SASH_THREADS"] = "1"  # as in a task of Spark
    for case in json.loads(sys.argv[1]):
        warmed(**case)
        for found in stepped(**case):
            print(json.dumps(found | {"board": case["board"], "emit": case.get("emit", "final")}), flush=True)
