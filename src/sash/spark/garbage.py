"""What a worker keeps for good is set apart from the garbage collection that PySpark runs after each task.

That collection looks at all that is in memory, modules above all: 50 ms of a core, where a task of a micro-batch may
have worked for 2.
"""

from __future__ import annotations

import gc

from pyspark import TaskContext

MANY = 20_000  # objects that came since the last time; a worker with Sash, pandas and PyArrow has 95,000


def set_apart() -> None:
    """At the end of a task: what is garbage goes, and all else is looked at no more, if much came since the last time.

    What was set apart before is looked at once more, so that no cycle stays for good.
    """
    if TaskContext.get() is None or len(gc.get_objects()) < MANY:
        return
    gc.unfreeze()
    gc.collect()
    gc.freeze()
