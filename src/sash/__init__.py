"""Sash: aggregates over windows, through one algebra, one planner and one set of compiled kernels.

Everything is imported when first used, so that ``import sash`` costs next to nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sash import functions, options
    from sash.algebra import Aggregate
    from sash.checking import check
    from sash.errors import SashError
    from sash.expressions import col, when
    from sash.frames import explain, select, withColumns
    from sash.spark.local import local_spark
    from sash.sql.entry import sql
    from sash.sql.named_functions import register
    from sash.streams import stream
    from sash.windows import Window
    from sash.windows.extents import cumulate, delta, punctuation, session

_HOMES = {
    "Aggregate": "sash.algebra",
    "SashError": "sash.errors",
    "Window": "sash.windows",
    "check": "sash.checking",
    "col": "sash.expressions",
    "cumulate": "sash.windows.extents",
    "delta": "sash.windows.extents",
    "explain": "sash.frames",
    "functions": "sash.functions",
    "local_spark": "sash.spark.local",
    "options": "sash.options",
    "punctuation": "sash.windows.extents",
    "register": "sash.sql.named_functions",
    "select": "sash.frames",
    "session": "sash.windows.extents",
    "sql": "sash.sql",
    "stream": "sash.streams",
    "when": "sash.expressions",
    "withColumns": "sash.frames",
}

__all__ = [
    "Aggregate",
    "SashError",
    "Window",
    "check",
    "col",
    "cumulate",
    "delta",
    "explain",
    "functions",
    "local_spark",
    "options",
    "punctuation",
    "register",
    "select",
    "session",
    "sql",
    "stream",
    "when",
    "withColumns",
]


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from sash.version import VERSION

        return VERSION
    if name not in _HOMES:
        from sash.errors import meant

        hint = "" if name.startswith("_") else meant(name, __all__)
        raise AttributeError(f"module 'sash' has no attribute {name!r}{hint}")
    module = import_module(_HOMES[name])
    attribute = module if module.__name__ == f"sash.{name}" else getattr(module, name)
    globals()[name] = attribute
    return attribute


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
