"""A room imports only the rooms above it, a part of a room only certain parts, and nothing imports itself in a circle.

Imports are seen wherever they stand: within functions, and where only types are checked, too.
"""

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
    "windows",
    "functions",
    "kernels",
    "planner",
    "watching",
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
    "bokeh": {"watching"},
}
PARTS = {  # of a room, and which others each may use; the files that stand alone in a room are "files"
    "kernels": {
        "compiling": set(),
        "files": {"compiling"},
        "fifo": {"compiling", "files"},
        "structures": {"compiling", "files"},
        "operations": {"compiling", "files", "structures"},
        "folding": {"compiling", "files", "structures", "fifo"},
        "sorting": {"compiling", "files", "structures"},
        "slices": {"compiling", "files", "sorting"},
        "spans": {"compiling", "files"},
    },
    "expressions": {
        "files": set(),
        "arrow": {"files"},
        "evaluation": {"files", "arrow"},
    },
    "engine": {
        "files": set(),
        "answering": {"files"},
        "evaluating": {"files", "answering"},
        "ranges": {"files"},
        "spilling": {"files", "ranges"},
        "summaries": {"files", "answering", "evaluating"},
        "streams": {"files", "answering", "evaluating", "spilling"},
        "row_streams": {"files", "answering", "evaluating", "ranges", "summaries", "streams"},
    },
}
FILES_OF_PARTS = {  # files that are not in the folder of their part
    "sash.kernels.fold_by_name": "folding",
    "sash.engine.evaluating": "evaluating",
    "sash.engine.adding": "evaluating",
    "sash.engine.lazy": "evaluating",
    "sash.engine.ties": "evaluating",
    "sash.engine.sliding_fold": "evaluating",
    "sash.engine.sliding_window": "evaluating",
    "sash.expressions.evaluation": "evaluation",
}
FILES = sorted(HOME.rglob("*.py"))


def module(path):
    parts = ("sash", *path.relative_to(HOME).with_suffix("").parts)
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {module(path): path for path in FILES}


def imports(path):
    """Every module that a file imports, wherever in the file."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path} imports by a relative path"
            names = {f"{node.module}.{name.name}" for name in node.names}
            if node.module == "sash" or names <= MODULES.keys():
                yield from names
            else:
                yield node.module
                yield from names & MODULES.keys()


def part(name):
    """The part of a room that a module is in, or nothing where the room has none."""
    _, room, *rest = [*name.split("."), ""]
    if room not in PARTS or not rest[0]:
        return None
    found = FILES_OF_PARTS.get(name)
    return found or (rest[0] if (HOME / room / rest[0]).is_dir() else "files")


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


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(HOME)))
def test_a_part_of_a_room_imports_only_certain_parts(path):
    name, here = room(path), part(module(path))
    if here is None:
        return
    assert here in PARTS[name], f"PARTS must say which parts of {name} {here} may import"
    for each in imports(path):
        if each.startswith(f"sash.{name}."):
            assert part(each) in {here} | PARTS[name][here], f"{here} of {name} must not import {each}"


def test_no_module_imports_itself_in_a_circle():
    wanted = {
        name: {each for each in imports(path) if each in MODULES and each != name} for name, path in MODULES.items()
    }
    while True:  # what imports nothing that is left is in no circle
        free = {name for name, others in wanted.items() if not others & wanted.keys()}
        if not free:
            break
        wanted = {name: others for name, others in wanted.items() if name not in free}
    assert wanted == {}


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
    assert dir(sash) == sorted([*sash.__all__, "__version__"])
    for name in sash.__all__:
        assert getattr(sash, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        _ = sash.nonsense
