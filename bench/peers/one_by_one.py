"""Overlapping windows by the peers that take events one at a time, in Python.

Sash gets its events in batches of 1,000, as Bytewax does. River's windows are by rows, so it has one key only, and
events are evenly apart. quixstreams needs a broker.
"""

from __future__ import annotations

from bench.peers._stream_cases import Case, bytewax_task, river_task

TITLE = "Continuous queries: stream processors in Python"


def run(bench):
    rows = bench.pick(20_000, 8_000)
    for keys in (1, 100):
        for name in ("max", "avg"):
            case = Case(name, 60, 1, keys, rows, gap=10_000)
            tasks = {"Bytewax": bytewax_task(case)} | ({"River": river_task(case)} if keys == 1 else {})
            for peer, task in tasks.items():
                case.check(peer, task())
            bench.duel(f"{case}, in batches of 1,000", case.pushed(1_000), tasks)
