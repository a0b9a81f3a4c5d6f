"""Tasks with more rows than memory: through files, in pieces, or with an error that says what to set."""

import numpy as np
import pyarrow as pa
import pytest

import sash
from sash import SashError, Window
from sash import functions as sf
from sash.engine.spilling import row_files as files
from sash.spark import ranged, worker
from spark import cases

ROWS = 4000
random = np.random.default_rng(13)
DATA = cases.numbered(
    pa.table(
        {
            "k": [f"key {key}" for key in random.integers(0, 40, ROWS)],
            "one": ["just one"] * ROWS,
            "t": [None if t == 0 else int(t) for t in random.integers(0, 900, ROWS)],
            "q": [int(q) for q in random.integers(-99, 99, ROWS)],
            "s": [["a", "bb", None, "ä"][place] for place in random.integers(0, 4, ROWS)],
        }
    )
)
LITTLE = "100 KB"  # 40 keys of 100 rows fit, one of 4000 does not
OF_KEY = Window.partitionBy("k").orderBy("t")
OF_ONE = Window.partitionBy("one").orderBy("t")


@pytest.fixture
def frame(spark):
    with cases.settings(spark, shuffle__partitions=1):
        yield cases.in_tasks(spark, DATA, 2)


def keyed(window):
    return {
        "middle": sf.median("q").over(window.rowsBetween(-20, 0)),
        "running": sf.sum("q").over(window),
        "kinds": sf.count_distinct("s").over(window),
        "list": sf.collect_list("s").over(window.rowsBetween(-1, 1)),
        "rank": sf.rank().over(window),
    }


BOUNDED = {
    "middle": sf.median("q").over(OF_ONE.rowsBetween(-20, 5)),
    "near": sf.sum("q").over(OF_ONE.rangeBetween(-3, 3)),
    "list": sf.collect_list("s").over(OF_ONE.groupsBetween(-1, 0)),
    "last": sf.lag("q", 2).over(OF_ONE),
}


@pytest.fixture
def spilled(monkeypatch):
    """Counts the places for files that are made in this process."""
    made = []

    class Counted(files.Directory):
        def __init__(self):
            made.append(self)
            super().__init__()

    monkeypatch.setattr("sash.engine.spilling.answering.Directory", Counted)
    return made


def test_rows_of_many_keys_go_through_files(frame):
    with sash.options.set(memory=LITTLE):
        cases.check(frame, DATA, keyed(OF_KEY))


def test_one_key_with_bounded_frames_is_evaluated_in_pieces(frame):
    with sash.options.set(memory=LITTLE):
        cases.check(frame, DATA, BOUNDED)


def test_so_are_pieces_of_a_window_without_keys(frame, monkeypatch):
    monkeypatch.setattr(ranged, "ROWS_A_PIECE", ROWS // 3)
    windows = [Window.orderBy("t").rowsBetween(-5, 2), Window.orderBy("t")]
    columns = {f"sum {place}": sf.sum("q").over(window) for place, window in enumerate(windows)}
    with sash.options.set(memory="400 KB"):
        frame.sparkSession.conf.set("spark.sql.shuffle.partitions", 8)
        cases.check(frame, DATA, columns)


@pytest.mark.parametrize("columns", [keyed(OF_KEY), BOUNDED], ids=["keys", "one key"])
def test_files_are_what_the_worker_uses(columns, spilled):
    """The same work in this process, where one can watch it."""
    names = DATA.column_names
    answers = worker.answers_of(columns, worker.types_of(columns, DATA.schema))
    together = (next(iter(columns.values())).window.partition[0].path[0],)
    batches = [tuple(batch.columns) for batch in DATA.to_batches(max_chunksize=300)]
    found = {}
    for memory in (100 << 10, 1 << 30):
        work = worker.evaluation(columns, tuple(columns.values()), names, answers, together, memory)
        found[memory] = pa.chunked_array(list(work(iter(batches)))).combine_chunks()
        assert len(spilled) == 1, "only the first has too little memory"
    assert len(found[100 << 10]) == ROWS
    assert found[100 << 10].equals(found[1 << 30])


def test_one_key_with_frames_without_end_says_what_to_set(frame):
    columns = {"total": sf.sum("q").over(OF_ONE)}
    with sash.options.set(memory=LITTLE):
        out = sash.withColumns(frame, columns)
    words = r"a partition of 4,000 rows \(one = 'just one'\) needs about .* and a worker may use 100.0 kB: set "
    with pytest.raises(SashError, match=words + r"sash.options.memory \(or SASH_MEMORY\), or use a frame bounded"):
        out.collect()


def test_all_rows_in_one_task_say_it_too(frame):
    with sash.options.set(memory=LITTLE), pytest.warns(sash.errors.SashWarning, match="total: median"):
        out = sash.withColumns(frame, {"total": sf.median("q").over(Window.orderBy("t"))})
    with pytest.raises(SashError, match=r"4,000 rows, as there is no partitionBy, needs about .* set sash.options"):
        out.collect()


def test_with_enough_memory_the_same_query_is_answered(frame):
    with sash.options.set(memory="1g"):
        cases.check(frame, DATA, {"total": sf.sum("q").over(OF_ONE)})
