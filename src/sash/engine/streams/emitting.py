"""What of the answers is given: each window once, only answers that changed, or early ones, too."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from sash.engine.encoding import biased, equality_key
from sash.engine.streams.restoring import numbers_of, refuse_disorder, refused, table_of
from sash.engine.tables import one_array
from sash.kernels.sorting import argsort

EMITS = ("final", "changes", "updates")


class WindowAnswers:
    """Answers of windows, sorted by key and end: what is shown, and a column for each query, NULL where not due."""

    def __init__(
        self,
        key: np.ndarray,
        end: np.ndarray,
        shown: np.ndarray,
        columns: list[pa.Array],
        starts: list[pa.Array],
        due: list[np.ndarray | None],
        held: list[np.ndarray] | None = None,
    ) -> None:
        self.key, self.end, self.shown = key, end, shown
        self.columns, self.starts, self.due = columns, starts, due  # due: which rows; None for all
        self.held = held or []  # where windows without events are filled: which rows have one
        self.revision: np.ndarray | None = None  # how often these were given before; None for never

    def __len__(self) -> int:
        return len(self.key)

    def take(self, rows: np.ndarray) -> WindowAnswers:
        """Some of the answers."""
        places = pa.array(rows)
        some = WindowAnswers(
            self.key[rows],
            self.end[rows],
            self.shown[rows],
            [column.take(places) for column in self.columns],
            [column.take(places) for column in self.starts],
            [None if due is None else due[rows] for due in self.due],
            [held[rows] for held in self.held],
        )
        some.revision = None if self.revision is None else self.revision[rows]
        return some

    def with_columns(self, columns: list[pa.Array]) -> WindowAnswers:
        """The same windows with other answers."""
        return WindowAnswers(self.key, self.end, self.shown, columns, self.starts, self.due, self.held)

    def by_end(self) -> WindowAnswers:
        """The answers in the order of their ends, and then of keys as these first came."""
        if not len(self) or self.key[0] == self.key[-1]:
            return self
        return self.take(argsort([biased(self.end), self.key.view(np.uint64)]))


def matches(key: np.ndarray, end: np.ndarray, keys: np.ndarray, ends: np.ndarray) -> np.ndarray:
    """The place of each window among others, -1 where it is not; each is there once."""
    both = np.concatenate([keys, key]), np.concatenate([ends, end])
    order = argsort([both[0].view(np.uint64), biased(both[1])])
    same = np.zeros(len(order), np.bool_)
    same[1:] = (both[0][order[1:]] == both[0][order[:-1]]) & (both[1][order[1:]] == both[1][order[:-1]])
    out = np.full(len(key), -1)
    out[order[same].astype(np.int64) - len(keys)] = order[np.flatnonzero(same) - 1]  # the other one comes first
    return out


class LastAnswers:
    """The last answer of each query and key."""

    def __init__(self, types: list[pa.DataType]) -> None:
        self.keys = [np.zeros(0, np.int64) for _ in types]
        self.last = [pa.array([], dtype) for dtype in types]

    @property
    def size(self) -> int:
        """About how many bytes it has."""
        return sum(8 * len(keys) + last.nbytes for keys, last in zip(self.keys, self.last, strict=True))

    def _tell(self, k: int, keys: np.ndarray, values: pa.Array) -> None:
        stay = ~np.isin(self.keys[k], keys)
        merged = np.concatenate([self.keys[k][stay], keys])
        both = pa.concat_arrays([self.last[k].filter(pa.array(stay)), values])
        order = np.argsort(merged)
        self.keys[k], self.last[k] = merged[order], both.take(pa.array(order))

    def _of_keys(self, numbers: np.ndarray) -> tuple[list[np.ndarray], list[pa.Array]]:
        """The last answers of some keys, which are sorted, and are numbered anew."""
        stays = [np.isin(keys, numbers) for keys in self.keys]
        return (
            [np.searchsorted(numbers, keys[stay]) for keys, stay in zip(self.keys, stays, strict=True)],
            [last.filter(pa.array(stay)) for last, stay in zip(self.last, stays, strict=True)],
        )

    def parts(self) -> dict[str, Any]:
        """All that must be kept to go on later."""
        parts: dict[str, Any] = {}
        for k, (keys, last) in enumerate(zip(self.keys, self.last, strict=True)):
            parts |= {f"last key {k}": keys, f"last {k}": pa.table({"last": last})}
        return parts

    def restore(self, parts: dict[str, Any], keys: int) -> None:
        """Go on with what was kept of so many keys."""
        for k, last in enumerate(self.last):
            name = f"last key {k}"
            if name in parts:  # not of a query that was added since
                self.keys[k] = numbers_of(parts, name, None, 0, keys - 1)
                if (self.keys[k][1:] <= self.keys[k][:-1]).any():
                    raise refused(name, "keys in order, each once", "others")
                schema = pa.schema([("last", last.type)])
                self.last[k] = one_array(table_of(parts, f"last {k}", schema, len(self.keys[k]))["last"])


class Changes(LastAnswers):
    """Only answers that differ from the last of their query and key are given: IStream of the 2015 paper."""

    def changed(self, answers: WindowAnswers) -> WindowAnswers:
        """The answers of which some query's differs from its last."""
        differs = np.zeros(len(answers), np.bool_)
        for k, column in enumerate(answers.columns):
            due = answers.due[k]
            rows = np.arange(len(answers)) if due is None else np.flatnonzero(due)
            if not len(rows):
                continue
            key, values = answers.key[rows], column if due is None else column.take(pa.array(rows))
            known = len(self.keys[k])
            words = equality_key(pa.concat_arrays([self.last[k], values]))
            head = np.append(True, key[1:] != key[:-1])
            new, before = words[known:], np.append(np.uint64(0), words[known:-1])
            different = new != before
            place = np.searchsorted(self.keys[k], key[head])
            there = place < known
            there[there] = self.keys[k][place[there]] == key[head][there]
            changed = np.ones(len(place), np.bool_)
            changed[there] = words[place[there]] != new[head][there]
            different[head] = changed
            differs[rows[different]] = True
            tail = np.append(head[1:], True)
            self._tell(k, key[tail], values.take(pa.array(np.flatnonzero(tail))))
        return answers.take(np.flatnonzero(differs))

    def of_keys(self, numbers: np.ndarray) -> Changes:
        """The last answers of some keys, which are sorted, and are numbered anew."""
        some = Changes([last.type for last in self.last])
        some.keys, some.last = self._of_keys(numbers)
        return some


