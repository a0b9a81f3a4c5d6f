"""Runs experiments, each in a process of its own, and stores what they measured after each."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bench.harness.catalogue import experiment
from bench.harness.experiment import Bench
from bench.harness.machine import HOME, described, sentence

LIMIT = 1800.0  # seconds after which an experiment has failed


def run(names: Sequence[str], *, full: bool, into: Path) -> list[str]:
    """Run these and merge what they measured into a file; the names of those that failed."""
    machine, failed = described(), []
    results = load(into) if into.exists() else {}
    print(sentence(machine), flush=True)
    if not full:
        print("small sizes, at which no claim is judged: --full does", flush=True)
    for name in names:
        print(f"\n{name}", flush=True)
        start = time.perf_counter()
        kept = _apart(name, full)
        if kept is None:
            failed.append(name)
            continue
        took = round(time.perf_counter() - start, 1)
        print(f"  took {took:.0f} s", flush=True)
        results[name] = {"machine": machine, "full": full, "seconds": took, **kept}
        save(results, into)
    return failed


def load(path: Path) -> dict[str, Any]:
    """A stored result: what was measured, by experiment."""
    return json.loads(path.read_text())["experiments"]


def save(results: dict[str, Any], path: Path) -> None:
    """Store a result, whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f".{path.name}.{os.getpid()}")
    ordered = dict(sorted(results.items()))  # what is inside has an order of its own: that of panels and lines
    partial.write_text(json.dumps({"experiments": ordered}, indent=1, ensure_ascii=False) + "\n")
    partial.replace(path)


def _apart(name: str, full: bool) -> dict[str, Any] | None:
    with tempfile.TemporaryDirectory() as folder:
        answer = Path(folder) / "answer.json"
        command = [sys.executable, "-m", "bench.harness.running", name, str(int(full)), str(answer)]
        try:
            with (Path(folder) / "errors").open("w+") as errors:  # Spark talks on and on
                _whole_family(command, errors)
        except (subprocess.CalledProcessError, subprocess.TimeoutExpired) as error:
            said = (Path(folder) / "errors").read_text()[-2000:]
            print(f"  {name} failed: {error}\n{said}", file=sys.stderr, flush=True)
            return None
        return json.loads(answer.read_text())


def _whole_family(command: Sequence[str], errors: Any) -> None:
    """Run a command to its end, or at the limit end it with all that it started: a JVM would slow down the next."""
    with subprocess.Popen(command, cwd=HOME, stderr=errors, start_new_session=True) as process:
        try:
            code = process.wait(LIMIT)
        except BaseException:
            os.killpg(process.pid, signal.SIGKILL)
            raise
    if code:
        raise subprocess.CalledProcessError(code, command)


def _one(name: str, full: bool, answer: Path) -> None:
    found = experiment(name)
    print(f"  {found.title}", flush=True)
    bench = Bench(name, full)
    found.run(bench)
    answer.write_text(json.dumps({"title": found.title, **bench.kept()}))


if __name__ == "__main__":
    _one(sys.argv[1], sys.argv[2] == "1", Path(sys.argv[3]))
