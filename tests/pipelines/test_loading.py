"""Pipeline files: what is read, and what is said of files that are wrong, with the line."""

import json
import subprocess
import sys
import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sash.errors import SashError
from sash.pipelines import load, schema
from sash.pipelines.places import places

WHOLE = """\
[variables]
day = "2013-01-01"

[sources.flights]
path = "data/flights"

[[steps]]
name = "late_ones"
sql = \"\"\"
select * from flights
where at >= '${day}'\"\"\"

[[steps]]
name = "boards"
from = "late_ones"
kind = "stream"
time = "at"
key = "carrier"
[[steps.queries]]
range = "1 day"
columns.n = "count(*)"

[[sinks]]
path = "out/${mode}"
"""


@pytest.fixture
def loading(tmp_path):
    def loading(text, values=None, stream=None):
        file = tmp_path / "p.toml"
        file.write_text(text)
        return load(file, values, stream)

    return loading


def test_a_pipeline_is_read_with_its_variables(loading):
    loaded = loading(WHOLE, {"day": "2020-02-02"}, stream=True)
    assert "'2020-02-02'" in loaded.pipeline.steps[0].sql
    assert loaded.pipeline.sinks[0].path == "out/stream"
    assert loaded.pipeline.steps[1].key == ["carrier"]
    assert loaded.taken(loaded.pipeline.sinks[0]) == "boards"


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ('range = "1 day"', "rang = 1", ["line 19: steps.queries.range is missing", "line 20: steps.queries.rang"]),
        ('range = "1 day"', "range = 1.5", ['line 20: steps.queries.range must be an interval such as "15 minutes"']),
        ('range = "1 day"', "range = true", ["line 20: steps.queries.range must be an interval"]),
        ('time = "at"', 'span = ["at"]', ["steps.span"]),
        ('kind = "stream"', 'kind = "streams"', ['line 13: a step has sql, or a kind: "windows", "features"']),
        ('kind = "stream"', "", ["line 13: a step has sql, or a kind"]),
        ('from = "late_ones"', 'from = "lateones"', ["line 15: there is no lateones here; there are flights"]),
        ('name = "boards"', 'name = "Flights"', ["line 14: the name Flights is taken"]),
        ('name = "boards"', 'name = "my boards"', ["line 14: steps.name must be a word"]),
        ('path = "data/flights"', 'format = "csv"', ["line 4: csv needs a path"]),
        ('path = "data/flights"', 'format = "jdbc"', ["line 4: jdbc needs options.url"]),
        ('path = "data/flights"', 'format = "kafka"', ["line 4: kafka needs options"]),
        ('path = "data/flights"', "", ["line 4: give a path, a table or a format"]),
        ('path = "out/${mode}"', 'path = "${NOWHERE_TO_BE}"', ["line 24: ${NOWHERE_TO_BE} has no value: set it"]),
        ('path = "out/${mode}"', 'path = "a"\ntable = "b"', ["line 23: path and table are two places"]),
        ('path = "out/${mode}"', 'path = "a"\nmode = "replace"', ["line 25: sinks.mode"]),
        ('path = "out/${mode}"', 'path = "a"\n[[sinks]]\npath = "b"', ["line 25: two sinks are called boards"]),
        ('path = "out/${mode}"', 'from = "late_ones"\nlate = true\npath = "a"', ["line 25: late is for steps"]),
        ('time = "at"', "time = ", ["line 17: invalid value"]),
        ('from = "late_ones"', 'from = "Late_Ones"', ["line 15: there is no Late_Ones here"]),
        ("[variables]", 'mode = "${how}"\n[variables]', ["line 1: mode must be batch or stream, got a variable"]),
        ("[[sinks]]", "[[sinks]", ["line 23: "]),
        (WHOLE, "", ["sources is missing", "sinks is missing"]),
        (WHOLE, "a = 1\nsinks = []\n[sources]\n", ["line 1: a is not known here", "line 2: sinks must not be empty",
                                                   "line 3: sources must not be empty"]),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said_with_its_line(loading, old, new, told):
    assert old in WHOLE
    with pytest.raises(SashError) as caught:
        loading(WHOLE.replace(old, new))
    for each in told:
        assert each in str(caught.value)


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(SashError, match=r"gone\.toml cannot be read: No such file"):
        load(tmp_path / "gone.toml")
    (tmp_path / "bytes.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(SashError, match="it is no UTF-8"):
        load(tmp_path / "bytes.toml")


def test_what_comes_from_the_environment_is_never_shown(loading, monkeypatch):
    monkeypatch.setenv("MY_SECRET", "swordfish")
    text = WHOLE.replace('from = "late_ones"', 'from = "${MY_SECRET}"')
    with pytest.raises(SashError) as caught:
        loading(text)
    assert "swordfish" not in str(caught.value)
    assert "there is no ${MY_SECRET} here" in str(caught.value)


def test_no_line_of_a_secret_is_shown(loading, monkeypatch):
    monkeypatch.setenv("MY_SECRET", "swordfish\nherring\n")
    loaded = loading(WHOLE.replace('"data/flights"', '"${MY_SECRET}"'))
    assert str(loaded.error("no swordfish, no herring")) == "p.toml: no ${MY_SECRET}, no ${MY_SECRET}"


def test_secrets_of_three_letters_are_parts_of_words(loading, monkeypatch):
    text = WHOLE.replace('"data/flights"', '"${MY_SECRET}"')
    for secret, told in (("cat", "a cat catches"), ("cats", "a cat catches, ${MY_SECRET} catch")):
        monkeypatch.setenv("MY_SECRET", secret)
        assert told in str(loading(text).error("a cat catches, cats catch"))


def test_variables_may_be_of_the_environment(loading, monkeypatch):
    monkeypatch.setenv("HERE_IT_IS", "here")
    text = WHOLE.replace('day = "2013-01-01"', 'day = "2013-01-01"\nplace = "${HERE_IT_IS}/x"')
    assert loading(text.replace("out/${mode}", "${place}")).pipeline.sinks[0].path == "here/x"


def paths(value, before=()):
    if isinstance(value, dict):
        yield from (path for key, each in value.items() for path in paths(each, (*before, key)))
    elif isinstance(value, list) and value and all(isinstance(each, dict) for each in value):
        yield from (path for place, each in enumerate(value) for path in paths(each, (*before, place)))
    else:
        yield before


KEYS = st.sampled_from(["a", "b-1", "c_d", '"e f"', "'#g'"])
VALUES = st.sampled_from(
    ["1", '"x # y"', "'''x\n[t]\na = 3\n'''", '"""say \\"\\"\\" no\n[[u]]"""', "[1, 2] # [c]", "{ x = 1 }"]
)


@given(st.lists(st.tuples(st.sampled_from(["entry", "table", "tables"]), KEYS, KEYS, VALUES), max_size=12))
def test_every_key_of_any_file_is_found_at_its_line(rows):
    lines = []
    for kind, first, second, value in rows:
        head = {"entry": f"{first}.{second} = {value}", "table": f"[{first}.{second}]", "tables": f"[[{first}]]"}
        lines.append(head[kind])
    text = "\n".join(lines)
    try:
        read = tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return
    found = places(text)
    for path in paths(read):
        while path not in found and path:  # inline tables are at the place of the whole
            path = path[:-1]
        if path:
            last = next(key for key in reversed(path) if isinstance(key, str))
            assert last in text.splitlines()[found[path] - 1]


def test_the_schema_knows_what_the_model_knows():
    made = schema()
    assert set(made["properties"]) == {
        "imports", "variables", "mode", "spark", "stream", "sources", "steps", "sinks",
    }  # fmt: skip
    assert "schema" in made["$defs"]["Source"]["properties"]
    assert made["$defs"]["SpansStep"]["additionalProperties"] is False
    printed = subprocess.run([sys.executable, "-m", "sash.cli", "schema"], capture_output=True, text=True, check=True)
    assert json.loads(printed.stdout) == made


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ('mode = "both"', "got 'both'"),
        ("starts = 3", "starts must be true or false, got 3"),
        ('emit = "often"', "got 'often'"),
        ('fill = "next"', "got 'next'"),
        ("name = 5", "name must be text, got 5"),
        ('name = "a b"', "name must be a word: .*, got 'a b'"),
    ],
)
def test_a_value_that_is_wrong_is_told(tmp_path, line, told):
    step = f'{line}\n[[sinks]]\nformat = "noop"\n[sources.t]\npath = "a"\n'
    if "mode" not in line:
        name = "" if "name" in line else 'name = "b"\n'
        step = (
            f'[[steps]]\n{name}kind = "stream"\nfrom = "t"\nqueries = [{{range = 5, columns.n = "count(*)"}}]\n{step}'
        )
    (tmp_path / "p.toml").write_text(step)
    with pytest.raises(SashError, match=told):
        load(tmp_path / "p.toml")
