"""Where in a TOML file a value stands."""

from __future__ import annotations

import re
from collections.abc import Sequence

BEGIN = "\n"  # after the path of a text of several lines: where its first line is
Path = tuple[str | int, ...]
KEY = r"""(?:[A-Za-z0-9_-]+|"(?:[^"\\]|\\.)*"|'[^']*')"""
DOTTED = re.compile(rf"{KEY}(?:\s*\.\s*{KEY})*")
TABLE = re.compile(rf"\s*(\[\[?)\s*({DOTTED.pattern})\s*\]\]?")
ENTRY = re.compile(rf"\s*({DOTTED.pattern})\s*=")


def places(text: str) -> dict[Path, int]:
    r"""The line of each table and key of a TOML file that can be read; of inline tables, that of the whole.

    >>> places("a = 1\n[[steps]]\nname = 'x'\n[[steps]]\n")
    {('a',): 1, ('steps', 0): 2, ('steps', 0, 'name'): 3, ('steps', 1): 4}
    """
    lines: dict[Path, int] = {}
    counts: dict[Path, int] = {}
    table: Path = ()
    quotes = ""
    for number, line in enumerate(text.splitlines(), 1):
        if quotes:
            quotes = _open(line, quotes)
            continue
        if header := TABLE.match(line):
            table = _inside(counts, _keys(header[2]), repeated=header[1] == "[[")
            lines.setdefault(table, number)
            continue
        if entry := ENTRY.match(line):
            lines[table + _keys(entry[1])] = number
            line = line[entry.end() :]
        quotes = _open(line, "")
        if entry and quotes:  # a text of several lines, of which TOML drops one that has nothing before its end
            lines[*table, *_keys(entry[1]), BEGIN] = number + line.rstrip().endswith(quotes)
    return lines


def line_of(lines: dict[Path, int], path: Sequence[str | int]) -> int | None:
    """The line of a value, or of the nearest one around it."""
    for length in range(len(path), 0, -1):
        if tuple(path[:length]) in lines:
            return lines[tuple(path[:length])]
        inside = [line for each, line in lines.items() if each[:length] == tuple(path[:length])]
        if inside:
            return min(inside)
    return None


def _keys(text: str) -> Path:
    return tuple(key.strip("\"'") if key[0] in "\"'" else key for key in re.findall(KEY, text))


def _inside(counts: dict[Path, int], keys: Path, repeated: bool) -> Path:
    """The path of a table: that of the latest element, where a table on the way is repeated."""
    path: Path = ()
    for place, key in enumerate(keys):
        path += (key,)
        if repeated and place == len(keys) - 1:
            counts[path] = counts.get(path, -1) + 1
        if path in counts:
            path += (counts[path],)
    return path


def _open(line: str, quotes: str) -> str:
    """Which quotes of three are open at the end of a line; a comment opens none."""
    place = 0
    while place < len(line):
        if quotes:
            end = line.find(quotes, place)
            if end < 0:
                return quotes
            place, quotes = end + 3, ""
        elif line[place] == "#":
            return ""
        elif line[place : place + 3] in ('"""', "'''"):
            quotes, place = line[place : place + 3], place + 3
        elif line[place] in "\"'":
            ended = re.compile(r'"(?:[^"\\]|\\.)*"|' + r"'[^']*'").match(line, place)
            place = ended.end() if ended else len(line)
        else:
            place += 1
    return quotes
