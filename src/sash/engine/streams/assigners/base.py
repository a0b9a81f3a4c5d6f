"""Assigners: what gives rows their windows, an object for each extent, a file for each kind.

An ``Assigner`` is of one extent. It is made once, with the plan of a stream; what it says of its windows is all that
the rest of the engine knows of their kind. ``Positions`` are of one operator: where rows of all keys lie, and which
windows of its assigners have been answered. Assigners of one kind of positions go together on a board.

A further kind is a file beside this one with an ``Assigner`` that ``takes`` a further extent (a file of
``sash.windows`` says how a user writes it), and nothing else: whatever is in this folder is found.

- Windows by event time (also sessions, windows that grow by steps): subclass ``EventTimeAssigner`` of ``by_time``,
  whose docstring says what is asked of it. They share slices, the watermark and the state with other windows by time.
- Windows by anything else: subclass ``Assigner``, and ``Positions`` for where its rows lie.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar, NamedTuple, Protocol, Self

import numpy as np
import pyarrow as pa

from sash.engine.streams.partial_layouts import PartialLayout
from sash.engine.streams.queries import Settings
from sash.engine.streams.restoring import refused
from sash.errors import SashError
from sash.kernels.slices.board_windows import GridArrays
from sash.kernels.slices.due import bounds_of
from sash.windows.grids import CalendarGrid, Grid
from sash.windows.intervals import Interval

LEAST, MOST = -(2**63), 2**63 - 1
NONE = np.zeros(0, np.int64)
MISSED = "__sash_missed"  # the column of rows that says which windows they are no more of, a bit for each extent


class AssignedStream(Protocol):
    """What an assigner knows of its stream: a ``Scheme`` is one."""

    @property
    def schema(self) -> pa.Schema:
        """Its columns."""

    @property
    def settings(self) -> Settings:
        """What holds for all of its queries."""

    @property
    def time_type(self) -> pa.DataType:
        """The type of event times as answers show them."""

    @property
    def unit(self) -> str:
        """The unit of event times."""

    @property
    def specs(self) -> dict[Any, int]:
        """The number of each extent, by its key."""

    @property
    def bounds(self) -> dict[int, int]:
        """Of each extent with an ``own_partial``, the number of it."""

    @property
    def own_partials(self) -> dict[int, tuple[int, ...]]:
        """Of each extent whose windows merge, the numbers of all partials that are of it alone."""

    @property
    def buffered(self) -> tuple[int, ...]:
        """The numbers of the queries for which rows are buffered."""

    def ticks(self, argument: str, interval: Interval) -> int:
        """How many units of event time an interval is."""


class SortedStore(Protocol):
    """Cells or rows, sorted by key and position: what windows are found in."""

    key: np.ndarray
    at: np.ndarray


class OwnPartial(NamedTuple):
    """A partial that cells hold for one extent, whatever is asked of its windows; and what it is known by when kept."""

    layout: PartialLayout
    format: int
    meaning: str


class Assigner(ABC):
    """The windows of one extent: what a plan asks of them.

    What it must say: which extents it ``takes``, the ``kind`` in the user's words, the ``positions`` that it goes
    with, and what ``check`` refuses. What it may say otherwise than here stands below, each with its default.
    """

    kind: ClassVar[str]  # as in "windows by time"
    positions: ClassVar[type[Positions]]  # kinds with the same go together on a board

    by_time: ClassVar[bool] = False  # positions are event times: the watermark ends windows, and rows need no order
    holds_spans: ClassVar[bool] = False  # whether events may last
    folds: ClassVar[bool] = True  # whether windows are made of slices; otherwise rows are buffered
    known_ends: ClassVar[bool] = True  # whether ends are known before they come, as early answers need it
    known_starts: ClassVar[bool] = True  # whether starts can be shown
    merges: ClassVar[bool] = False  # whether rows to come join windows: these have bounds and partials of their own
    whole_rows: ClassVar[bool] = False  # whether rows may be set aside as they are numbered: all columns are kept

    def __init__(self, extent: Any, stream: AssignedStream) -> None:
        """Take an extent; nothing is checked, or computed, yet."""
        self.extent, self.stream = extent, stream

    @classmethod
    @abstractmethod
    def takes(cls, extent: Any) -> bool:
        """Whether an extent is of this kind."""

    def check(self) -> None:
        """Refuse what does not go with the stream's columns or settings."""
        settings = self.stream.settings
        if settings.spans is not None and not self.holds_spans:
            raise SashError(f"range must be by time for events that last, such as '15 minutes', got {self.extent}")
        if settings.offset and not self.by_time:
            raise SashError(f"offset is for windows by time, got {settings.offset} for windows by {self.kind}")
        if settings.lateness is not None:
            self.check_lateness()

    def check_lateness(self) -> None:
        """Refuse windows that cannot be answered again."""
        if self.stream.settings.spans is not None:
            raise SashError("lateness is for events of one moment, got span=, with which postpone= says how long "
                            "windows wait")  # fmt: skip
        if not self.by_time:
            raise SashError(f"lateness needs windows by time, or sessions, got {self.kind} windows")

    def check_beside(self, first: Assigner) -> None:
        """Refuse what does not go with the first extent of the board, which has the same positions."""
        return

    @property
    def grid(self) -> Grid | CalendarGrid | None:
        """The windows as a grid, where they are one."""
        return None

    @property
    def cuts(self) -> tuple[Grid | CalendarGrid, ...]:
        """Grids at whose starts and ends slices must begin, so that each window is a run of whole slices."""
        return () if self.grid is None else (self.grid,)

    @property
    def margin(self) -> int:
        """How far from a row a window that holds it may begin or end, in ticks, but for the offset."""
        return 0

    @property
    def columns(self) -> tuple[Any, ...]:
        """Expressions that must be kept of a row to give it a position."""
        return ()

    @property
    @abstractmethod
    def end_type(self) -> pa.DataType:
        """The type of ``window_end``."""

    @property
    def start_type(self) -> pa.DataType:
        """The type of starts that are shown."""
        return pa.int64()

    @property
    def own_partial(self) -> OwnPartial | None:
        """What cells hold for it beside what queries ask, such as the bounds of their rows."""
        return None

    def lift_own(self, table: pa.Table, time: np.ndarray) -> tuple[np.ndarray, ...]:
        """What that partial lifts of rows."""
        return ()

    def holds(self, table: pa.Table) -> np.ndarray | None:
        """Which rows may be of its windows; None for all."""
        return None

    def opened(self) -> Self:
        """What an operator has of it: itself, or, where it keeps something between batches, a copy of its own."""
        return self

    # In words

    @property
    def words(self) -> list[str]:
        """Lines of a plan on slices that are no grid."""
        return []

    def length(self, ticks: int) -> str:
        """A distance of positions in words."""
        return f"{ticks:,} rows"

    def cost(self, combines: float) -> str:
        """How many combines there are in words, given how many for each position."""
        return f"combines: {1 + combines:.3g} for each row of a key, one of them into its slice"


