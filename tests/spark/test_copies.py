"""On Spark and in SQL, too, a copy of a built-in under another name answers as the built-in does."""

import pytest

import sash
from copies import copied, copy_of
from every_function import every_call
from sash import Window
from sash.algebra import Aggregate
from sash.sql.named_functions import REGISTERED

pytestmark = pytest.mark.filterwarnings("ignore::sash.errors.SashWarning")
ROWS = [("a", 1, 3.5, "x"), ("a", 2, None, "y"), ("b", 2, 1.5, None), ("a", 3, 3.5, "x"), ("b", 5, -2.0, "z")]


@pytest.mark.parametrize(
    "keys", [pytest.param(["sym"], id="by key", marks=pytest.mark.long), pytest.param([], id="in pieces")]
)
def test_on_spark(spark, keys):
    frame = spark.createDataFrame(ROWS, "sym string, k int, v double, w string")
    window = Window.partitionBy(*keys).orderBy("k").rangeBetween(Window.unboundedPreceding, 0)
    calls = {}
    for column in ("v", "w"):
        for name, call in every_call(column, "k").items():
            try:
                sash.withColumns(frame.limit(0).toArrow(), {"a": call.over(window)})
            except sash.SashError:
                continue  # not of this type
            calls[f"{name} of {column}"] = call
    asked = {str(at): call.over(window) for at, call in enumerate(calls.values())}
    asked |= {f"own {at}": copy_of(call).over(window) for at, call in enumerate(calls.values())}
    answers = sash.withColumns(frame, asked).toArrow()
    for at, name in enumerate(calls):
        assert str(answers[str(at)]) == str(answers[f"own {at}"]), name


def test_in_sql(spark):
    frame = spark.createDataFrame(ROWS, "sym string, k int, v double, w string")
    calls = every_call("w", "k")
    names = [name for name in ("max", "min", "first", "count", "collect_list", "max_by") if name in calls]
    try:
        for name in names:
            assert isinstance(calls[name].aggregate, Aggregate)
            sash.register(copied(calls[name].aggregate))
        listed = ", ".join(f"{prefix}{name}(w{', k' * (name == 'max_by')}) over u as {prefix}{name}"
                           for name in names for prefix in ("", "own_"))  # fmt: skip
        query = f"select {listed} from t window u as (partition by sym order by k rows 1 preceding exclude ties)"
        answers = sash.sql(query, t=frame).toArrow()
    finally:
        for name in names:
            REGISTERED.pop(f"own_{name}", None)
    for name in names:
        assert answers[name].to_pylist() == answers[f"own_{name}"].to_pylist(), name
