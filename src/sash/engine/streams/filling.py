"""Rows for windows without events, between the first and the last window of a key that holds one.

Whether a gap ends is known once a later window of the key is answered: its rows come with that.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import numpy as np
import pyarrow as pa

from sash.engine.streams.assigners.base import LEAST, Positions
from sash.engine.streams.emitting import LastAnswers, WindowAnswers
from sash.engine.streams.restoring import numbers_of, refuse_longer
from sash.engine.streams.scheme import Scheme
from sash.errors import SashError

Fill = bool | Literal["previous"]
PREVIOUS = "previous"
MANY = 1 << 27  # rows that are added at once
NONE = np.zeros(0, np.int64)


def check_fill(scheme: Scheme, emit: str, fill: Any) -> None:
    """Refuse a way of filling that there is not, and boards whose windows are not known without events."""
    if not isinstance(fill, bool) and fill != PREVIOUS:
        raise SashError(f'fill must be True, False or "previous", got {fill!r}')
    if not fill:
        return
    if emit != "final":
        raise SashError(
            f'fill needs emit="final", got {emit!r}: early answers and changes are told of windows that hold an event'
        )
    if scheme.settings.lateness is not None:
        raise SashError("fill is for windows that are answered once, got lateness=, with which late rows may fill them")
    if scheme.spans:
        raise SashError("fill is for events of one moment, got span=: write a query of its own for times without any")
    for assigner in scheme.assigners:
        if not assigner.by_time or not assigner.known_ends:
            raise SashError(
                f"fill needs windows that are there without events, got {assigner.kind} windows; those by time are"
            )


class Filling(LastAnswers):
    """Up to where each key has been answered and, where they are repeated, its last answers."""

    def __init__(self, types: list[pa.DataType], fill: Fill) -> None:
        super().__init__(types if fill == PREVIOUS else [])
        self.fill, self.repeats = fill, fill == PREVIOUS
        self.reached = NONE  # the end of the last window of each key, LEAST where there is none

    def gaps(
        self, positions: Positions, key: np.ndarray, end: np.ndarray, starts: Mapping[int, int]
    ) -> tuple[np.ndarray, np.ndarray]:
        """Keys and ends of the windows between those that are answered now, and those answered last.

        ``starts`` says where the first window of an extent may begin, where that is not at the beginning of time.
        """
        heads = np.append(True, key[1:] != key[:-1])
        self._know(int(key[-1]) + 1)
        before = np.append(LEAST, end[:-1])
        before[heads] = self.reached[key[heads]]
        self.reached[key[np.append(heads[1:], True)]] = end[np.append(heads[1:], True)]
        some = before > LEAST
        key, end, before = key[some], end[some], before[some]
        keys, ends = [NONE], [NONE]
        for spec, assigner in enumerate(positions.assigners):
            grid = assigner.grid
            if not len(key):
                break
            first, last = grid.ending(before, end - 1)
            counts = np.maximum(last - first + 1, 0)
            count = int(counts.sum())
            if count > MANY:
                raise SashError(
                    f"fill would add {count:,} rows at once, of windows without events; have a longer slide, or leave "
                    "out keys with few events"
                )
            if not count:
                continue
            windows = np.arange(count) + np.repeat(first - (np.cumsum(counts) - counts), counts)
            of_gaps = np.repeat(key, counts), grid.ends(windows)
            if spec in starts:
                whole = grid.starts_of(of_gaps[1]) >= starts[spec]
                of_gaps = of_gaps[0][whole], of_gaps[1][whole]
            keys.append(of_gaps[0])
            ends.append(of_gaps[1])
        return np.concatenate(keys), np.concatenate(ends)

    def most(self, positions: Positions, keys: np.ndarray, first: np.ndarray, last: np.ndarray) -> np.ndarray:
        """How many windows of some keys there may be at most, given their first and last cells or rows."""
        self._know(int(keys[-1]) + 1)
        before, counts = np.where(self.reached[keys] > LEAST, self.reached[keys], first), np.zeros(len(keys), np.int64)
        for assigner in positions.assigners:
            windows = assigner.grid.ending(before, assigner.last_ends(last))
            counts += np.maximum(windows[1] - windows[0] + 1, 0)
        return counts

    def repeated(self, answers: WindowAnswers) -> WindowAnswers:
        """Answers to windows without events are those given last, where there are any."""
        if not self.repeats:
            return answers
        rows = np.arange(len(answers))
        head = np.append(True, answers.key[1:] != answers.key[:-1])
        first = np.maximum.accumulate(np.where(head, rows, 0))  # of the same key
        columns = []
        for k, column in enumerate(answers.columns):
            due = np.ones(len(rows), np.bool_) if answers.due[k] is None else answers.due[k]
            held = due & answers.held[k]
            source = np.maximum.accumulate(np.where(held, rows, -1))
            known = len(self.keys[k])
            kept = np.searchsorted(self.keys[k], answers.key)
            there = kept < known
            there[there] = self.keys[k][kept[there]] == answers.key[there]
            places = np.where(source >= first, known + source, np.where(there, kept, known + rows))
            places = np.where(due & ~held, places, known + rows)
            columns.append(pa.concat_arrays([self.last[k], column]).take(pa.array(places)))
            some = np.flatnonzero(held)
            tail = some[np.append(answers.key[some][1:] != answers.key[some][:-1], True)[: len(some)]]
            self._tell(k, answers.key[tail], column.take(pa.array(tail)))
        return answers.with_columns(columns)

    def _know(self, keys: int) -> None:
        if keys > len(self.reached):
            self.reached = np.append(self.reached, np.full(keys - len(self.reached), LEAST))

    @property
    def size(self) -> int:
        """About how many bytes it has."""
        return super().size + self.reached.nbytes

    def of_keys(self, numbers: np.ndarray) -> Filling:
        """The same of some keys, which are sorted, and are numbered anew."""
        some = Filling([last.type for last in self.last], self.fill)
        self._know(int(numbers.max(initial=-1)) + 1)
        some.keys, some.last = self._of_keys(numbers)
        some.reached = self.reached[numbers]
        return some

    def parts(self) -> dict[str, Any]:
        """All that must be kept to go on later."""
        return {"filled": self.reached, **super().parts()}

    def restore(self, parts: dict[str, Any], keys: int) -> None:
        """Go on with what was kept of so many keys."""
        super().restore(parts, keys)
        self.reached = numbers_of(parts, "filled", None)
        refuse_longer(self.reached, "filled", keys)
