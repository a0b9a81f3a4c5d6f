"""Threads beside the caller's: a pool over kernels that release the GIL, made anew after a fork."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from sash.errors import SashError

if TYPE_CHECKING:
    from concurrent.futures import ThreadPoolExecutor


@cache
def second_thread() -> ThreadPoolExecutor:
    """A thread beside the caller's and the pool's, so that a task of the pool may wait for it."""
    return _executor(1)


def helpers() -> ThreadPoolExecutor:
    """Threads that help one call each of a kernel, and have left when it returns."""
    return _helpers(max(threads() // 2, 1))


@cache
def _helpers(workers: int) -> ThreadPoolExecutor:
    return _executor(workers)


def may_help() -> bool:
    """Whether a call may have a second thread that it would wait for.

    Not in a Spark task, which has one core; nor where others have kept all cores busy for the last minute: a helper
    that is not let run holds up the call.
    """
    return threads() > 1 and load() <= usable_cores() + 0.25


def load() -> float:
    """How many threads wanted to run on this machine, the average of the last minute; 0 where nobody tells."""
    try:
        return os.getloadavg()[0]
    except (AttributeError, OSError):
        return 0.0


@cache
def _pool(workers: int) -> ThreadPoolExecutor:
    return _executor(workers)


def _executor(workers: int) -> ThreadPoolExecutor:
    from concurrent.futures import ThreadPoolExecutor

    return ThreadPoolExecutor(max_workers=workers, thread_name_prefix="sash")


def threads() -> int:
    """How many threads may work at once: ``$SASH_THREADS``, else the cores this process may use."""
    asked = os.environ.get("SASH_THREADS", "")
    if asked:
        if not asked.isdecimal() or int(asked) < 1:
            raise SashError(f"SASH_THREADS must be a whole number, at least 1, got {asked!r}")
        return int(asked)
    return usable_cores()


def usable_cores() -> int:
    """How many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def together(tasks: Iterable[Callable[[], Any]]) -> list[Any]:
    """Run tasks on all threads, the caller's among them; returns what each gave, in order.

    >>> together([lambda: 1, lambda: 2])
    [1, 2]
    """
    tasks = list(tasks)
    if len(tasks) < 2 or (workers := threads()) == 1:
        return [task() for task in tasks]
    others = [_pool(workers - 1).submit(task) for task in tasks[1:]]
    try:
        mine = {0: tasks[0]()}
        mine |= {k: tasks[k]() for k in range(len(others), 0, -1) if others[k - 1].cancel()}  # what no thread has begun
        return [mine[k] if k in mine else others[k - 1].result() for k in range(len(tasks))]
    except BaseException:
        for other in others:
            other.cancel()
        raise


def shares(rows: int, least: int = 1 << 16, parts: int | None = None) -> list[tuple[int, int]]:
    """Rows cut into about equal parts, one a thread; none of fewer than ``least`` rows but the only one.

    >>> shares(10, least=4, parts=2)
    [(0, 5), (5, 10)]
    """
    most = rows // max(least, 1)
    parts = 1 if most < 2 else min(parts or threads(), most)
    edges = [rows * part // parts for part in range(parts + 1)]
    return list(pairwise(edges))


if hasattr(os, "register_at_fork"):  # threads do not come along

    def _forget() -> None:
        second_thread.cache_clear()
        _helpers.cache_clear()
        _pool.cache_clear()

    os.register_at_fork(after_in_child=_forget)
