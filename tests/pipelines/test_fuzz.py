"""Whatever a pipeline file holds, loading it ends with a pipeline, or with a sentence that names the file."""

import re
import string
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import sash
from pipeline_files import written
from sash.errors import SashError
from sash.pipelines import load

DEMO = Path(sash.__file__).parent / "cli" / "demo"
EXAMPLES = [re.sub(r"\$\{(\w+)\}/", r"\1/", file.read_text()) for file in sorted(DEMO.glob("*.toml"))]
NAMED = re.compile(r"^p\.toml(, line [1-9]\d*|, at its end)?: .|^.*p\.toml cannot be read: .", re.DOTALL)
same_folder = settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])

KEYS = """
    imports variables mode spark stream sources steps sinks name kind sql from partition_by order_by frame columns
    time key watermark lateness ahead offset slicer emit starts fill queries range slide using span postpone longest
    format path table options schema static where late delta of until master remote packages conf checkpoint trigger a b
    on_error
""".split()
WORDS = """
    batch stream windows spans sql final a b parquet kafka jdbc ${mode} ${nobody} ${ $$ 1\\u0000day é
""".split()
key = st.sampled_from(KEYS) | st.text(string.ascii_letters + '" .=[]', max_size=5)
scalar = st.one_of(
    st.sampled_from(WORDS),
    st.text(max_size=8),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.dates(),
    st.times(),
    st.datetimes(),
)
value = st.recursive(
    scalar, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(key, inner, max_size=4), max_leaves=12
)


@pytest.fixture
def tried(tmp_path):
    def tried(data):
        """Load a file; of what is wrong with it, only a sentence about that file may come."""
        file = tmp_path / "p.toml"
        file.write_bytes(data if isinstance(data, bytes) else data.encode("utf-8", "surrogatepass"))
        try:
            load(file)
            return None
        except SashError as error:
            said = str(error)
        assert NAMED.match(said), said
        return said

    return tried


@pytest.mark.parametrize("text", EXAMPLES, ids=[file.stem for file in sorted(DEMO.glob("*.toml"))])
def test_what_is_changed_below_is_sound_before(tried, text):
    assert tried(text) is None


@pytest.mark.long
@same_folder
@given(st.binary(max_size=200))
def test_any_bytes(tried, data):
    """Survived files of random bytes."""
    tried(data)


@pytest.mark.long
@same_folder
@given(st.dictionaries(key, value, max_size=8))
def test_any_tables(tried, given):
    """Survived sound TOML of any keys and values, the keys of pipelines among them."""
    tried("\n".join(f"{written(key)} = {written(each)}" for key, each in given.items()))


PARTS = {
    "sources": {"a": {"path": "x"}},
    "steps": [{"name": "b", "sql": "select * from a"}],
    "sinks": [{"path": "y"}],
}
table = st.dictionaries(key, value, max_size=6)
OTHER_PARTS = {
    "sources": st.dictionaries(st.just("a"), table),
    "steps": st.lists(table.map(lambda each: each | {"name": "c"}), max_size=2),
    "sinks": st.lists(table.map(lambda each: each | {"path": "z"}), max_size=2),
    **dict.fromkeys(["spark", "stream", "variables", "imports", "mode"], table),
}
almost = st.sampled_from(sorted(OTHER_PARTS)).flatmap(
    lambda name: (value | OTHER_PARTS[name]).map(lambda each: PARTS | {name: each})
)


@pytest.mark.long
@same_folder
@given(almost)
def test_a_pipeline_with_one_part_of_anything(tried, given):
    """Survived a pipeline one part of which is of any shape."""
    tried("\n".join(f"{written(key)} = {written(each)}" for key, each in given.items()))


ODD_TOKENS = ["\0", "\r", "\ufeff", "'''", "[[", "]]", "${", "9" * 30]
TOKEN = re.compile(r'"""|"[^"\n]*"|[\w$]+|\s+|.', re.DOTALL)


@st.composite
def changed(draw):
    """A pipeline of the demo, some of its tokens taken away, doubled, moved or replaced by those of another."""
    tokens = TOKEN.findall(draw(st.sampled_from(EXAMPLES)))
    others = [*TOKEN.findall(draw(st.sampled_from(EXAMPLES))), *ODD_TOKENS]
    for _ in range(draw(st.integers(1, 6))):
        at, end = sorted(draw(st.tuples(*[st.integers(0, len(tokens))] * 2)))
        change = draw(st.sampled_from(["cut", "one", "put", "swap", "twice"]))
        if change == "cut":
            del tokens[at : min(end, at + 20)]
        elif change == "one":
            del tokens[at : at + 1]
        elif change == "put":
            tokens.insert(at, draw(st.sampled_from(others)))
        elif change == "swap":
            tokens[at : at + 1] = [draw(st.sampled_from(others))]
        else:
            tokens[at:at] = tokens[at : min(end, at + 40)]
    return "".join(tokens)


@pytest.mark.long
@same_folder
@given(changed())
def test_a_sound_file_with_something_changed(tried, text):
    """Survived pipelines of the demo with tokens cut, doubled, moved and exchanged."""
    tried(text)


ODD = {
    "arrays in arrays": "a = " + "[" * 5000 + "]" * 5000,
    "tables in tables": "a = " + "{a=" * 5000 + "1" + "}" * 5000,
    "a long dotted key": ".".join("a" * 5000) + " = 1",
    "a number of 5,000 digits": "a = " + "9" * 5000,
    "the year 0": "a = 0000-01-01",
    "a kind that is a list": '[sources.a]\npath = "x"\n[[steps]]\nname = "b"\nkind = []\n[[sinks]]\npath = "y"\n',
    "a kind that is a table": '[sources.a]\npath = "x"\n[[steps]]\nname = "b"\nkind = {a = 1}\n[[sinks]]\npath = "y"\n',
    "a megabyte of brackets": "[" * (1 << 20),
    "a megabyte of a text": 'a = "' + "x" * (1 << 20) + '"',
    "a megabyte of spaces": "a" + " " * (1 << 20) + "b",
    "a megabyte of quotes": '"' * (1 << 20),
    "100,000 keys": "\n".join(f"k{n} = 1" for n in range(100_000)),
    "a variable of itself": '[variables]\na = "${a}"\n[sources.a]\npath = "${a}"\n[[sinks]]\npath = "y"\n',
}


@pytest.mark.parametrize("odd", ODD)
def test_odd_files(tried, odd):
    """Survived files made to be deep, long or strange, each within the time of a test."""
    assert tried(ODD[odd])
