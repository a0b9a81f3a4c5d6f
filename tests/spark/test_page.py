"""What docs/spark.md shows runs."""

import doctest
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "spark.md"


def test_every_example_runs(spark):
    failed, tried = doctest.testfile(str(PAGE), module_relative=False, optionflags=doctest.ELLIPSIS)
    assert tried
    assert not failed
