"""Values at the ends of their types on Spark, by withColumns and by sash.sql: the oracle's answers, or an error."""

import pytest
from pyspark.errors import PythonException

import frames_oracle as oracle
import hostile
import sash
from sash import Window
from sash import functions as sf
from sash.errors import Overflow
from spark import cases

pytestmark = pytest.mark.long
IDS = (("id", False, True),)
WINDOWS = {
    "by key": (
        Window.partitionBy("k").orderBy("id").rowsBetween(-2, 1),
        "partition by k order by id rows between 2 preceding and 1 following",
        oracle.Window(("k",), IDS, "rows", -2, 1),
    ),
    "in pieces": (
        Window.orderBy("id").rowsBetween(-2, 1),
        "order by id rows between 2 preceding and 1 following",
        oracle.Window((), IDS, "rows", -2, 1),
    ),
}


def calls(name):
    """Functions as Sash, SQL and the oracle have them."""
    return {
        "min": (sf.min(name), f"min({name})", oracle.Call("min", (name,))),
        "max": (sf.max(name), f"max({name})", oracle.Call("max", (name,))),
        "kinds": (sf.count_distinct(name), f"count(distinct {name})", oracle.Call("count_distinct", (name,))),
        "mode": (sf.mode(name), f"mode({name})", oracle.Call("mode", (name,))),
        "lag": (sf.lag(name), f"lag({name})", oracle.Call("lag", (name,), (1, None))),
        "list": (sf.collect_list(name), f"collect_list({name})", oracle.Call("collect_list", (name,))),
        "rank": (
            sf.rank().order_by(f"{name} desc"),
            f"rank(order by {name} desc)",
            oracle.Call("rank", order=((name, True, False),)),
        ),
    }


@pytest.mark.parametrize("by", ["withColumns", "sql"])
@pytest.mark.parametrize("window", WINDOWS)
def test_what_compares_and_carries(spark, window, by):
    """Survived infinities, NaN, years 1 and 9999, 38 digits, texts with NUL and of a megabyte, in tasks."""
    over, words, plain = WINDOWS[window]
    frame = cases.in_tasks(spark, hostile.TABLE, 2, shuffled=True)
    asked = {(name, what): each for name in hostile.VALUES for what, each in calls(name).items()}
    if by == "sql":
        listed = ", ".join(f"{text} over w as `{name} {what}`" for (name, what), (_, text, _) in asked.items())
        out = sash.sql(f"select id, {listed} from t window w as ({words})", spark=spark, t=frame)
    else:
        out = sash.withColumns(
            frame, {f"{name} {what}": call.over(over) for (name, what), (call, _, _) in asked.items()}
        )
    got = cases.collected(out)
    order = sorted(range(hostile.ROWS), key=lambda place: hostile.TABLE["id"][place].as_py())
    rows = hostile.rows()
    wrong = []
    for (name, what), (_, _, call) in asked.items():
        expected = oracle.answers(rows, plain, call)
        if not all(map(hostile.same, got[f"{name} {what}"].to_pylist(), [expected[place] for place in order])):
            wrong.append(f"{what} of {name}")
    assert not wrong


@pytest.mark.parametrize("name", ["long", "decimal", "small"])
@pytest.mark.parametrize("by", ["withColumns", "sql"])
def test_sums_that_do_not_fit_are_an_error(spark, name, by):
    """Survived sums beyond 64 bits and 38 digits: an error of one sentence, never another number."""
    frame = spark.createDataFrame(hostile.TABLE.select(["id", "k", name]))
    if by == "sql":
        out = sash.sql(f"select sum({name}) over (partition by k order by id) s from t", spark=spark, t=frame)
    else:
        out = sash.withColumns(frame, {"s": sf.sum(name).over(Window.partitionBy("k").orderBy("id"))})
    with pytest.raises(Overflow, match="does not fit") as caught:
        out.collect()
    assert isinstance(caught.value, PythonException)
    assert len(str(caught.value).splitlines()) == 1
