"""Connectors describe themselves: what a file may say, the errors, the schema and the docs follow from the objects."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from pipeline_files import sink, source
from sash.errors import SashError
from sash.pipelines import connectors, load, schema
from sash.pipelines.model import Sink, Source

HOME = Path(__file__).parents[2]
RECIPE = HOME / "docs" / "extending.md"
KNOWN = [(name, each) for each in connectors.CONNECTORS for name in each.names if not each.in_catalogue]
SOURCE, SINK = source("t", path="in"), sink(format="noop")


def place(name, connector, without=None):
    """Lines of a place of a format, with all that it needs but one thing."""
    options = {need: connector.url or "x" for need in connector.needs if need != without}
    path = 'path = "p"\n' if connector.needs_path and without != "path" else ""
    return f'format = "{name}"\n{path}' + "".join(f'options."{need}" = "{each}"\n' for need, each in options.items())


def loaded(folder, text):
    (folder / "p.toml").write_text(text)
    return load(folder / "p.toml")


@pytest.mark.parametrize(("name", "connector"), KNOWN, ids=[name for name, _ in KNOWN])
def test_a_format_is_what_its_connector_says(tmp_path, name, connector):
    as_source, as_sink = f"[sources.t]\n{place(name, connector)}{SINK}", f"{SOURCE}[[sinks]]\n{place(name, connector)}"
    for text, is_right, told in (
        (as_source, connector.is_source, f"{name} is a sink, not a source"),
        (as_sink, connector.is_sink, f"{name} is a source, not a sink"),
    ):
        if is_right:
            assert loaded(tmp_path, text)
        else:
            with pytest.raises(SashError, match=rf"p\.toml, line \d+: {told}$"):
                loaded(tmp_path, text)


@pytest.mark.parametrize(
    ("name", "connector", "need"),
    [(name, each, need) for name, each in KNOWN for need in (*each.needs, *["path"] * each.needs_path)],
)
def test_what_a_connector_needs_is_asked_for(tmp_path, name, connector, need):
    head = "[sources.t]\n" if connector.is_source else f"{SOURCE}[[sinks]]\n"
    with pytest.raises(SashError, match=rf"p\.toml, line \d+: {name} needs (a path|options\.\"?{re.escape(need)}\"?)$"):
        loaded(tmp_path, head + place(name, connector, without=need) + (SINK if connector.is_source else ""))


@pytest.mark.parametrize(
    ("given", "same_as"),
    [
        ({"path": "out"}, {"format": "parquet", "path": "out"}),
        ({"path": "out.csv.gz"}, {"format": "csv", "path": "out"}),
        ({"path": "out.jsonl"}, {"format": "json", "path": "out"}),
        ({"format": "delta", "path": "out.csv"}, {"format": "delta", "path": "out"}),
    ],
)
def test_places_of_one_kind_have_one_connector(given, same_as):
    assert connectors.of(Sink(**given)) is connectors.of(Sink(**same_as))
    assert connectors.of(Source(**given)) is connectors.of(Source(**same_as))


def test_a_table_is_of_the_catalogue_unless_the_format_has_its_own():
    jdbc = {"format": "jdbc", "table": "t"}
    postgres = connectors.of(Sink(**jdbc, options={"url": "jdbc:postgresql://db/x"}))
    other = connectors.of(Sink(**jdbc, options={"url": "jdbc:mysql://db/x"}))
    assert not postgres.in_catalogue
    assert not other.in_catalogue
    assert postgres is not other
    assert connectors.of(Sink(table="t")) is connectors.TABLES
    assert connectors.of(Sink(table="t", format="hudi")) is connectors.TABLES
    lake = connectors.of(Sink(table="t", format="delta"))
    assert lake.in_catalogue
    assert lake.replaces


def test_a_format_that_nothing_here_knows_is_left_to_spark():
    unknown = connectors.of(Sink(format="hudi", path="out"))
    assert type(unknown) is connectors.Connector
    assert unknown.names == ()


@pytest.mark.parametrize(("part", "is_there"), [("Source", "is_source"), ("Sink", "is_sink")])
def test_the_schema_names_the_formats(part, is_there):
    told = schema()["$defs"][part]["properties"]["format"]["description"].removesuffix(", …").split(", ")
    assert told == sorted({name for name, each in KNOWN if getattr(each, is_there)})


def test_a_further_connector_is_one_source_file_and_one_test_file(tmp_path):
    """The recipe in the docs, followed to the letter in a copy of Sash."""
    section = RECIPE.read_text().split("\n## A pipeline sink\n")[1].split("\n## ")[0]
    source, test = re.findall(r"^```\n(.*?)^```", section, re.MULTILINE | re.DOTALL)
    unwanted = shutil.ignore_patterns("__pycache__")
    shutil.copytree(HOME / "src", tmp_path / "src", ignore=unwanted)
    shutil.copytree(HOME / "tests", tmp_path / "tests", ignore=unwanted)
    shutil.copy(HOME / "pyproject.toml", tmp_path)
    (tmp_path / "src/sash/pipelines/connectors/http.py").write_text(source)
    (tmp_path / "tests/pipelines/test_http.py").write_text(test)
    tests = ["tests/pipelines/test_http.py", "tests/pipelines/test_connectors.py", "-k", "http or schema"]
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *tests]
    environment = {**os.environ, "PYTHONPATH": str(tmp_path / "src")}
    run = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert run.returncode == 0, run.stdout + run.stderr
    assert "7 passed" in run.stdout, run.stdout
