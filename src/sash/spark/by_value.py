"""Functions on their way to workers: with what they use of the user's own modules, which the workers do not have.

PySpark sends a function of a module by its name. That does for packages that are installed where the workers run, and
fails for a module that lies beside the script, where an aggregate of the user's own may be.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

from pyspark import cloudpickle

from sash.spark.garbage import set_apart

Batches = Iterator[Any]
INSTALLED = {"site-packages", "dist-packages"}  # folders whose packages workers have, too
ELSEWHERE = sys.stdlib_module_names | {"sash", "__main__"}  # of which cloudpickle knows, or workers


def shipped(function: Callable[[Batches], Batches], name: str) -> Callable[[Batches], Batches]:
    """A function over the batches of a task, with what it needs of modules beside the script; Spark shows the name."""
    body = dumps(function)

    def run(batches: Batches) -> Batches:
        yield from loads(body)(batches)
        set_apart()

    run.__name__ = name
    run.__annotations__ = function.__annotations__  # by which PySpark tells what a UDF takes and gives
    return run


def dumps(thing: Any) -> bytes:
    """The bytes of anything, what it uses of modules beside the script among them."""
    with _by_value():
        return cloudpickle.dumps(thing)  # type: ignore[no-untyped-call]


@functools.lru_cache(maxsize=16)
def loads(body: bytes) -> Any:
    """What the bytes are of, read once by each worker."""
    return cloudpickle.loads(body)


@contextmanager
def _by_value() -> Iterator[None]:
    known = cloudpickle.list_registry_pickle_by_value()  # type: ignore[no-untyped-call]
    modules = [module for name, module in list(sys.modules.items()) if name not in known and _beside(name, module)]
    for module in modules:
        cloudpickle.register_pickle_by_value(module)  # type: ignore[no-untyped-call]
    try:
        yield
    finally:
        for module in modules:
            cloudpickle.unregister_pickle_by_value(module)  # type: ignore[no-untyped-call]


def _beside(name: str, module: Any) -> bool:
    """Whether a module lies where the script does, or where an interactive session was started."""
    package = name.partition(".")[0]
    if not isinstance(module, ModuleType) or module.__name__ != name or package in ELSEWHERE:
        return False
    file = vars(module).get("__file__")  # which some do not have
    if not file:
        return False
    place = Path(file)
    return _home() in place.parents and not INSTALLED.intersection(place.parts)


def _home() -> Path:
    script: str | None = getattr(sys.modules.get("__main__"), "__file__", None)
    return Path(script).absolute().parent if script else Path.cwd()
