"""A room imports only the rooms above it, and the façade imports next to nothing."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import sash

HOME = Path(sash.__file__).parent
ROOMS = [
    "errors",
    "version",
    "options",
    "libraries",
    "algebra",
    "expressions",
    "functions",
    "windows",
    "kernels",
    "planner",
    "engine",
    "spark",
    "sql",
    "pipelines",
    "cli",
]
FREE = {"__init__", "checking", "frames", "streams"}  # the façade may use every room
OWNERS = {  # libraries that belong to certain rooms
    "pyspark": {"spark"},
    "numba": {"kernels"},
    "llvmlite": {"kernels"},
    "typer": {"cli"},
    "rich": {"cli"},
    "sqlglot": {"expressions", "sql"},
    "pydantic": {"pipelines"},
}
FILES = sorted(HOME.rglob("*.py"))


def imports(path):
    """Every module that a file imports, wherever in the file."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path} imports by a relative path"
            yield node.module
            if node.module == "sash":
                yield from (f"sash.{name.name}" for name in node.names)


def room(path):
    return path.relative_to(HOME).parts[0].removesuffix(".py")


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(HOME)))
def test_a_room_imports_only_rooms_above_it(path):
    here = room(path)
    if here in FREE:
        return
    for name in imports(path):
        parts = name.split(".")
        if parts[0] == "sash" and len(parts) > 1:
            assert ROOMS.index(parts[1]) <= ROOMS.index(here), f"{here} must not import {name}"
        assert here in OWNERS.get(parts[0], {here}), f"{here} must not import {name}"


def test_numba_is_imported_by_one_file():
    users = [path.name for path in FILES if any(name.split(".")[0] == "numba" for name in imports(path))]
    assert users == ["numba_backend.py"]


@pytest.mark.parametrize("statement", ["import sash", "from sash import functions as sf; sf.max('load')"])
def test_importing_sash_brings_in_no_heavy_library(statement):
    heavy = ["pyspark", "numba", "llvmlite", "pandas", "polars", "duckdb", "pyarrow"]
    code = f"{statement}; import sys; print([name for name in {heavy!r} if name in sys.modules])"
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert printed.strip() == "[]"


def test_the_facade_has_just_what_it_promises():
    assert dir(sash) == sorted(sash.__all__)
    for name in sash.__all__:
        assert getattr(sash, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        _ = sash.nonsense
