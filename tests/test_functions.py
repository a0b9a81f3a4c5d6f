"""Every function is declared once: what Python, SQL and editors know of it follows from that."""

import inspect
import sys
from datetime import datetime
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pytest

import sash
from sash import Window
from sash import functions as sf
from sash.algebra.catalogue import FUNCTIONS, builtin
from sash.algebra.catalogue import declaring as d
from sash.algebra.catalogue.describing import nulls
from sash.errors import SashError
from sash.sql.continuous import aggregate_of
from sash.sql.named_functions import NAMES, OF_SPANS
from sash.version import VERSION

sys.path.insert(0, str(Path(__file__).parents[1] / "docs"))
import stub

IN_PYTHON = [each for each in FUNCTIONS.values() if each.in_python]


def test_the_stub_says_what_the_functions_take():
    assert stub.STUB.read_text() == stub.stub(), "run python docs/stub.py"


@pytest.mark.parametrize("declared", IN_PYTHON, ids=lambda each: each.name)
def test_each_function_has_a_sentence_an_example_and_the_signature_declared(declared):
    function = getattr(sf, declared.name)
    assert function.__doc__.splitlines()[0].endswith(".")
    assert not declared.in_sql or declared.examples[0] in function.__doc__
    assert list(inspect.signature(function).parameters) == [each.name for each in declared.parameters]


@pytest.mark.parametrize("declared", FUNCTIONS.values(), ids=lambda each: each.name)
def test_each_function_is_known_to_sql_if_it_says_so(declared):
    names = OF_SPANS if declared.spans else NAMES
    assert (declared.name in names) == declared.in_sql
    assert all(names[each.name].function is declared for each in declared.synonyms)


@pytest.mark.parametrize("asked", [lambda: sf.first_n("x"), lambda: sf.max(), lambda: sf.max("x", nonsense=1)])
def test_what_python_refuses_names_the_function(asked):
    with pytest.raises(TypeError, match=r"^(first_n|max)\(\) "):
        asked()


def test_a_name_of_pyspark_leads_to_ours():
    with pytest.raises(AttributeError, match=r"no countDistinct; use count_distinct$"):
        _ = sf.countDistinct
    with pytest.raises(AttributeError, match=r"use percentile_disc, which is exact$"):
        _ = sf.percentile_approx


@pytest.mark.parametrize(("name", "other"), [("medain", "median"), ("histogramm", "histogram"), ("fist", "first")])
def test_a_misspelt_name_leads_to_the_right_one(name, other):
    with pytest.raises(AttributeError, match=f"no {name}; did you mean {other}"):
        getattr(sf, name)


def test_sf_completes_functions_alone():
    assert {each.name for each in IN_PYTHON} < set(dir(sf))
    assert all(inspect.isfunction(getattr(sf, name)) for name in dir(sf))
    assert not {"Call", "annotations", "inspect", "FUNCTIONS"} & set(dir(sf))


@pytest.mark.parametrize("declared", IN_PYTHON, ids=lambda each: each.name)
def test_help_shows_the_arguments_and_a_call_that_can_be_made(declared):
    said = getattr(sf, declared.name).__doc__
    assert all(f"{each.name}: " in said for each in declared.parameters)
    shown = said.partition("In Python: ``")[2].partition("``")[0]
    names = {"sf": sf, "window": sash.Window.orderBy("t")}
    assert eval(shown, names).__class__.__name__ == ("Call" if declared.spans else "Over")


def test_the_version_is_that_of_the_package():
    assert sash.__version__ == VERSION
    assert "__version__" in dir(sash)
    with pytest.raises(AttributeError, match="did you mean withColumns"):
        _ = sash.withColumn


def test_plans_and_boards_show_themselves_in_a_notebook():
    plan = sash.explain(ROWS, {"a": sf.max("k").filter("k < 3").over(WINDOW)})
    assert plan._repr_html_() == f"<pre>{str(plan).replace('<', '&lt;').replace('>', '&gt;')}</pre>"
    assert "max(k) filter (where k &lt; 3)" in plan._repr_html_()
    board = sash.stream(ROWS).query("peak", sf.max("k"), range=2)
    assert repr(board) == "<board of 1 query>\n  peak = max(k), range 2 rows, slide 2 rows"
    assert "peak = max(k)" in board._repr_html_()
    assert "<pre>windows by count" in board.explain()._repr_html_()  # behind a drawing


def test_a_misspelt_function_of_a_pipeline_leads_to_the_right_one():
    with pytest.raises(sash.SashError, match="there is no aggregate medain; did you mean median"):
        aggregate_of("medain(x)")


ROWS = pa.table({"k": [1, 2, 3], "w": ["b", None, "a"]})
WINDOW = sash.Window.orderBy("k").rowsBetween(-1, 0)


def mine(**traits):
    """An aggregate of a user's own that takes the larger of two values."""
    return sash.Aggregate("mine", lift=lambda x: x, combine=lambda a, b: b if b > a else a, **traits)


