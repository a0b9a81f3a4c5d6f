"""Aggregates of users that raise, or give what they must not: one sentence that names them."""

import pyarrow as pa
import pytest

import sash
import wrong_aggregates as wrong
from sash import SashError, Window

ROWS = pa.table({"t": [1, 2, 3, 4], "x": [1.0, 2.0, -1.0, 4.0], "s": ["a", "b", "c", "d"], "n": [1, 2, 0, 4]})
WINDOWS = [
    Window.orderBy("t").rowsBetween(-1, 0),
    Window.orderBy("t").rowsBetween(-sash.col("n"), 1),
    Window.orderBy("t").rowsBetween(2, 3),
]


def refused(call, message, windows=WINDOWS):
    for window in windows:
        with pytest.raises(SashError, match=message) as caught:
            sash.withColumns(ROWS, {"c": call.over(window)})
        assert len(str(caught.value).splitlines()) == 1
        assert len(str(caught.value)) < 400


@pytest.mark.long
@pytest.mark.parametrize("what", wrong.COMPILED)
def test_what_is_compiled_is_refused_with_a_sentence(what):
    """Survived functions that raise or return the wrong type, over three kinds of frames; the next query answers."""
    aggregate, message = wrong.COMPILED[what]
    refused(aggregate("x"), message)
    fine = sash.withColumns(ROWS, {"c": sash.functions.sum("x").over(WINDOWS[0])})
    assert fine["c"].to_pylist() == [1.0, 3.0, 1.0, 3.0]


@pytest.mark.parametrize("what", wrong.PLAIN)
def test_so_is_what_runs_as_plain_python(what):
    """Survived answers that Arrow has no one type for."""
    aggregate, message = wrong.PLAIN[what]
    refused(aggregate.but(compiled=False)("x"), message, WINDOWS[:1])


def test_what_plain_python_raises_is_the_users_own():
    """Survived an exception in plain Python, which comes as it is, with the line that raised it."""
    for window in WINDOWS:
        with pytest.raises(ValueError, match="no negatives") as caught:
            sash.withColumns(ROWS, {"c": wrong.total("boom", lift=wrong.picky, compiled=False)("x").over(window)})
        assert caught.traceback[-1].name == "picky"


def test_a_row_that_there_is_not():
    """Survived a position beyond all rows, which would wrap round to one of 32 bits."""
    said = "beyond: lower must give the position of a row, below 4, or -1, got "
    for aggregate in (wrong.ROW, wrong.ROW.but(compiled=False)):
        refused(aggregate("s"), f"{said}85899345")
    refused(aggregate.but(lower=lambda s: s - 2**33)("s"), f"{said}-85899345")
    refused(aggregate.but(lower=lambda s: s - 5)("s"), f"{said}-")
    refused(aggregate.but(lower=lambda s: s + 0.5)("s"), said)


@pytest.mark.long
@pytest.mark.parametrize("what", [*wrong.COMPILED, *wrong.PLAIN])
def test_check_reports_and_never_raises(what):
    """Survived each of them in ``sash.check``, whose report is never an exception."""
    aggregate, _ = (wrong.COMPILED | wrong.PLAIN)[what]
    report = sash.check(aggregate, [1.0, 2.0, -1.0])
    assert str(report).startswith(aggregate.name)
