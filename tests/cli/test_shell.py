"""The shell: what it reads, and what it shows."""

import builtins
import io

import pyarrow as pa
import pyarrow.parquet
import pytest
from rich.console import Console

from sash.cli import output
from sash.cli.shell import Shell, _complete, _rows, answered
from sash.cli.starting import _named
from sash.errors import SashError


@pytest.fixture
def printed(monkeypatch):
    written = io.StringIO()
    monkeypatch.setattr(output, "console", Console(file=written, width=200, highlight=False))
    return written


@pytest.fixture
def shell(spark, printed, tmp_path, monkeypatch):
    monkeypatch.setenv("SASH_CACHE_DIR", str(tmp_path / "cache"))
    pa.parquet.write_table(pa.table({"k": ["a", "a", "b"], "x": [1, None, 3]}), tmp_path / "t.parquet")
    monkeypatch.chdir(tmp_path)
    return Shell(spark, limit=2)


@pytest.mark.parametrize(
    ("text", "whole"),
    [
        ("select 1;", True),
        ("select ';'", False),
        ("select 1 -- ;", False),
        ("select 1; -- done", True),
        ("", True),
        ("\\d", True),
        ("\\explain select 1", False),
        ("\\explain select 1;", True),
        ("quit", True),
        ("select 'a;", False),  # the text may go on
        ("select (1;", True),  # it can only be an error
    ],
)
def test_a_statement_ends_with_a_semicolon(text, whole):
    assert _complete(text) is whole


def test_answers_are_tables(shell, printed, tmp_path):
    shell.obey(f"select k, median(x) over (order by k) as m from '{tmp_path}/t.parquet';")
    lines = printed.getvalue().splitlines()
    assert [line.split() for line in lines[:4:2]] == [["k", "m"], ["a", "1.0"]]
    assert "2 rows, and there are more" in lines[4]


def test_commands(shell, printed, tmp_path):
    shell.obey("\\?")
    shell.obey(f"\\d '{tmp_path}/t.parquet'")
    shell.obey("\\f perc")
    shell.obey("\\l 10")
    shell.obey(f"\\explain select median(x) over (order by x) from '{tmp_path}/t.parquet';")
    said = printed.getvalue()
    assert "x  bigint" in said
    assert "percent_rank, percentile, percentile_cont, percentile_disc" in said
    assert "median(x) over (order by x) = median(x)" in said
    assert shell.limit == 10
    with pytest.raises(SashError, match=r"there is no command \\x"):
        shell.obey("\\x")
    with pytest.raises(SashError, match="takes a whole number above zero"):
        shell.obey("\\l many")


def test_words_are_completed(shell, spark):
    spark.range(1).createOrReplaceTempView("trades_of_today")
    assert "trades_of_today" in shell.completions("trad")
    assert "percentile_disc" in shell.completions("PERCENTILE")
    spark.catalog.dropTempView("trades_of_today")


ODD = ["a`b", "`", "a.b", 'say "x"', "it's", "[red]c", "a b", "A`B", "select"]


def test_names_of_columns_may_hold_anything(shell, printed, spark):
    """Columns that Arrow has no type for are asked for as texts, by their places."""
    odd = spark.sql(f"select {', '.join(['make_interval(0)'] * len(ODD))}").toDF(*ODD)
    rows = _rows(odd.union(odd))
    assert rows.column_names == ODD
    assert rows.slice(0, 1).to_pylist()[0]["a`b"] == "0 seconds"
    twice = spark.sql("select make_interval(1) as x, make_interval(2) as x")
    assert [column[0].as_py() for column in _rows(twice).columns] == ["1 years", "2 years"]
    odd.createOrReplaceTempView("`odd ``one```")
    try:
        shell.obey("select * from `odd ``one```;")
        shell.obey("\\d odd `one`")
        shell.obey("\\d `odd ``one```")
        rows = "(select 1 as `a``b`, 2 as `a b`, 3 as `a.b`)"
        shell.obey(f"select `a``b`, median(`a.b`) over (partition by `a b`, `a.b`) as `n``` from {rows};")
        assert shell.completions("odd") == ["`odd ``one```"]
        assert {"`a b`", "`a.b`", "`a``b`", "`A``B`"} <= set(shell.completions("a"))
        assert "`a.b`" in shell.completions("`a")
        assert "select" in shell.completions("sele")
    finally:
        spark.catalog.dropTempView("odd `one`")
    said = printed.getvalue()
    for name in ODD:
        assert said.count(name) >= 3, name
    assert "n`" in said


def test_a_conversation_outlives_mistakes(shell, printed, monkeypatch):
    asked = iter(["select", " nope;", "\\nope", "select 1 as", "one;", "\\q"])
    monkeypatch.setattr(builtins, "input", lambda prompt: next(asked))
    shell.talk()
    said = printed.getvalue()
    assert "nope" in said
    assert "there is no command \\nope" in said
    assert "one" in said


def test_a_file_of_statements(shell, printed):
    for each in shell.statements("select 1 as one; -- and\n select ';' as two;"):
        answered(shell, each, False)
    assert "one" in printed.getvalue()
    assert "two" in printed.getvalue()


def test_tables_are_named():
    assert _named("t=a/b=c.parquet") == ("t", "a/b=c.parquet")
    with pytest.raises(SashError, match="--table takes a name and a file"):
        _named("a/b.parquet")


@pytest.mark.parametrize(
    ("query", "sentence", "line", "under"),
    [
        ("select k,\n  medan(x) over (order by k)\nfrom 't.parquet'", "there is no function medan", 2, "medan"),
        ("select k from 't.parquet' where median(x) over () > 1 and", "", 1, None),
        ("select 1,\n  selec 2", "Syntax error", 2, "2"),
        ("select nope, median(x) over (order by k) from 't.parquet'", "`nope` cannot be resolved", 1, "nope"),
        ("select median(x) over (order by k)\nfrom 't.parquet'\njoin 't.parquet' u\non nope", "`nope`", 4, "nope"),
        ("select nope from values (1) t(a)", "`nope` cannot be resolved", 1, "nope"),
        ("select 1 / 0", "Division by zero", 1, "1 / 0"),
    ],
)
def test_errors_show_the_line_that_was_typed(shell, tmp_path, query, sentence, line, under):
    query = query.replace("t.parquet", str(tmp_path / "t.parquet"))  # Spark looks where its Java was started
    with pytest.raises(SashError) as error:
        shell.obey(query)
    told = str(error.value)
    assert sentence in told
    typed = query.splitlines()[line - 1]
    assert f"\nline {line}:\n  {typed}\n" in told
    if under is not None:
        caret = told.splitlines()[-1].index("^") - 2
        assert typed[caret:].startswith(under)
