"""Histories by their seeds, one after the other or on all cores; a seed that fails can be run again alone."""

import multiprocessing
import os
from collections.abc import Iterator

from simulation.history import History, Wrong

COMMAND = "SASH_SEEDS={seed} python -m pytest tests/simulation/test_simulation.py -k seeds"
PART = 1000  # seeds that a process takes at a time


def run(seed: int) -> History:
    """Run a history; what is wrong with it, if something is, is then said in it."""
    history = History(seed)
    try:
        history.run()
    except Wrong as wrong:
        history.wrong = "\n".join([
            f"seed {seed}: {wrong}", *history.trace[-40:], repr(history.config), repr(history.limits),
            f"run it again: {COMMAND.format(seed=seed)}",
        ])  # fmt: skip
    return history


def wrongs(seeds: range) -> list[str]:
    """What is wrong with some histories."""
    return [words for seed in seeds if (words := run(seed).wrong)]


def on_all_cores(seeds: range) -> Iterator[str]:
    """The same, in as many processes as there are cores."""
    parts = [seeds[at : at + PART] for at in range(0, len(seeds), PART)]
    with multiprocessing.get_context("spawn").Pool(min(os.cpu_count() or 1, len(parts)), maxtasksperchild=20) as pool:
        for found in pool.imap_unordered(wrongs, parts):
            yield from found


def seeds_of(text: str) -> range:
    """Seeds as one writes them: 7, or 0-999.

    >>> seeds_of("7"), seeds_of("0-999")
    (range(7, 8), range(0, 1000))
    """
    first, _, last = text.partition("-")
    return range(int(first), int(last or first) + 1)
