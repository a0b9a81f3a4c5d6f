"""Tokens: the words of a query as Spark has them, each with its place in the text."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from sash.errors import SashError

WORD, QUOTED, STRING, NUMBER, PARAMETER, SYMBOL = "word", "quoted", "string", "number", "parameter", "symbol"
DEEPEST = 200  # levels of brackets

_TOKEN = re.compile(
    r"""
      (?P<space>\s+|--(?:\\\n|[^\r\n])*)
    | (?P<comment>/\*)
    | (?P<string>[rR](?:'[^']*'|"[^"]*")|'(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*")
    | (?P<quoted>`(?:[^`]|``)*`)
    | (?P<number>(?:\d++\.?\d*+|\.\d++)(?:[eE][+-]?\d++)?(?:BD|[LSYDFlsydf](?!\w)|bd)?(?!\w))
    | (?P<word>\w+)
    | (?P<parameter>:[^\W\d]\w*|\?)
    | (?P<symbol>::|->|=>|<=>|<>|!=|<=|>=|==|\|\||\|>|<<|>>|.)
    """,
    re.VERBOSE | re.DOTALL,
)
_OPENED = re.compile(r"/\*(?!\+)")
_HALF = re.compile("[\ud800-\udfff]")
_CLOSING = {"(": ")", "[": "]", "{": "}"}


@dataclass(frozen=True, slots=True)
class Token:
    """A word, a name in backticks, a string, a number, a parameter or a symbol, and where it stands."""

    kind: str
    text: str
    start: int

    @property
    def end(self) -> int:
        """Where what follows begins."""
        return self.start + len(self.text)

    @property
    def word(self) -> str:
        """A word in capitals, or a symbol; nothing for names in backticks and constants."""
        return self.text.upper() if self.kind == WORD else self.text if self.kind == SYMBOL else ""

    @property
    def is_name(self) -> bool:
        """Whether it may name a column, a table or a function."""
        return self.kind == QUOTED or (self.kind == WORD and not self.text.isdigit())

    @property
    def name(self) -> str:
        """The name it is, without its quotes."""
        return self.text[1:-1].replace(self.text[0] * 2, self.text[0]) if self.kind == QUOTED else self.text

    @property
    def value(self) -> str:
        """What a string holds."""
        if self.text[0] in "rR":
            return self.text[2:-1]
        return re.sub(r"\\(.)", lambda escape: _ESCAPES.get(escape[1], escape[1]), self.text[1:-1], flags=re.DOTALL)


_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "0": "\0", "b": "\b", "%": "\\%", "_": "\\_"}


@dataclass
class Source:
    """A query: its text, its tokens, and which bracket closes which.

    >>> source = read("select max(x) over w from t -- the best")
    >>> [token.text for token in source.tokens][:5], source.closing
    (['select', 'max', '(', 'x', ')'], {2: 4})
    """

    text: str
    tokens: list[Token]
    closing: dict[int, int] = field(default_factory=dict)
    exact: bool = False  # whether names that differ in case are different ones
    names_in_quotes: bool = False
    typed: Source | None = None  # what the user typed, where this is that with other names
    edits: tuple[tuple[int, int, int, int], ...] = ()  # where pieces of it stand here, and where they stood there

    def replaced(self, pieces: Iterable[tuple[int, int, str]]) -> Source:
        """The same with other text from one place up to another, given in order; errors show it as it was typed."""
        text, at, edits = "", 0, []
        for start, end, piece in pieces:
            text += self.text[at:start] + piece
            edits.append((len(text) - len(piece), len(text), start, end))
            at = end
        if not edits:
            return self
        again = read(text + self.text[at:], self.exact, self.names_in_quotes)
        return replace(again, typed=self, edits=tuple(edits))

    def pointed(self, sentence: str, at: int) -> SashError:
        """An error that shows the line of the text, as it was typed, that it is about."""
        if self.typed is None:
            return pointed(sentence, self.text, at)
        moved = 0
        for start, end, typed_start, typed_end in self.edits:
            if at < start:
                break
            if at < end:
                return self.typed.pointed(sentence, typed_start)
            moved = typed_end - end
        return self.typed.pointed(sentence, at + moved)

    def fold(self, name: str) -> str:
        """What is the same for two spellings of one name."""
        return name if self.exact else name.lower()

    def folded(self, place: int) -> str:
        """The name at a place, so."""
        return self.fold(self.tokens[place].name)

    def word(self, place: int) -> str:
        """The word at a place, in capitals; nothing beyond the end."""
        return self.tokens[place].word if 0 <= place < len(self.tokens) else ""

    def words(self, place: int, *words: str) -> bool:
        """Whether these words stand at a place."""
        return all(self.word(place + ahead) == word for ahead, word in enumerate(words))

    def cut(self, lo: int, hi: int) -> str:
        """The text of the tokens from ``lo`` up to ``hi``, with what stands between them."""
        return self.text[self.tokens[lo].start : self.tokens[hi - 1].end] if lo < hi else ""

    def shown(self, lo: int, hi: int) -> str:
        """The tokens from ``lo`` up to ``hi`` on one line, without comments."""
        words = ""
        for before, token in zip([None, *self.tokens[lo:hi]], self.tokens[lo:hi], strict=False):
            words += " " * (before is not None and before.end < token.start) + token.text
        return re.sub(r":sash_\d+\b", "?", words)

    def same(self, lo: int, hi: int) -> tuple[str, ...]:
        """What makes two pieces of the text mean the same; hashable."""
        return tuple(each.text if self.exact else each.word or each.text for each in self.tokens[lo:hi])

    def after(self, place: int) -> int:
        """The place after a token, or after the bracket that it opens."""
        return self.closing.get(place, place) + 1

    def parts(self, lo: int, hi: int, separator: str = ",") -> list[tuple[int, int]]:
        """The pieces between separators that are in no brackets."""
        parts, start, place = [], lo, lo
        while place < hi:
            if self.word(place) == separator:
                parts.append((start, place))
                start = place + 1
            place = self.after(place)
        return [*parts, (start, hi)]

    def find(self, lo: int, hi: int, *words: str) -> int:
        """The first place outside of brackets where these words stand; ``hi`` where there is none."""
        place = lo
        while place < hi:
            if self.words(place, *words) and place + len(words) <= hi:
                return place
            place = self.after(place)
        return hi

    def error(self, sentence: str, place: int) -> SashError:
        """The error that a sentence about a token is, with its line and a caret below."""
        at = self.tokens[place].start if place < len(self.tokens) else len(self.text.rstrip())
        return self.pointed(sentence, at)


def pointed(sentence: str, text: str, at: int) -> SashError:
    """An error that shows the line of a text it is about."""
    start = text.rfind("\n", 0, at) + 1
    end = text.find("\n", at)
    line = text[start : end if end >= 0 else len(text)].rstrip()
    column = at - start
    if column > 120:  # the neighbourhood is enough
        line, column = f"… {line[column - 60 :]}", 62
    caret = re.sub(r"[^\t]", " ", line[:column]) + "^"
    return SashError(f"{sentence}\nline {text.count(chr(10), 0, start) + 1}:\n  {line[:240]}\n  {caret}")


def read(text: str, exact: bool = False, names_in_quotes: bool = False) -> Source:
    """The tokens of a query, its brackets matched.

    Args:
        text: the query.
        exact: whether names that differ in case are different ones, as with spark.sql.caseSensitive.
        names_in_quotes: whether "a" is a name, as with spark.sql.ansi.doubleQuotedIdentifiers.

    """
    if not isinstance(text, str):
        raise SashError(f"a query must be text, got {text!r} of type {type(text).__name__}")
    if half := _HALF.search(text):
        sentence = "this is half of a character (a surrogate), which Spark cannot be sent"
        raise pointed(sentence, _HALF.sub("\ufffd", text), half.start())
    tokens: list[Token] = []
    at = 0
    while at < len(text):
        match = _TOKEN.match(text, at)
        kind = match.lastgroup if match else None
        if match is None or kind is None:  # pragma: no cover, the last alternative takes any character
            raise pointed("this cannot be read", text, at)
        if kind == "comment":
            at = _after_comment(text, at)
            continue
        if kind == SYMBOL and match[0] in "'\"`":
            raise pointed(f"this {match[0]} is never closed", text, at)
        if kind == STRING and names_in_quotes and match[0][0] == '"':
            kind = QUOTED
        if kind != "space":
            tokens.append(Token(kind, match[0], at))
        at = match.end()
    return Source(text, tokens, _matched(text, tokens), exact, names_in_quotes)


def _after_comment(text: str, start: int) -> int:
    """Where a comment ends; there may be others in it, but no hints, as in Spark."""
    depth, at = 1, start + 2
    while True:
        inner, closed = _OPENED.search(text, at), text.find("*/", at)
        opened = inner.start() if inner else -1
        if closed < 0:
            raise pointed("this comment is never closed", text, start)
        if 0 <= opened < closed:
            depth, at = depth + 1, opened + 2
        else:
            depth, at = depth - 1, closed + 2
            if depth == 0:
                return at


def _matched(text: str, tokens: list[Token]) -> dict[int, int]:
    """The place of the closing bracket for that of each opening one."""
    closing: dict[int, int] = {}
    opened: list[int] = []
    for place, token in enumerate(tokens):
        if token.kind != SYMBOL:
            continue
        if token.text in _CLOSING:
            opened.append(place)
            if len(opened) > DEEPEST:
                raise pointed(f"a query may have {DEEPEST} levels of brackets, this is one more", text, token.start)
        elif token.text in _CLOSING.values():
            if not opened or _CLOSING[tokens[opened[-1]].text] != token.text:
                raise pointed(f"this {token.text} closes nothing", text, token.start)
            closing[opened.pop()] = place
    if opened:
        raise pointed(f"this {tokens[opened[-1]].text} is never closed", text, tokens[opened[-1]].start)
    return closing
