"""Writes src/sash/functions.pyi, which says to editors and type checkers what sash.functions makes of its declarations.

``python docs/stub.py`` writes it; tests/test_functions.py sees that it is up to date.
"""

from __future__ import annotations

from pathlib import Path

import sash
from sash.algebra.catalogue import FUNCTIONS, builtin
from sash.algebra.catalogue.declaring import COLUMNS, REQUIRED, Function, Parameter
from sash.algebra.catalogue.describing import described as catalogued

STUB = Path(sash.__file__).with_name("functions.pyi")
WIDTH = 120
HEAD = '''"""The vocabulary, as editors and type checkers see it. Made by docs/stub.py from the catalogue."""

from typing import Any, TypeAlias

from sash.algebra import Call as Call
from sash.algebra.catalogue.declaring import Function
from sash.expressions.columns import Order as Order
from sash.expressions.orders import asc as asc
from sash.expressions.orders import asc_nulls_first as asc_nulls_first
from sash.expressions.orders import asc_nulls_last as asc_nulls_last
from sash.expressions.orders import desc as desc
from sash.expressions.orders import desc_nulls_first as desc_nulls_first
from sash.expressions.orders import desc_nulls_last as desc_nulls_last

Column: TypeAlias = Any  # a name, or an expression

def call_of(declared: Function, given: dict[str, Any]) -> Call: ...
'''


def parameter(each: Parameter) -> str:
    """One parameter as Python writes it."""
    if each.takes == COLUMNS:
        return f"*{each.name}: {each.type}"
    default = "" if each.default is REQUIRED else f" = {each.default!r}".replace("'", '"')
    return f"{each.name}: {each.type}{default}"


def signature(function: Function) -> list[str]:
    """All parameters, and where those begin that are given by name."""
    several = any(each.takes == COLUMNS for each in function.parameters)
    star = ["*"] if not several and any(each.keyword for each in function.parameters) else []
    plain = [parameter(each) for each in function.parameters if not each.keyword]
    return plain + star + [parameter(each) for each in function.parameters if each.keyword]


def described(function: Function) -> str:
    """The docstring: what it does, and an example."""
    thing = builtin(function.base or function.name, *function.examples_of_constants)
    body = catalogued(function, thing).replace("\n", "\n    ").replace("\n    \n", "\n\n")
    return f'    """{body}\n    """\n'


def definition(function: Function) -> str:
    """One function."""
    line = f"def {function.name}({', '.join(signature(function))}) -> Call:\n"
    if len(line) > WIDTH:
        inside = ",\n    ".join(signature(function))
        line = f"def {function.name}(\n    {inside},\n) -> Call:\n"
    return line + described(function)


def stub() -> str:
    """The whole file."""
    return HEAD + "\n".join(definition(each) for each in FUNCTIONS.values() if each.in_python)


if __name__ == "__main__":
    STUB.write_text(stub())
