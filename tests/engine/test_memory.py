"""What a query made is let go when it is answered, and memory that there is not is told of."""

import gc
import weakref

import numpy as np
import pyarrow as pa
import pytest

import sash
from sash import Window
from sash import functions as sf
from sash.engine import evaluating
from sash.engine.memory_need import within_memory
from sash.errors import SashError

ASKED = [sf.median("v"), sf.rank().order_by("v").filter("v > 1"), sf.lead("v").order_by("v"), sf.mode("v"),
         sf.collect_set("v"), sf.sum("v").distinct(), sf.rank(sash.col("v")).order_by("v")]  # fmt: skip


@pytest.mark.parametrize("ask", ASKED, ids=str)
def test_nothing_is_left_of_a_query(ask, monkeypatch):
    made = []

    class Watched(evaluating.SortedPartitions):
        def __init__(self, *given):
            super().__init__(*given)
            made.append(weakref.ref(self))

    monkeypatch.setattr(evaluating, "SortedPartitions", Watched)
    table = pa.table({"t": [1, 2, 3], "v": [2, None, 5]})
    gc.collect()
    gc.disable()
    try:
        for window in (Window.orderBy("t"), Window.orderBy("t").rowsBetween(-sash.col("t"), 1)):
            asked = {"a": ask.over(window)}
            sash.withColumns(table, asked)
            sash.explain(table, asked)
        assert made
        assert not any(alive() for alive in made)
    finally:
        gc.enable()


@pytest.mark.parametrize("size", [1 << 60, 1 << 62], ids=["numpy", "arrow"])
def test_memory_that_the_system_does_not_give_is_said(size):
    """Both libraries have an error of their own."""
    said = r"^the rows of a task did not fit the memory of a worker, which was taken to have 2\.0 GB: set sash\.options"
    with pytest.raises(SashError, match=said), within_memory(2 << 30, "the rows of a task"):
        np.empty(size, np.uint8) if size == 1 << 60 else pa.allocate_buffer(size)
