"""What a query reads by name: tables and files, as far as its text tells."""

from __future__ import annotations

from sash.sql.tokens import STRING, Source, read

BEFORE = ("FROM", "JOIN", "TABLE", ",")
FILES = frozenset("parquet csv json orc text avro xml binaryfile delta iceberg".split())


def reads(text: str) -> tuple[set[str], set[str]]:
    """The names of tables, and the paths of files, that a query may select from; of lists, names of columns, too.

    >>> reads("select * from db.orders join csv.`in/x` on true")
    ({'`db`.`orders`'}, {'in/x'})
    """
    source = read(text)
    tables, files = set(), set()
    for place in range(1, len(source.tokens)):
        if source.word(place - 1) not in BEFORE:
            continue
        if source.tokens[place].kind == STRING:
            files.add(source.tokens[place].value)
            continue
        parts = _chain(source, place)
        if len(parts) == 2 and parts[0].lower() in FILES:
            files.add(parts[1])
        elif parts:
            tables.add(".".join(f"`{each.replace('`', '``')}`" for each in parts))
    return tables, files


def names(text: str) -> set[str]:
    """All names in a query, in small letters: of tables among others, but no word of a comment.

    >>> sorted(names("select `A b` from t -- not of u"))
    ['a b', 'from', 'select', 't']
    """
    tokens = read(text).tokens
    strings = {each.value.lower() for each in tokens if each.kind == STRING}  # FROM IDENTIFIER('t')
    known = {each.name.lower() for each in tokens if each.is_name}
    return known | (strings if "identifier" in known else set())


def _chain(source: Source, place: int) -> list[str]:
    """The parts of a name, such as db.orders."""
    parts: list[str] = []
    while place < len(source.tokens) and source.tokens[place].is_name:
        parts.append(source.tokens[place].name)
        if source.word(place + 1) != ".":
            break
        place += 2
    return parts
