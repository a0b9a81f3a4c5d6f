"""Answers that are given again: what late rows change of windows that stay for a while after their answer.

Before late rows join the others, the windows that hold them are asked for their answers; these are compared with what
the same windows answer at the end of the push. So nothing is kept of windows that no late row comes to, and of the
others the number of the last revision alone. Windows that merge are looked up by key: of a key that late rows came to,
all that were answered are compared with all that there are then, and one that is no more is given again as NULL.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from sash.engine.encoding import biased, equality_key
from sash.engine.streams.assigners.base import LEAST, MOST
from sash.engine.streams.assigners.by_time import TimePositions
from sash.engine.streams.buffer import Buffer
from sash.engine.streams.cells import Cells
from sash.engine.streams.emitting import WindowAnswers, matches
from sash.engine.streams.ended_windows import EndedWindows, union_of_windows
from sash.engine.streams.limits import Limits
from sash.engine.streams.restoring import flags_of, numbers_of, refuse_disorder, refused, table_of, whole_of
from sash.engine.streams.scheme import Scheme
from sash.engine.tables import one_array
from sash.errors import SashError
from sash.kernels.sorting import argsort

FORMAT = 1  # of what is kept
NONE = np.zeros(0, np.int64)


def check_lateness(scheme: Scheme, emit: str) -> None:
    """Refuse to give answers again in a way that gives them otherwise."""
    if scheme.settings.lateness is not None and emit in ("changes", "updates"):
        raise SashError(
            f'lateness needs emit="final", got {emit!r}: a revision is told from the answer that was final before it'
        )


@dataclass
class KeyedMoments:
    """Windows, rows or cells, sorted by key and position."""

    key: np.ndarray
    at: np.ndarray


class Revisions:
    """The windows that late rows came to since answers were given, as they were; and how often each was given again."""

    def __init__(self, types: list[pa.DataType], merging: bool = False) -> None:
        self.key, self.end, self.number = NONE, NONE, NONE  # of windows that were given again
        self.merging = merging
        self.noted = NONE  # keys that late rows came to, sorted: all of their windows that merge are known
        self.touched = KeyedMoments(NONE, NONE)  # keys and ends, sorted
        self.held = np.zeros(0, np.bool_)  # whether they had been given
        self.before = [pa.array([], dtype) for dtype in types]

    # While rows come

    def note(
        self,
        windows: EndedWindows,
        positions: TimePositions,
        cells: Cells,
        buffer: Buffer,
        codes: np.ndarray,
        at: np.ndarray,
    ) -> None:
        """See what the windows answer that rows or cells are late for, before these join the others."""
        key, end = _late_for(windows, positions, codes, at)
        known = self.noted
        if self.merging and positions.passed not in (LEAST, MOST):
            fresh = np.setdiff1d(codes[at < positions.passed], known)
            key, end = union_of_windows([(key, end), *_merged_of(positions, cells, fresh)])[:2]
            self.noted = np.union1d(known, fresh)
        new = matches(key, end, self.touched.key, self.touched.at) < 0
        key, end = key[new], end[new]
        if not len(key):
            return
        for answers, held, _ in _answers_of(windows, positions, cells, buffer, key, end, None, known):
            order_key, order_end = np.append(self.touched.key, key), np.append(self.touched.at, end)
            order = argsort([order_key.view(np.uint64), biased(order_end)])
            self.touched = KeyedMoments(order_key[order], order_end[order])
            self.held = np.append(self.held, held)[order]
            self.before = [
                pa.concat_arrays(pair).take(pa.array(order))
                for pair in zip(self.before, self._compared(answers), strict=True)
            ]

    # When answers are given

    def changed(
        self, windows: EndedWindows, positions: TimePositions, cells: Cells, buffer: Buffer, limits: Limits | None
    ) -> Iterator[WindowAnswers]:
        """The answers that late rows changed, each with the number of its revision."""
        touched, count = self.touched, 0
        key, end, _ = union_of_windows([(touched.key, touched.at), *_merged_of(positions, cells, self.noted)])
        place = matches(key, end, touched.key, touched.at)
        for answers, held, fixed in _answers_of(windows, positions, cells, buffer, key, end, limits):
            at = place[count : count + len(answers)]
            known, count = at >= 0, count + len(answers)
            was_held = fixed  # of a window of others where one ends now that has merged
            was_held[known] = self.held[at[known]]
            differs = ~known | (was_held != held)
            for before, column in zip(self.before, self._compared(answers), strict=True):
                words = equality_key(pa.concat_arrays([before.take(pa.array(at, mask=~known)), column]))
                differs |= words[: len(answers)] != words[len(answers) :]
            rows = np.flatnonzero(differs & (held | was_held))
            given = answers.take(rows)
            given.revision = self._numbered(given.key, given.end, was_held[rows])
            yield given
        self.touched, self.held, self.noted = KeyedMoments(NONE, NONE), self.held[:0], NONE
        self.before = [before.slice(0, 0) for before in self.before]

    def _compared(self, answers: WindowAnswers) -> list[pa.Array]:
        """The columns of which a change is a revision: where windows merge, their starts, too."""
        return [*answers.columns, *answers.starts] if self.merging else answers.columns

    def _numbered(self, key: np.ndarray, end: np.ndarray, held: np.ndarray) -> np.ndarray:
        """The numbers of revisions: windows that had no row before, and so no answer, have their first."""
        place = matches(key, end, self.key, self.end)
        number = np.where(held, 1, 0)
        number[place >= 0] = self.number[place[place >= 0]] + 1
        stay = np.ones(len(self.key), np.bool_)
        stay[place[place >= 0]] = False
        parts = ((self.key[stay], key[held]), (self.end[stay], end[held]), (self.number[stay], number[held]))
        self.key, self.end, self.number = map(np.concatenate, parts)
        order = argsort([self.key.view(np.uint64), biased(self.end)])
        self.key, self.end, self.number = self.key[order], self.end[order], self.number[order]
        return number

    def lapse(self, bygone: int) -> None:
        """Forget windows that are not given again."""
        if len(self.end) and (stay := self.end > bygone).sum() < len(self.end):
            self.key, self.end, self.number = self.key[stay], self.end[stay], self.number[stay]

    # What is kept

    @property
    def size(self) -> int:
        """About how many bytes it has."""
        return (
            24 * len(self.key)
            + 8 * len(self.noted)
            + 17 * len(self.held)
            + sum(before.nbytes for before in self.before)
        )

    def of_keys(self, numbers: np.ndarray) -> Revisions:
        """The same of some keys, which are sorted, and are numbered anew."""
        some = Revisions([before.type for before in self.before], self.merging)
        some.noted = np.searchsorted(numbers, np.intersect1d(self.noted, numbers))
        stay, waits = np.isin(self.key, numbers), np.isin(self.touched.key, numbers)
        some.key, some.end, some.number = np.searchsorted(numbers, self.key[stay]), self.end[stay], self.number[stay]
        some.touched = KeyedMoments(np.searchsorted(numbers, self.touched.key[waits]), self.touched.at[waits])
        some.held, some.before = self.held[waits], [before.filter(pa.array(waits)) for before in self.before]
        return some

    def parts(self) -> dict[str, Any]:
        """All that must be kept to go on later."""
        return {
            "revisions": FORMAT,
            **{"revised key": self.key, "revised end": self.end, "revised": self.number},
            **{"touched key": self.touched.key, "touched end": self.touched.at, "touched": self.held.view(np.uint8)},
            **{f"touched {k}": pa.table({"before": before}) for k, before in enumerate(self.before)},
            **({"noted": self.noted} if self.merging else {}),
        }

    def restore(self, parts: dict[str, Any], keys: int) -> None:
        """Go on with what was kept of so many keys."""
        if (number := whole_of(parts, "revisions")) != FORMAT:
            raise refused("revisions", f"of format {FORMAT}", f"format {number}")
        self.key = numbers_of(parts, "revised key", None, 0, keys - 1)
        self.end = numbers_of(parts, "revised end", len(self.key))
        self.number = numbers_of(parts, "revised", len(self.key), 0)
        refuse_disorder(self.key, self.end, "windows given again", once=True)
        key = numbers_of(parts, "touched key", None, 0, keys - 1)
        self.touched = KeyedMoments(key, numbers_of(parts, "touched end", len(key)))
        refuse_disorder(key, self.touched.at, "windows that late rows came to", once=True)
        self.held = flags_of(parts, "touched", len(key)).view(np.bool_)
        self.noted = np.unique(numbers_of(parts, "noted", None, 0, keys - 1)) if self.merging else NONE
        for k, before in enumerate(self.before):
            if f"touched {k}" in parts:
                schema = pa.schema([("before", before.type)])
                self.before[k] = one_array(table_of(parts, f"touched {k}", schema, len(key))["before"])
            else:  # of a query that was added since
                self.before[k] = pa.nulls(len(key), before.type)


def _late_for(
    windows: EndedWindows, positions: TimePositions, codes: np.ndarray, at: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Keys and ends of windows that were answered, may be answered again, and hold some of these rows or cells."""
    late = np.flatnonzero(at < positions.passed)
    if positions.passed in (LEAST, MOST) or not len(late):
        return NONE, NONE
    order = argsort([codes[late].view(np.uint64), biased(at[late])])
    store = KeyedMoments(codes[late][order], at[late][order])
    ended = []
    for spec, assigner in enumerate(positions.assigners):
        if assigner.merges:
            continue
        key, end = assigner.ended(store, positions.bygone, positions.passed)
        if spec in windows.least_starts:
            whole = assigner.starts(key, end, store) >= windows.least_starts[spec]
            key, end = key[whole], end[whole]
        ended.append((key, end))
    return union_of_windows([(NONE, NONE), *ended])[:2]


