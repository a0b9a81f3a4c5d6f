"""What docs/sql.md shows runs, and its tables are those of the code."""

import doctest
import runpy
from pathlib import Path

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


def test_the_reference_has_every_function(spark):
    from sash.sql.vocabulary import FUNCTIONS

    reference = runpy.run_path(str(DOCS / "reference.py"))
    shown = {call.split("(")[0] for calls in reference["FUNCTIONS"].values() for call in calls}
    other_names = {"mean", "std", "variance", "some", "var", "list", "group_concat", "quantile", "arbitrary", "arg_min"}
    other_names |= {"argmin", "countif", "collect", "collect_distinct", "moment_sketch", "moment_quantile"}
    other_names |= {"kll_percentile", "hll_count_distinct", "frequent_items"}
    assert set(FUNCTIONS) - shown - other_names == {"bloom_filter"}