class Numbered(NamedTuple):
    """The positions of rows that have one; which rows these are, None for all; and why others have none."""

    at: np.ndarray
    rows: np.ndarray | None = None
    reason: str = ""


class Ending(NamedTuple):
    """Windows that end, whether they hold a row or not, sorted by key and end; without keys, the same of each."""

    keys: np.ndarray | None
    starts: np.ndarray
    ends: np.ndarray


class Positions(ABC):
    """Where rows of an operator lie, and its windows by extent, each known by its key and its end.

    A ``store`` is of cells or rows, sorted by key and position; it may be of some keys alone.
    """

    kind: ClassVar[str]  # by what windows are cut, as kept state says it
    passed = LEAST  # windows by time that end up to here have been answered

    def __init__(self, assigners: Sequence[Any]) -> None:
        self.assigners: tuple[Any, ...] = tuple(each.opened() for each in assigners)

    @property
    def grids(self) -> GridArrays | None:
        """The windows of all extents as grids over positions, where all are."""
        return None

    @abstractmethod
    def number(self, codes: np.ndarray, keys: int, table: pa.Table, time: np.ndarray | None) -> Numbered:
        """The position of each row that counts."""

    @abstractmethod
    def ended(self, spec: int, store: SortedStore, upto: int) -> tuple[np.ndarray, np.ndarray]:
        """Keys and ends of windows that hold a row and have ended, sorted; ``upto`` is where the watermark is."""

    @abstractmethod
    def counts(self, spec: int, store: SortedStore, upto: int, out: np.ndarray) -> None:
        """Add to a number for each key that there is, in order, how many such windows it has."""

    def ends_by(self, upto: int) -> bool:
        """Whether a window may have ended since the last were answered."""
        return True

    def ends_at(self, spec: int, ends: np.ndarray) -> np.ndarray | None:
        """Whether a window ends at some positions, with rows or without; None where only those that ended do."""
        return None

    def ending(self, spec: int, upto: int, most: int) -> Ending | None:
        """The windows that have ended, as they are known without rows; None where they are not, or more than so many.

        Where all extents say them, and ``cuts`` what is left of cells, a push costs as much as it brings, and ends.
        """
        return None

    def cuts(self) -> tuple[np.ndarray | None, np.ndarray]:
        """Positions before which no window needs a cell any more, one for all keys, or those of some keys."""
        raise NotImplementedError

    @abstractmethod
    def starts(self, spec: int, keys: np.ndarray, ends: np.ndarray, store: Any) -> np.ndarray:
        """Where windows begin."""

    def bounds(
        self, spec: int, store: SortedStore, keys: np.ndarray, starts: np.ndarray, ends: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Where the cells or rows of each window begin and end in a store; both only move forward."""
        return bounds_of(store.key, store.at, keys, starts, ends)

    def shown(self, keys: np.ndarray, ends: np.ndarray) -> np.ndarray:
        """What a user sees as the ends of windows."""
        return ends

    @abstractmethod
    def passes(self, upto: int) -> None:
        """All windows that have ended by now were answered."""

    @abstractmethod
    def needed(self, store: Any) -> np.ndarray:
        """Which rows or cells a window may still hold."""

    def forget_answered(self, cells: Any, buffer: Any) -> int:
        """Let go of what later rows must not join, as it has been answered; gives how many rows that was of."""
        return 0

    def coarsen(self, cells: Any) -> None:
        """Make fewer cells of those that are left, where windows are the same with these."""
        return

    def reached_by(self, keys: np.ndarray) -> np.ndarray:
        """The position up to which all windows of some keys have surely been answered."""
        return np.full(len(keys), LEAST)

    def of_keys(self, numbers: np.ndarray) -> dict[str, Any]:
        """The same as ``parts``, of some keys alone, which are numbered anew."""
        keyed = self.by_key()
        return {
            name: longer(part, int(numbers.max(initial=-1)) + 1)[numbers] if name in keyed else part
            for name, part in self.parts().items()
        }

    def by_key(self) -> set[str]:
        """Which parts have a place for each key."""
        return set(self.parts())

    @abstractmethod
    def parts(self) -> dict[str, Any]:
        """All that must be kept to go on later."""

    @abstractmethod
    def restore(self, parts: dict[str, Any], keys: int) -> None:
        """Go on with what was kept of so many keys."""

    def refuse_unknown(self, store: SortedStore) -> None:
        """Refuse sorted cells or rows, as they were kept, at positions that their keys have not come to."""
        return

    def refuse_rows(self, store: Any) -> None:
        """The same of rows, where what these have says more."""
        self.refuse_unknown(store)


def refuse_beyond(store: SortedStore, reached: np.ndarray, beyond: int) -> None:
    """Refuse positions that are not below what their keys have reached, or so many beyond."""
    key, at = store.key, store.at
    if len(key) and key[-1] >= len(reached):
        raise refused("keys", f"keys of which rows came, {len(reached)}", int(key[-1]))
    if len(key) and ((at < 0) | (at >= reached[key] + beyond)).any():
        raise refused("positions", "numbers of rows that came", "others")


def longer(array: np.ndarray, keys: int) -> np.ndarray:
    """The array with a zero for each key that is new."""
    return array if len(array) >= keys else np.concatenate([array, np.zeros(keys - len(array), array.dtype)])