def _merged_of(positions: TimePositions, cells: Cells, keys: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
    """Of each extent whose windows merge, keys and ends of those of some keys that were answered and stay."""
    found = []
    for assigner in positions.assigners:
        if assigner.merges and len(keys):
            key, end = assigner.ended(cells.compact(), positions.bygone, positions.passed)
            some = np.isin(key, keys)
            found.append((key[some], end[some]))
    return found


def _answers_of(
    windows: EndedWindows,
    positions: TimePositions,
    cells: Cells,
    buffer: Buffer,
    key: np.ndarray,
    end: np.ndarray,
    limits: Limits | None,
    changed: np.ndarray = NONE,
) -> Iterator[tuple[WindowAnswers, np.ndarray, np.ndarray]]:
    """The answers of some windows, sorted by key and end, as they are now, and which of them hold an event.

    With these goes which do by windows that do not merge. Of keys that have ``changed``, none that merges is told.
    """
    scheme, most = windows.scheme, len(key) if limits is None else limits.answers
    if scheme.buffered:
        buffer.compact()
    forest = None
    if scheme.folded:
        forest = cells.planted() if cells.forest is not None else None
    if forest is not None and len(key):
        forest.know(int(key[-1]) + 1)  # rows that are late may be the first of their keys
    store: Any = None if forest is not None else cells.compact() if scheme.by_cells else buffer
    merged = {spec: assigner.ended(store, positions.bygone, positions.passed)
              for spec, assigner in enumerate(positions.assigners) if assigner.merges and len(key)}  # fmt: skip
    for first in range(0, len(key), max(most, 1)):
        keys, ends = key[first : first + most], end[first : first + most]
        due, held, fixed = [], np.zeros(len(keys), np.bool_), np.zeros(len(keys), np.bool_)
        for spec, assigner in enumerate(positions.assigners):
            mask = assigner.ends_at(ends)
            if mask is None:
                mask = (matches(keys, ends, *merged[spec]) >= 0) & ~np.isin(keys, changed)
            starts = assigner.starts(keys[mask], ends[mask], store)
            if forest is not None:
                lo, hi, _ = forest.ranges(keys[mask], starts, ends[mask])
            else:
                lo, hi = positions.bounds(spec, store, keys[mask], starts, ends[mask])
            some = (lo < hi) & (starts >= windows.least_starts.get(spec, LEAST))
            held[mask] |= some
            fixed[mask] |= some & (not assigner.merges)
            due.append(None if mask.all() else mask)
        yield windows.answered(positions, cells, buffer, store, keys, ends, ends, due), held, fixed
