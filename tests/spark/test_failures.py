"""A failure in a worker is one Sash error, whatever the action and wherever Spark runs."""

import traceback
from collections.abc import Iterator

import pyarrow as pa
import pytest
from pyspark.errors import AnalysisException, PythonException
from pyspark.sql.functions import arrow_udf

import sash
from sash.errors import NotCompilable, Overflow, Refused, SashError
from sash.spark import failures

ACTIONS = {
    "collect": lambda frame, folder: frame.collect(),
    "count": lambda frame, folder: frame.where("total > 0").count(),
    "parquet": lambda frame, folder: frame.write.parquet(f"{folder}/out"),
    "noop": lambda frame, folder: frame.write.format("noop").mode("overwrite").save(),
    "toPandas": lambda frame, folder: frame.toPandas(),
    "toArrow": lambda frame, folder: frame.toArrow(),
    "show": lambda frame, folder: frame.show(),
    "head": lambda frame, folder: frame.head(),
    "toLocalIterator": lambda frame, folder: list(frame.toLocalIterator()),
    "foreach": lambda frame, folder: frame.foreach(lambda row: None),
    "localCheckpoint": lambda frame, folder: frame.localCheckpoint(),
    "cache": lambda frame, folder: frame.cache().count(),
    "after a shuffle": lambda frame, folder: frame.groupBy("total").count().orderBy("total").collect(),
}


def failing(spark, error):
    """A frame whose column fails in the worker, as one of ``withColumns`` does."""
    failures.install()

    def fail(batches: Iterator[pa.Array]) -> Iterator[pa.Array]:
        list(batches)
        raise error

    column = arrow_udf(fail, "long").asNondeterministic()
    return spark.range(0, 10, 1, 1).select("id", column("id").alias("total"))


def told(spark, folder, actions):
    """What each action raises: its classes, its text, and whether the trace says more."""
    out = {}
    for name in actions:
        try:
            ACTIONS[name](failing(spark, Overflow("total: the sum does not fit bigint")), folder)
        except Exception as error:
            classes = [each.__name__ for each in type(error).__mro__]
            java = any("org.apache.spark" in line for line in traceback.format_exception(error))
            out[name] = [str(error), "Overflow" in classes, "PythonException" in classes, java]
    return out


def expected(actions):
    return {name: ["total: the sum does not fit bigint", True, True, False] for name in actions}


@pytest.mark.long
def test_every_action_raises_one_sash_error(spark, tmp_path):
    assert told(spark, str(tmp_path), ACTIONS) == expected(ACTIONS)


@pytest.mark.long
def test_every_action_raises_one_sash_error_on_connect(connect, tmp_path):
    actions = ["collect", "count", "parquet", "toPandas", "toArrow", "show"]
    assert connect.run(told, str(tmp_path), actions) == expected(actions)


@pytest.mark.parametrize("kind", [SashError, NotCompilable, Refused, Overflow])
def test_the_class_is_the_one_the_worker_raised(spark, kind):
    with pytest.raises(kind, match=r"^total: no$") as caught:
        failing(spark, kind("total: no")).collect()
    assert isinstance(caught.value, PythonException)
    assert [each for each in (NotCompilable, Refused, Overflow) if isinstance(caught.value, each)] == [
        each for each in (NotCompilable, Refused, Overflow) if each is kind
    ]
    assert caught.value.getCondition() is None
    assert caught.value.__suppress_context__


def test_a_sentence_over_several_lines_arrives_whole(spark):
    with pytest.raises(SashError) as caught:
        failing(spark, SashError("total: the lift is not compilable:\n  line 3: open(x)\nUse a number")).collect()
    assert str(caught.value) == "total: the lift is not compilable:\n  line 3: open(x)\nUse a number"


def test_it_is_recognised_with_tracebacks_hidden_or_in_full(spark):
    for setting, value in (("hideTraceback", "true"), ("simplifiedTraceback", "false")):
        key = f"spark.sql.execution.pyspark.udf.{setting}.enabled"
        spark.conf.set(key, value)
        try:
            with pytest.raises(SashError, match=r"^total: no$"):
                failing(spark, SashError("total: no")).collect()
        finally:
            spark.conf.unset(key)


def test_what_is_not_of_sash_stays_as_it_was(spark):
    with pytest.raises(PythonException, match="ValueError: about sash") as caught:
        failing(spark, ValueError("about sash.errors.SashError: x")).collect()
    assert not isinstance(caught.value, SashError)
    with pytest.raises(AnalysisException):
        spark.range(1).select("nonsense").collect()

    def wrapped(batches: Iterator[pa.Array]) -> Iterator[pa.Array]:
        list(batches)
        try:
            raise SashError("inner")
        except SashError:
            raise KeyError("outer") from None

    column = arrow_udf(wrapped, "long")
    with pytest.raises(PythonException, match="KeyError: 'outer'") as caught:
        spark.range(0, 1, 1, 1).select(column("id")).collect()
    assert not isinstance(caught.value, SashError)


@pytest.mark.parametrize("module", ["sash", "sash.spark"])
def test_workers_without_sash_are_told_what_to_set(spark, module):
    failures.install()

    def lost(batches: Iterator[pa.Array]) -> Iterator[pa.Array]:
        list(batches)
        raise ModuleNotFoundError(f"No module named '{module}'")

    column = arrow_udf(lost, "long")
    with pytest.raises(SashError, match=r"^the Python of the Spark workers cannot import sash: .*PYSPARK_PYTHON"):
        spark.range(0, 1, 1, 1).select(column("id")).collect()


def test_a_module_that_others_miss_is_none_of_our_business(spark):
    def lost(batches: Iterator[pa.Array]) -> Iterator[pa.Array]:
        list(batches)
        raise ModuleNotFoundError("No module named 'numba'")

    column = arrow_udf(lost, "long")
    with pytest.raises(PythonException) as caught:
        spark.range(0, 1, 1, 1).select(column("id")).collect()
    assert not isinstance(caught.value, SashError)


def test_a_worker_that_sash_cannot_import_a_library_in():
    told = (
        "An exception was thrown from the Python worker:\nTraceback (most recent call last):\n"
        '  File "/opt/python/lib/sash/kernels/compiling/numba_backend.py", line 3, in <module>\n    import numba\n'
        "ModuleNotFoundError: No module named 'numba'"
    )
    error = failures.recognised(PythonException(message=told))
    assert str(error).startswith("the Python of the Spark workers cannot import numba: ")


def test_installing_again_changes_nothing(spark):
    from pyspark.errors.exceptions import captured

    failures.install()
    first = captured.convert_exception
    failures.install()
    assert captured.convert_exception is first


def test_a_query_of_sash_that_fails_names_the_column(spark):
    frame = spark.createDataFrame(pa.table({"at": [1, 2], "big": [2**62, 2**62]}))
    total = sash.functions.sum("big").over(sash.Window.orderBy("at"))
    with pytest.raises(Overflow, match=r"^total: "):
        sash.withColumns(frame, {"total": total}).collect()
