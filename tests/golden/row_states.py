"""Golden states of columns beside rows: written by `PYTHONPATH=tests .venv/bin/python -m golden.row_states`.

As for boards, they are written anew when a format has changed on purpose.
"""

import zipfile
from functools import partial
from pathlib import Path

from engine.row_streams.row_job import RowJob
from golden.boards import HALF, SCHEMA, rows
from golden.states import SMALL, STEP, entry_named, watermark
from sash import Window
from sash import functions as sf
from sash.engine.row_streams.row_operator import RowOperator
from sash.engine.row_streams.row_scheme import RowScheme
from sash.windows.intervals import Interval

ROW_STATES = Path(__file__).parent / "row_states.zip"
BY_KEY = Window.partitionBy("k").orderBy("ts")
RECENT = BY_KEY.rangeBetween("-30 seconds", 0)
SO_FAR = BY_KEY.rangeBetween(Window.unboundedPreceding, 0)
TWO_SECONDS = Interval(0, 0, 2_000_000)
COLUMNS = {
    "reached": {
        "n": sf.count().over(RECENT),
        "mid": sf.median("f").over(RECENT.closed("left")),
        "kinds": sf.count_distinct("w").over(RECENT),
        "ahead": sf.max("i").over(BY_KEY.rangeBetween("-5 seconds", "5 seconds")),
    },
    "past": {
        "total": sf.sum("d").over(SO_FAR),
        "mean": sf.avg("f").over(SO_FAR),
        "number": sf.row_number().over(BY_KEY),
        "dense": sf.dense_rank().over(BY_KEY),
        "first": sf.first("w").over(SO_FAR),
        "before": sf.lag("i", 2).over(BY_KEY),
        "five": sf.avg("f").over(BY_KEY.rowsBetween(-4, 0)),
    },
    "without a key": {
        "n": sf.count().over(Window.orderBy("ts").rangeBetween("-10 seconds", 0)),
        "total": sf.sum("i").over(Window.orderBy("ts").rangeBetween(Window.unboundedPreceding, 0)),
    },
}
EMITS = ("final", "early")


def kinds():
    """What is asked of rows, by a name that says how."""
    return {
        f"{name} {emit}": RowScheme(SCHEMA, columns, TWO_SECONDS, emit)
        for name, columns in COLUMNS.items()
        for emit in EMITS
    }


job_of = partial(RowJob, limits=SMALL)


def main():
    """Write all."""
    with zipfile.ZipFile(ROW_STATES, "w", zipfile.ZIP_DEFLATED) as file:
        for name, scheme in kinds().items():
            operator = RowOperator(scheme)
            operator.push(rows(0, HALF))
            file.writestr(entry_named(f"snapshot/{name}"), operator.snapshot())
            job = job_of(scheme)
            for start in range(0, HALF, STEP):
                job.batch([rows(start, start + STEP)], watermark(start) if start else None)
            for k, store in enumerate(job.stores):
                for part, body in store.items():
                    file.writestr(entry_named(f"store/{name}/{k}/{part}"), bytes(body))


if __name__ == "__main__":
    main()
