"""Whether two places hold each other: files of this machine or of a store, tables of a catalogue or of a database."""

from __future__ import annotations

import fnmatch
import glob
import posixpath
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote, urlsplit

SAME = {  # stores that have several schemes
    "s3a": "s3", "s3n": "s3", "wasb": "azure", "wasbs": "azure", "abfs": "azure", "abfss": "azure",
    "webhdfs": "hdfs", "swebhdfs": "hdfs",
}  # fmt: skip
ALTERNATIVES = re.compile(r"\{([^{}]*)\}")
PATTERN = re.compile(r"[*?\[\\]")  # what makes a name one of several


@dataclass(frozen=True)
class Folder:
    """A place of files: its store, and the names on the way to it, which may be patterns."""

    store: tuple[str, str]
    names: tuple[str, ...]


def overlap(path: str, others: set[str], default: str = "file:") -> bool:
    """Whether a path is one of the others, is inside of one, or holds one; the others may have patterns (globs).

    Paths without a scheme are in the default store.

    >>> overlap("/data", {"hdfs://name/data/in"}), overlap("/data", {"hdfs://name/data/in"}, "hdfs://name:8020")
    (False, True)
    >>> overlap("s3a://b/data", {"s3://b/data/in/"}), overlap("s3a://b/data", {"s3a://b/database"})
    (True, False)
    """
    return any(
        _meet(here, there) for each in others for there in places(each, default) for here in places(path, default)
    )


def _meet(here: Folder, there: Folder) -> bool:
    if here.store[0] != there.store[0]:
        return False
    if here.store[1] != there.store[1] and here.store[1] and there.store[1]:  # without one, it is the default
        return False
    return all(_same(*pair) for pair in zip(here.names, there.names, strict=False))


def _same(name: str, other: str) -> bool:
    if name == other or not (PATTERN.search(name) or PATTERN.search(other)):
        return name == other
    if "\\" in name + other or (PATTERN.search(name) and PATTERN.search(other)):
        return True  # two patterns: something may fit both
    one, pattern = (other, name) if PATTERN.search(name) else (name, other)
    return fnmatch.fnmatchcase(one, pattern.replace("[^", "[!"))


def places(path: str, default: str = "file:") -> Iterator[Folder]:
    """What a path may mean: with each of its {alternatives}, with %20 as it stands and decoded, through links."""
    match = ALTERNATIVES.search(path)
    if match is not None:
        for each in match[1].split(","):
            yield from places(path[: match.start()] + each + path[match.end() :], default)
        return
    for text in {path, unquote(path)}:
        scheme = re.match(r"([A-Za-z][\w+.-]+):", text)
        if scheme is None or scheme[1].lower() == "file":
            yield from _local(re.sub(r"^[A-Za-z]+:(//(localhost)?(?=/))?", "", text) if scheme else text)
            if scheme is None and not default.lower().startswith("file:"):
                home = "" if text.startswith("/") else "/user/*/"  # where paths of HDFS begin, unless they say
                yield _remote(f"{default.rstrip('/')}{home}{text}")
        else:
            yield _remote(text)


def _remote(text: str) -> Folder:
    scheme, rest = text.split(":", 1)
    store = SAME.get(scheme.lower(), scheme.lower())
    host = (urlsplit(f"x:{rest.split('?')[0]}").netloc if rest.startswith("//") else "").lower()
    if store == "azure":
        host = host.split(".")[0]  # container@account, whatever the service
    else:
        host = host.rpartition("@")[2].removesuffix(":8020" if store == "hdfs" else "")
    where = rest[2:].partition("/")[2] if rest.startswith("//") else rest
    return Folder((store, host), _names(posixpath.normpath("/" + where)))


def _local(text: str) -> Iterator[Folder]:
    """The folder, where links lead; of a pattern, also what it finds now."""
    parts = Path(text).parts
    fixed = next((place for place, name in enumerate(parts) if PATTERN.search(name)), len(parts))
    for start in {Path(*parts[:fixed]).resolve(), Path(posixpath.normpath("/".join(parts[:fixed]) or "."))}:
        yield Folder(("file", ""), (*_names(str(start)), *parts[fixed:]))
    if fixed < len(parts):
        for each in glob.iglob(text):
            yield Folder(("file", ""), _names(str(Path(each).resolve())))


def _names(path: str) -> tuple[str, ...]:
    return tuple(name for name in path.split("/") if name)


def table(name: str, catalogue: str, schema: str) -> tuple[str, ...]:
    """A table of Spark's catalogue by its whole name, as names are compared.

    >>> table("`Sales`.Orders", "spark_catalog", "default")
    ('spark_catalog', 'sales', 'orders')
    """
    parts = tuple(
        (part[1:-1].replace("``", "`") if part.startswith("`") else part).lower()
        for part in re.findall(r"`(?:[^`]|``)*`|[^.`]+", name)
    )
    return (catalogue.lower(), schema.lower())[: max(3 - len(parts), 0)] + parts


def database_table(url: str, name: str) -> tuple[str, ...]:
    """A table of a database, as far as its text tells which it is."""
    parts = tuple(part.strip('"`[]').lower() for part in name.split("."))
    postgres = url.lower().startswith("jdbc:postgresql:")
    where = re.split(r"[?;]", url.lower())[0].rstrip("/")
    return (where, *(("public", *parts) if postgres and len(parts) == 1 else parts))
