"""Sessions: rows sorted by time, numbered anew wherever one begins at or after the latest end of those before it.

A row lasts from its time to its end. Ends need not ascend, as each row may have a gap of its own: the latest is kept.

needs   times that ascend in a partition
time    one step a row
space   the answers
paper   none; a scan
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sash.kernels.algorithm import SESSIONS, Algorithm
from sash.kernels.compiling import routine


def session_numbers(segments: np.ndarray, times: np.ndarray, ends: np.ndarray, shift: np.ndarray) -> np.ndarray:
    """The number of each row's session in its partition, from 1; a row ends at ``ends`` plus the shift.

    >>> times = np.array([0, 4, 9, 9, 30])
    >>> session_numbers(np.array([0, 5]), times, times, np.array([5])).tolist()
    [1, 1, 2, 2, 3]
    """
    out = np.empty(len(times), np.int32)
    _number(segments, times, ends, shift, out)
    return out


@routine
def _number(segments: Any, times: Any, ends: Any, shift: Any, out: Any) -> int:
    """Number the sessions of each partition; rows of one time are of one session."""
    for segment in range(len(segments) - 1):
        start, stop = segments[segment], segments[segment + 1]
        if start < stop:
            number, latest = 1, ends[start] + shift[0]
            out[start] = number
            for i in range(start + 1, stop):
                end = ends[i] + shift[0]
                if times[i] >= latest and times[i] != times[i - 1]:
                    number += 1
                    latest = end
                else:
                    latest = max(latest, end)
                out[i] = number
    return 0


ALGORITHM = Algorithm(
    name="session_scan",
    operation=SESSIONS,
    words="a scan that keeps the latest end",
    cost=lambda task: 2.0,
    run=session_numbers,
)
