"""What docs/sql.md shows runs, and its tables are those of the code."""

import doctest
import runpy
from pathlib import Path

from sash.algebra.catalogue import FUNCTIONS

DOCS = Path(__file__).parents[2] / "docs"


def test_every_example_runs(spark):
    flags = doctest.ELLIPSIS | doctest.IGNORE_EXCEPTION_DETAIL
    failed, tried = doctest.testfile(str(DOCS / "sql.md"), module_relative=False, optionflags=flags)
    assert tried
    assert not failed


def test_the_reference_is_up_to_date(spark):
    reference = runpy.run_path(str(DOCS / "reference.py"))
    page = (DOCS / "sql.md").read_text()
    assert reference["rebuilt"](spark, page) == page


def test_the_reference_has_an_example_of_every_function():
    reference = runpy.run_path(str(DOCS / "reference.py"))
    assert {each.heading for each in FUNCTIONS.values() if not each.spans} == set(reference["HEADINGS"])
    assert all(each.examples for each in FUNCTIONS.values() if each.in_sql)
