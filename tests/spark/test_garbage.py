"""Workers do not look through all that they have after each task, as PySpark has them do."""

import gc

import pyarrow as pa

import sash
from sash import Window
from sash import functions as sf
from sash.spark import garbage
from spark import cases

TABLE = pa.table({"k": [1, 1, 2, 2], "t": [1, 2, 3, 4], "q": [1, 2, 3, 4]})


def test_what_a_worker_has_imported_is_set_apart(spark):
    frame = cases.in_tasks(spark, TABLE, 4)
    sash.withColumns(frame, {"m": sf.median("q").over(Window.partitionBy("k").orderBy("t"))}).collect()

    def looked_at(batches):
        for _ in batches:
            pass
        yield pa.RecordBatch.from_pydict({"apart": [gc.get_freeze_count()]})

    most = max(row.apart for row in frame.mapInArrow(looked_at, "apart long").collect())
    assert most > garbage.MANY


def test_the_process_of_the_driver_is_left_as_it_is():
    before = gc.get_freeze_count()
    garbage.set_apart()
    assert gc.get_freeze_count() == before
