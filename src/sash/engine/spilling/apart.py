"""Rows that come in batches, in groups that fit memory: equal keys in one, through files where there are more."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import pyarrow as pa

from sash.engine.memory_need import said
from sash.engine.sizes import total_bytes
from sash.engine.spilling.row_files import Directory
from sash.engine.spilling.splitting import KeySplit, split
from sash.errors import SashError

KEY = "__sash_key_"


def groups(
    tables: Iterable[pa.Table],
    keys: Callable[[pa.Table], Sequence[Any]],
    names: Sequence[str],
    budget: int,
    factor: int = 8,
) -> Iterator[Iterator[pa.Table]]:
    """Rows whose keys are computed by a function and called by names, a group at a time.

    A group is of no more bytes than a budget has room for ``factor`` times. A key with more is an error.

    >>> rows = pa.table({"k": [1, 2, 3, 4] * 100})
    >>> found = groups([rows], lambda table: [table["k"]], ["k"], budget=16_000)
    >>> sorted(sorted(set(pa.concat_tables(group)["k"].to_pylist())) for group in found)
    [[1], [2], [3], [4]]
    """
    waiting: deque[pa.Table] = deque()
    source, size = iter(tables), 0
    for table in source:
        waiting.append(table)
        size += total_bytes(table)
        if factor * size > budget:
            break
    else:
        yield _drained(waiting, iter(()))
        return
    if not names:
        size += sum(total_bytes(table) for table in source)
        raise _too_large("a stream without a key", size, factor, budget)
    columns = [f"{KEY}{k}" for k in range(len(names))]
    with Directory() as disk:
        keyed = (_keyed(table, keys(table), columns) for table in _drained(waiting, source))
        parts = deque((part, 1) for part in split(keyed, columns, budget, 0, disk))
        while parts:
            part, level = parts.popleft()
            if factor * part.rows.size <= budget:
                yield (table.drop_columns(columns) for table in part.rows.tables())
            elif part.single:
                raise _too_large(_named(part, names, columns), part.rows.size, factor, budget)
            else:
                parts += ((each, level + 1) for each in split(part.rows.tables(), columns, budget, level, disk))
            part.rows.remove()


def _keyed(table: pa.Table, keys: Sequence[Any], columns: Sequence[str]) -> pa.Table:
    for name, key in zip(columns, keys, strict=True):
        table = table.append_column(name, key)
    return table


def _drained(waiting: deque[pa.Table], source: Iterator[pa.Table]) -> Iterator[pa.Table]:
    while waiting:
        yield waiting.popleft()
    yield from source


def _named(part: KeySplit, names: Sequence[str], columns: Sequence[str]) -> str:
    row = next(part.rows.tables()).select(columns).slice(0, 1).to_pylist()[0]
    return "the key " + ", ".join(f"{name} = {row[column]!r}" for name, column in zip(names, columns, strict=True))


def _too_large(what: str, size: int, factor: int, budget: int) -> SashError:
    return SashError(
        f"{what} has rows of about {said(size)} in one task, for which a worker needs {said(factor * size)} and may "
        f"use {said(budget)}: set sash.options.memory (or SASH_MEMORY), or have further keys"
    )
