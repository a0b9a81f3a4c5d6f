"""Settings that hold for every query: ``sash.options``.

``memory``
    How many bytes one evaluation may use, such as ``2**30``, ``"2g"`` or ``"512 MB"`` (1024 to a step, as in Spark).
    A Spark task whose rows need more works through files. None, the default, is what ``budget`` finds.
``skew``
    Whether ``withColumns`` on Spark looks for keys with very many rows before it runs: True, False, or ``"auto"``,
    the default: only where Spark's estimate of the input is large.
``jobs``
    Whether ``withColumns`` on Spark may run jobs before it returns: to find where rows without PARTITION BY are cut,
    and which keys have very many rows. True is the default. If False, nothing is read until an action asks: windows
    without PARTITION BY go to Spark's own operator, or with a warning to one task, and ``skew`` finds nothing.
``shards``
    In how many parts a continuous query on Spark keeps its keys. None, the default, is as many as
    ``spark.sql.shuffle.partitions``. The number stays with a query's checkpoint.
``zone``
    The time zone of streams and of RANGE frames by days and months that name none with ``zone=`` or ``.zone()``, such
    as ``"Europe/Berlin"``. None, the default, is the zone of the column, and for streams elapsed time. What is built
    keeps the zone of then.

>>> import sash
>>> sash.options.memory = "512 MB"
>>> sash.options
sash.options: memory=536870912, skew='auto', jobs=True, shards=None, zone=None
>>> sash.options.memory = None
>>> with sash.options.set(memory="2g", skew=False):
...     sash.options
sash.options: memory=2147483648, skew=False, jobs=True, shards=None, zone=None
>>> sash.options
sash.options: memory=None, skew='auto', jobs=True, shards=None, zone=None
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from types import ModuleType
from typing import Any

from sash.errors import SashError

memory: int | str | None
skew: bool | str
jobs: bool
shards: int | None
zone: str | None

SIZE = re.compile(r"\s*(\d+(?:\.\d+)?)\s*([kmgt]?)(?:i?b)?\s*", re.IGNORECASE)
STEPS = {"": 0, "k": 1, "m": 2, "g": 3, "t": 4}
CGROUPS = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")


class UnknownOption(SashError, AttributeError):
    """There is no option of that name."""


def budget() -> int:
    """How many bytes one evaluation in this process may use.

    That is ``memory`` if it is set, else ``$SASH_MEMORY``, else half of what ``spark.executor.pyspark.memory``, or
    another limit on the addresses of this process, leaves of them, else a quarter of this machine's, or container's,
    memory for each core.

    >>> with set(memory="1.5 KB"):
    ...     budget()
    1536
    """
    chosen = asked_memory()
    if chosen is not None:
        return chosen
    if os.environ.get("SASH_MEMORY", "").strip():
        return _bytes("SASH_MEMORY", os.environ["SASH_MEMORY"])
    limit = _addresses()
    if limit is not None:  # of which libraries map more than they use
        return max((limit - _mapped()) // 2, limit // 64, 1 << 20)
    return max(_machine() // 4 // (os.cpu_count() or 1), 1 << 20)


def asked_memory() -> int | None:
    """How many bytes the options ask for; None where they leave it to the place of work."""
    chosen = _chosen["memory"]
    return None if chosen is None else int(chosen)


@contextmanager
def set(**options: Any) -> Iterator[None]:
    """Options for the time of a ``with`` block."""
    before = {name: _chosen[name] for name in options if name in _chosen}
    try:
        for name, value in options.items():
            setattr(sys.modules[__name__], name, value)
        yield
    finally:
        _chosen.update(before)


def _memory(value: Any) -> int | None:
    return None if value is None else _bytes("memory", value)


def _bytes(name: str, value: Any) -> int:
    size = None
    if isinstance(value, int) and not isinstance(value, bool):
        size = value
    elif isinstance(value, str) and (match := SIZE.fullmatch(value)):
        size = int(float(match[1]) * 1024 ** STEPS[match[2].lower()])
    if size is None or size < 1:
        raise SashError(f"{name} must be a number of bytes, such as 2**30, '2g' or '512 MB', got {value!r}")
    return size


def _skew(value: Any) -> bool | str:
    if isinstance(value, bool) or value == "auto":
        return value
    raise SashError(f"skew must be 'auto', True or False, got {value!r}")


def _jobs(value: Any) -> bool:
    if isinstance(value, bool):
        return value
    raise SashError(f"jobs must be True or False, got {value!r}")


def _shards(value: Any) -> int | None:
    if value is None or (isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= 100_000):
        return value
    raise SashError(f"shards must be a whole number from 1 to 100,000, or None, got {value!r}")


def _zone(value: Any) -> str | None:
    if value is None:
        return None
    if isinstance(value, str) and value:
        import pyarrow as pa
        import pyarrow.compute as pc

        try:
            pc.local_timestamp(pa.scalar(0, pa.timestamp("s", value)))
            return value
        except pa.ArrowInvalid:  # no such zone
            pass
    raise SashError(f"zone must be a time zone such as 'Europe/Berlin', or None, got {value!r}")


def _addresses() -> int | None:
    """Bytes of addresses that this process may map; None where there is no limit."""
    limits = [int(os.environ.get("PYSPARK_EXECUTOR_MEMORY_MB", "-1")) << 20]
    try:
        import resource

        limits.append(resource.getrlimit(resource.RLIMIT_AS)[0])
    except ImportError:  # on Windows
        pass
    return min((limit for limit in limits if limit > 0), default=None)


def _mapped() -> int:
    """Bytes of addresses that this process has mapped; 0 where the system does not say."""
    try:
        with open("/proc/self/statm") as file:
            return int(file.read().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError):
        return 0


def _machine() -> int:
    """Bytes of memory of this machine, or of the container if that has less."""
    try:
        sizes = [os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")]
    except (AttributeError, OSError, ValueError):  # on Windows
        sizes = [4 << 30]
    for path in CGROUPS:
        try:
            with open(path) as file:
                sizes.append(int(file.read()))
        except (OSError, ValueError):  # no such file, or "max"
            continue
    return min(size for size in sizes if size > 0)


_CHECKS = {"memory": _memory, "skew": _skew, "jobs": _jobs, "shards": _shards, "zone": _zone}
_chosen: dict[str, Any] = {"memory": None, "skew": "auto", "jobs": True, "shards": None, "zone": None}


class _Options(ModuleType):
    """A module with attributes that are checked when they are set."""

    def __getattr__(self, name: str) -> Any:
        if name in _chosen:
            return _chosen[name]
        if name.startswith("_"):
            raise AttributeError(f"module 'sash.options' has no attribute {name!r}")
        raise UnknownOption(_unknown(name))

    def __setattr__(self, name: str, value: Any) -> None:
        if name.startswith("_"):  # what Python itself keeps in a module
            super().__setattr__(name, value)
        elif name in _CHECKS:
            _chosen[name] = _CHECKS[name](value)
        else:
            raise UnknownOption(_unknown(name))

    def __dir__(self) -> list[str]:
        return sorted([*super().__dir__(), *_chosen])

    def __repr__(self) -> str:
        return "sash.options: " + ", ".join(f"{name}={value!r}" for name, value in _chosen.items())

    def __reduce__(self) -> tuple[Any, ...]:
        return import_module, (__name__,)


def _unknown(name: str) -> str:
    return f"there is no option {name!r}; the options are {', '.join(_chosen)}"


sys.modules[__name__].__class__ = _Options
