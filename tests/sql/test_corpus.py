"""Window queries by function, frame and feature, against DuckDB."""

import math
import warnings
from decimal import Decimal

import duckdb
import pytest

import sash
from sash.errors import SashWarning
from sql import corpus

STATEMENTS = list(corpus.statements())


def plain(value):
    """A value as both engines have it: numbers are doubles, and a list of nothing is DuckDB's NULL."""
    if value == []:
        return None
    if isinstance(value, bool) or value is None:
        return value
    if isinstance(value, list):
        return [plain(each) for each in value]
    return float(value) if isinstance(value, int | float | Decimal) else value


def same(mine, theirs):
    if isinstance(mine, float) and isinstance(theirs, float):
        return math.isclose(mine, theirs, rel_tol=1e-9, abs_tol=1e-9) or (math.isnan(mine) and math.isnan(theirs))
    return mine == theirs


@pytest.fixture(scope="module")
def given(spark):
    rows = corpus.table()
    connection = duckdb.connect()
    connection.register("t", rows)
    return connection, spark.createDataFrame(rows).repartition(3)


def check(given, window, calls):
    connection, frame = given
    query = corpus.query(window, calls)
    theirs = connection.sql(query).fetchall()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SashWarning)
        mine = sash.sql(query, t=frame).collect()
    assert [row[0] for row in mine] == [row[0] for row in theirs]
    for place, call in enumerate(calls, 1):
        got, want = ([plain(row[place]) for row in rows] for rows in (mine, theirs))
        wrong = [(u[0], a, b) for u, a, b in zip(mine, got, want, strict=True) if not same(a, b)]
        assert not wrong, f"{call} over ({window}): (row, ours, DuckDB's) {wrong[:3]}"


def test_there_are_more_than_three_hundred():
    assert corpus.number_of_queries() > 300


@pytest.mark.parametrize(("window", "calls"), STATEMENTS[::16], ids=[window or "()" for window, _ in STATEMENTS[::16]])
def test_answers_are_those_of_duckdb(given, window, calls):
    check(given, window, calls)


@pytest.mark.long
@pytest.mark.parametrize("number", [place for place in range(len(STATEMENTS)) if place % 16])
def test_all_answers_are_those_of_duckdb(given, number):
    check(given, *STATEMENTS[number])