def test_an_aggregate_that_only_compares_takes_any_type_that_has_an_order():
    largest = mine(takes="order", gives_input=True, commutative=True, selective=True, exact=True, few=("largest", 1))
    answers = sash.withColumns(ROWS, {"m": largest("w").over(WINDOW), "max": sf.max("w").over(WINDOW)})
    assert answers["m"].to_pylist() == answers["max"].to_pylist() == ["b", "b", "a"]


def test_one_that_does_not_say_so_is_told_how():
    with pytest.raises(sash.SashError, match='takes columns of numbers, got string; takes="order"'):
        sash.withColumns(ROWS, {"m": mine()("w").over(WINDOW)})


@pytest.mark.parametrize(
    ("traits", "said"),
    [
        ({"takes": "anything"}, "takes must be one of numbers, order"),
        ({"few": ("most", 1)}, "few must be such as"),
        ({"few": ("largest", 0)}, "few must be such as"),
        ({"by_place": True}, 'by_place needs returns="rows"'),
        ({"unique": True}, "unique needs by_place=True"),
        ({"takes": "texts"}, 'takes="texts" needs by_place=True'),
        ({"takes": "values"}, 'takes="values" needs compiled=False'),
        ({"prorated": "sum"}, "prorated must be a sash.Aggregate"),
        ({"for_type": lambda: None}, "for_type must take 1 parameters"),
    ],
)
def test_traits_are_checked_when_the_aggregate_is_made(traits, said):
    with pytest.raises(sash.SashError, match=said):
        mine(**traits)("x")


def test_a_column_of_shares_leaves_the_frequency_what_it_is():
    assert str(sf.percentile("x", "p")) == "percentile(x, p)"
    assert str(sf.percentile("x", "p", "n")) == "percentile(x, n, p)"
    assert str(sf.percentile("x", 0.5, 2)) == "percentile(x, 2, 0.5)"


def test_what_finishes_lists_is_asked_of_them_by_place_too():
    lengths = sash.Aggregate("lengths", lift=lambda row: (row, row + 1), combine=lambda a, b: (a[0], b[1]), rows=True,
                             returns="rows", by_place=True, finish=pc.list_value_length)  # fmt: skip
    answers = sash.withColumns(ROWS, {"n": lengths("k").over(WINDOW)})
    assert answers["n"].to_pylist() == [1, 2, 2]


def test_constants_of_sql_may_have_a_fraction(spark):
    query = "select moment_quantile(k, 0.5) over (order by k) as m from t"
    assert sash.sql(query, t=spark.createDataFrame([(1,)], "k int")).collect()[0].m == 1


EVERYTHING = Window.orderBy("t").rowsBetween(Window.unboundedPreceding, Window.unboundedFollowing)
VALUES = (  # of one column, of a type that a function takes
    (pa.int64(), [10, 20, 30, 40]),
    (pa.bool_(), [False, True, True, False]),
    (pa.string(), ["a", "b", "c", "d"]),
    (pa.timestamp("us"), [datetime(2026, 1, day) for day in (1, 2, 4, 8)]),
)
WITH_COLUMNS = [each for each in IN_PYTHON if not each.spans and (each.takes(d.COLUMN) or each.takes(d.CONDITION))]


def answered(declared, dtype, xs, ys):
    """What a function answers of all rows, its columns being x, y and t."""
    table = pa.table({"t": range(len(xs)), "x": pa.array(xs, dtype), "y": pa.array(ys, pa.float64())})
    names, arguments = iter("xyt"), {}
    for each in declared.parameters:
        if each.takes in (d.COLUMN, d.CONDITION):
            arguments[each.name] = next(names)
        elif each.takes != d.COLUMNS and each.default is d.REQUIRED:
            arguments[each.name] = sf.count() if each.takes == d.CALL else each.example
    call = getattr(sf, declared.name)(**arguments)
    return sash.withColumns(table, {"r": call.over(EVERYTHING)})["r"].to_pylist()


def around(values, other=None):
    """Values with others before, among and behind them."""
    return [other, values[0], other, *values[1:], other]


@pytest.mark.parametrize("declared", WITH_COLUMNS, ids=lambda each: each.name)
def test_what_is_said_of_nulls_is_true(declared):
    said = nulls(declared, builtin(declared.base or declared.name, *declared.examples_of_constants))
    if not said:
        return
    ys = [3.0, 1.0, 2.0, 5.0]
    for dtype, xs in VALUES:
        try:
            plain = answered(declared, dtype, xs, ys)
        except SashError:
            continue  # it takes another type
        columns = [around(xs), around(ys, 9.0)] if "``ord``" not in said else [around(xs, xs[1]), around(ys)]
        more = answered(declared, dtype, *columns)
        more = [more[place] for place in (1, 3, 4, 5)]  # of the rows that were there before
        if said.startswith("NULLs are values"):
            assert more != plain
        else:
            assert str(more) == str(plain)  # NaN is NaN
        if "the answer is" in said:
            empty = {"NULL": None, "0": 0, "an empty list": [], "an empty map": [], "a list of zeros": [0, 0]}[
                said.partition("the answer is ")[2].rstrip(".")
            ]
            assert answered(declared, dtype, [None], [None]) == [empty]
        return
    raise AssertionError(f"{declared.name} takes none of the types")
