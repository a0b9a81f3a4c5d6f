import pytest

from sash.errors import SashError
from sash.sql.tokens import DEEPEST, read


def texts(query):
    return [token.text for token in read(query).tokens]


def test_comments_are_left_out_even_nested_ones():
    assert texts("select /* a /* b */ c */ x -- y\n, z -- w") == ["select", "x", ",", "z"]


def test_strings_keep_what_is_in_them():
    assert texts("'it''s' \"a -- b\" r'\\n' 'a\\'b'") == ["'it'", "'s'", '"a -- b"', "r'\\n'", "'a\\'b'"]
    assert [token.value for token in read(r"'a\'b' r'\n' 'x\ty'").tokens] == ["a'b", r"\n", "x\ty"]


def test_names_in_backticks_are_never_words():
    token = read("`select ``it```").tokens[0]
    assert (token.word, token.name) == ("", "select `it`")


@pytest.mark.parametrize("number", ["1", "1.5", ".5", "1e3", "2L", "1.5BD", "3S", "1E-7D"])
def test_numbers_are_one_token(number):
    assert texts(number) == [number]


def test_a_name_may_begin_with_digits():
    assert texts("2nd + 1l") == ["2nd", "+", "1l"]


def test_parameters_and_casts():
    assert texts(":from_day ? x::int") == [":from_day", "?", "x", "::", "int"]


@pytest.mark.parametrize(
    ("query", "sentence", "column"),
    [
        ("select 'a", "this ' is never closed", 7),
        ("select `a", "this ` is never closed", 7),
        ("select (a", "this ( is never closed", 7),
        ("select a)", "this ) closes nothing", 8),
        ("select (a]", "this ] closes nothing", 9),
        ("select /* a", "this comment is never closed", 7),
    ],
)
def test_what_cannot_be_read_is_shown(query, sentence, column):
    with pytest.raises(SashError) as caught:
        read(query)
    first, _, line, caret = str(caught.value).splitlines()
    assert (first, line, caret) == (sentence, f"  {query}", "  " + " " * column + "^")


def test_the_line_and_the_column_are_those_of_the_query():
    with pytest.raises(SashError) as caught:
        read("select a,\n\tb)\nfrom t")
    assert str(caught.value) == "this ) closes nothing\nline 2:\n  \tb)\n  \t ^"


def test_a_long_line_is_shortened_around_the_caret():
    with pytest.raises(SashError) as caught:
        read("select " + "a, " * 1000 + ")")
    _, _, line, caret = str(caught.value).splitlines()
    assert len(line) < 250
    assert line[caret.index("^")] == ")"


def test_too_many_brackets_are_refused():
    read("(" * DEEPEST + ")" * DEEPEST)
    with pytest.raises(SashError, match="levels of brackets"):
        read("(" * (DEEPEST + 1) + ")" * (DEEPEST + 1))


def test_a_query_must_be_text():
    with pytest.raises(SashError, match="a query must be text, got 3 of type int"):
        read(3)
