"""Pipelines as text: a table, or a table of a list, for each thing that they have, a line for each of its keys.

Keys are as in files; a line below stands for the dot, or the end, of one that Python would not take:
``columns_n`` is ``columns.n``, ``from_`` is ``from``. More of the same go behind each other.
"""

from typing import Any

DOTTED = ("columns_", "options_")


def written(value: Any) -> str:
    """A value as TOML has it, tables inline."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return '"' + "".join(c if c.isprintable() and c not in '"\\' else f"\\U{ord(c):08x}" for c in value) + '"'
    if isinstance(value, dict):
        return "{" + ", ".join(f"{written(key)} = {written(each)}" for key, each in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(written, value)) + "]"
    return value.isoformat() if hasattr(value, "isoformat") else str(value)


def section(header: str, **fields: Any) -> str:
    """A table with its header, such as ``[stream]``."""
    lines = [header]
    for key, value in fields.items():
        begin = next((each for each in DOTTED if key.startswith(each)), None)
        name = key.rstrip("_") if begin is None else f"{begin[:-1]}.{key[len(begin) :]}"
        lines.append(f"{name} = {written(value)}")
    return "\n".join(lines) + "\n"


def source(name: str, **fields: Any) -> str:
    """A source."""
    return section(f"[sources.{name}]", **fields)


def sink(path: str | None = None, **fields: Any) -> str:
    """A sink."""
    return section("[[sinks]]", **fields, **({} if path is None else {"path": path}))


def query(range: Any, **fields: Any) -> str:
    """A query of the board above it."""
    return section("[[steps.queries]]", range=range, **fields)


def board(name: str, source: str, *queries: str, **fields: Any) -> str:
    """A step of windows over a stream."""
    return section("[[steps]]", name=name, from_=source, kind="stream", **fields) + "".join(queries)


def sql(name: str, query: str) -> str:
    """A step of SQL."""
    return section("[[steps]]", name=name, sql=query)
