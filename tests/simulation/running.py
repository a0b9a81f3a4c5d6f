"""Histories by their seeds, one after the other or on all cores; a seed that fails can be run again alone."""

import multiprocessing
import os
import time
from collections.abc import Iterator

from simulation.history import History, Wrong

COMMAND = "SASH_SEEDS={seed} python -m pytest tests/simulation/test_simulation.py -k seeds"
PART = 200  # seeds that a process takes at a time


def run(seed: int, of: type[History] = History) -> History:
    """Run a history; what is wrong with it, if something is, is then said in it."""
    history = of(seed)
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
    """The same, in as many processes as there are cores (or SASH_TEST_CORES); prints how far they are, by seeds."""
    parts = [seeds[at : at + PART] for at in range(0, len(seeds), PART)]
    cores = int(os.environ.get("SASH_TEST_CORES") or os.cpu_count() or 1)
    begun = time.monotonic()
    with multiprocessing.get_context("spawn").Pool(min(cores, len(parts)), maxtasksperchild=20) as pool:
        for part, found in zip(parts, pool.imap(wrongs, parts), strict=True):
            done, minutes = part.stop - seeds.start, (time.monotonic() - begun) / 60
            print(
                f"{done:,} of {len(seeds):,} histories, {done / minutes:,.0f} a minute; SASH_FIRST={part.stop} goes on"
            )
            yield from found


def seeds_of(text: str) -> range:
    """Seeds as one writes them: 7, or 0-999.

    >>> seeds_of("7"), seeds_of("0-999")
    (range(7, 8), range(0, 1000))
    """
    first, _, last = text.partition("-")
    return range(int(first), int(last or first) + 1)