class Updates:
    """The early answers of open windows that were given, so that only others are."""

    def __init__(self, types: list[pa.DataType]) -> None:
        self.key, self.end = np.zeros(0, np.int64), np.zeros(0, np.int64)
        self.early = [pa.array([], dtype) for dtype in types]
        self._open: list[tuple[np.ndarray, np.ndarray, list[pa.Array]]] = []

    def changed(self, answers: WindowAnswers, remember: bool) -> WindowAnswers:
        """The answers that were not given like that before; ``remember`` those of windows that stay open."""
        lo, hi = np.searchsorted(self.key, answers.key[0]), np.searchsorted(self.key, answers.key[-1], "right")
        count = hi - lo  # of the same keys
        place = matches(answers.key, answers.end, self.key[lo:hi], self.end[lo:hi])
        new = np.flatnonzero(place >= 0)
        old = place[new]
        differs = np.ones(len(answers), np.bool_)
        differs[new] = False
        for early, column in zip(self.early, answers.columns, strict=True):
            keys = equality_key(pa.concat_arrays([early.slice(lo, count), column]))
            differs[new] |= keys[old] != keys[count + new]
        if remember:
            self._open.append((answers.key, answers.end, list(answers.columns)))
        return answers.take(np.flatnonzero(differs))

    @property
    def size(self) -> int:
        """About how many bytes it has."""
        return 16 * len(self.key) + sum(early.nbytes for early in self.early)

    def remembered(self) -> None:
        """All open windows have been seen: only what was remembered of these is known from here on."""
        none = (self.key[:0], self.end[:0], [early.slice(0, 0) for early in self.early])
        keys, ends, columns = zip(none, *self._open, strict=True)
        self._open = []
        self.key, self.end = np.concatenate(keys), np.concatenate(ends)
        self.early = [pa.concat_arrays(parts) for parts in zip(*columns, strict=True)]

    def of_keys(self, numbers: np.ndarray) -> Updates:
        """The early answers of some keys, which are sorted, and are numbered anew."""
        stay, some = np.isin(self.key, numbers), Updates([early.type for early in self.early])
        some.key, some.end = np.searchsorted(numbers, self.key[stay]), self.end[stay]
        some.early = [early.filter(pa.array(stay)) for early in self.early]
        return some

    def parts(self) -> dict[str, Any]:
        """All that must be kept to go on later."""
        tables = {f"told {k}": pa.table({"told": column}) for k, column in enumerate(self.early)}
        return {"told key": self.key, "told end": self.end, **tables}

    def restore(self, parts: dict[str, Any], keys: int) -> None:
        """Go on with what was kept of so many keys."""
        self.key = numbers_of(parts, "told key", None, 0, keys - 1)
        self.end = numbers_of(parts, "told end", len(self.key))
        refuse_disorder(self.key, self.end, "answers told", once=True)
        for k, early in enumerate(self.early):
            name, schema = f"told {k}", pa.schema([("told", early.type)])
            if name in parts:
                self.early[k] = one_array(table_of(parts, name, schema, len(self.key))["told"])
            else:  # of a query that was added since
                self.early[k] = pa.nulls(len(self.key), early.type)
