"""Errors are shown with the user's own lines alone, where a notebook or a script shows them."""

import sys

import pyarrow as pa
import pytest

import sash
from sash import Window, errors
from sash import functions as sf
from sash.errors import SashError, short_traceback

TABLE = pa.table({"x": [1, 2]})


def ask(name):
    return sash.withColumns(TABLE, {"m": sf.median(name).over(Window.orderBy("x"))})


def caught():
    with pytest.raises(SashError) as error:
        ask("nope")
    return error.value


def test_a_notebook_shows_the_users_lines_and_the_sentence():
    lines = caught()._render_traceback_()  # what IPython asks for
    assert lines[0] == "Traceback (most recent call last):"
    assert lines[-1] == "sash.errors.SashError: there is no column 'nope'; there are x"
    files = [line for line in lines if line.startswith("  File ")]
    assert len(files) == 2
    assert all(__file__ in line for line in files)
    assert "    return sash.withColumns(" in lines[-2]


def test_what_was_never_raised_has_only_its_sentence():
    assert short_traceback(SashError("no")) == ["sash.errors.SashError: no\n"]


def test_a_script_prints_it_so_and_other_errors_as_ever(monkeypatch, capsys):
    monkeypatch.setattr(sys, "excepthook", sys.__excepthook__)
    errors.show_short()
    error = caught()
    sys.excepthook(type(error), error, error.__traceback__)
    assert capsys.readouterr().err == "".join(short_traceback(error))
    try:
        raise ValueError("theirs")
    except ValueError as other:
        sys.excepthook(type(other), other, other.__traceback__)
    assert capsys.readouterr().err.endswith("ValueError: theirs\n")


def test_a_hook_of_the_users_own_stays(monkeypatch):
    def own(*_):
        return None

    monkeypatch.setattr(sys, "excepthook", own)
    errors.show_short()
    assert sys.excepthook is own
