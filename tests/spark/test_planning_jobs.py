"""With sash.options.jobs = False, withColumns runs nothing before an action asks for its answers."""

import uuid

import numpy as np
import pyarrow as pa
import pytest

import sash
from sash import SashError, Window, options
from sash import functions as sf
from sash.errors import SashWarning
from spark import cases

DATA = cases.numbered(pa.table({"k": [1, 1, 2, 2, 2, None], "t": [3, 1, 2, 5, 4, 6], "q": np.arange(6)}))
BY_T = Window.orderBy("t")
LAST = {
    "most": sf.max("q").over(BY_T.rowsBetween(-2, 0)),
    "middle": sf.median("q").over(BY_T.rowsBetween(-3, 0)),
    "of_key": sf.median("q").over(Window.partitionBy("k").orderBy("t")),
}


@pytest.fixture
def jobs_of(spark):
    """How many jobs Spark ran for what a function does."""

    def count(work):
        group = uuid.uuid4().hex
        spark.sparkContext.setJobGroup(group, group)
        try:
            out = work()
            return out, len(spark.sparkContext.statusTracker().getJobIdsForGroup(group))
        finally:
            spark.sparkContext.setLocalProperty("spark.jobGroup.id", None)

    return count


@pytest.mark.filterwarnings("ignore::sash.errors.SashWarning")
def test_nothing_is_read_before_an_action_asks(spark, jobs_of):
    frame = cases.in_tasks(spark, DATA, 2)
    usual, ran = jobs_of(lambda: sash.withColumns(frame, LAST))
    assert ran > 0  # to find where to cut
    with options.set(jobs=False, skew=True):
        out, ran = jobs_of(lambda: sash.withColumns(frame, LAST))
    assert ran == 0
    assert cases.collected(out) == cases.collected(usual)


def test_what_goes_to_one_task_for_it_says_so_and_explain_too(spark):
    frame = cases.in_tasks(spark, DATA, 2)
    with options.set(jobs=False):
        with pytest.warns(SashWarning, match=r"middle: .*by a job alone, which sash.options.jobs = False forbids, so"):
            sash.withColumns(frame, LAST)
        assert "all rows in one task: most, middle" in str(sash.explain(frame, LAST))


def test_running_values_then_stay_with_spark_at_any_size(as_shipped):
    frame = cases.in_tasks(as_shipped, DATA, 2)
    with options.set(jobs=False):
        plan = sash.explain(frame, {"so_far": sf.sum("q").over(BY_T)})
    assert plan.chosen == {"so_far": "spark"}


@pytest.mark.parametrize("given", ["no", None, 0, "auto"])
def test_jobs_is_true_or_false(given):
    with pytest.raises(SashError, match="jobs must be True or False, got"):
        options.jobs = given
    assert options.jobs is True
