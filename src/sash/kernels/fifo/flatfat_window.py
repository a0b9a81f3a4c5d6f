"""FlatFAT as a window that is not FIFO: rows leave in any order, and older rows are changed in place.

The slots are a circular buffer of the leaves. A row that leaves makes a hole, which the window order
forbids to fill; the front moves over holes that it meets. When the buffer is full it is compacted, or
doubled if more than three quarters of it live; it is halved when less than a quarter does. Either way
the tree is built anew, without holes.

order   any
needs   associative, and rows that need not follow each other
time    m(1 + ceil(log2 n/m)) combines for m rows, amortised; 2 log2 n a look-up, none for a whole window that is
        unwrapped, or whose aggregate is commutative
space   at most 8n partials, or the capacity asked for
paper   reactive-aggregator-2015, 5.1
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sash.algebra import Aggregate
from sash.errors import Refused, SashError
from sash.kernels.answers import Answered, finished
from sash.kernels.compiling import Kernel, Specialised, specialise
from sash.kernels.fifo.flatfat_tree import flatfat_build, flatfat_evict, flatfat_ranges, flatfat_write
from sash.kernels.fifo.state_arrays import power_of_two, refuse_shapes, refuse_unless
from sash.kernels.inputs import Inputs, whole
from sash.kernels.sealing import making, opened, sealed


class FlatFat:
    """A window whose rows may leave in any order, and may be changed in place.

    Rows are known by their ids: arrival numbers from 0 on, which do not change. With ``rows=True`` the
    position that ``lift`` gets is the row's id.

    >>> from sash import functions as sf
    >>> window = FlatFat(sf.max("load").aggregate, np.int64)
    >>> window.insert(np.array([3, 9, 4]))
    array([0, 1, 2])
    >>> window.evict([1])
    >>> window.merge([0], np.array([7]))
    >>> window.ranges([0, 1, 1], [2, 2, 1])
    Answered(values=array([7, 4, 0]), valid=array([ True,  True, False]))
    """

    def __init__(self, aggregate: Aggregate, *dtypes: Any, capacity: int = 4) -> None:
        """Hold an empty window over columns of these types; it never has room for fewer than ``capacity`` rows."""
        if not isinstance(capacity, (int, np.integer)) or capacity < 1:
            raise SashError(f"capacity must be a whole number of rows, at least 1, got {capacity!r}")
        self.inputs = Inputs(aggregate, dtypes)
        self.aggregate = self.inputs.aggregate
        if self.aggregate.returns == "rows":
            raise Refused(
                f"a window that is not FIFO has holes; {aggregate.name} is answered by rows that follow each other"
            )
        self._made: dict[str, Specialised] = {}
        self._making = making(self.aggregate, "FlatFat", [str(dtype) for dtype in self.inputs.dtypes])
        self._torn = False  # whether a call stopped half-way
        self._least = power_of_two(int(capacity))
        self._count = 0  # rows that live
        self._arrived = 0  # rows that ever came, so the next id
        self._front = 0  # the slot of the oldest row
        self._used = 0  # slots from the front on that hold a row or a hole
        self._nodes, self._live, self._ids = self._allocate(self._least)

    def __len__(self) -> int:
        return self._count

    @property
    def capacity(self) -> int:
        """How many rows there is room for, holes included: a power of two."""
        return len(self._ids)

    def insert(self, *columns: Any, rows: int | None = None) -> np.ndarray:
        """Append rows at the end of the window; returns their ids.

        ``rows`` is the number of rows where the aggregate takes no column.
        """
        self._whole()
        values, rows = self.inputs.columns("insert", columns, rows)
        values = self.inputs.lifted(values)
        ids = np.arange(self._arrived, self._arrived + rows)
        if self._used + rows > self.capacity:
            self._build(self._room(rows), values, rows)
        elif rows:
            slots = (self._front + self._used + np.arange(rows)) & (self.capacity - 1)
            self._ids[slots] = ids
            self._write(slots, ids, values, merging=False)
            self._used += rows
        self._arrived += rows
        self._count += rows
        return ids

    def evict(self, ids: Any) -> None:
        """Take rows out of the window, wherever they stand."""
        self._whole()
        ids = whole("ids", ids)
        slots = self._slots(ids)
        order = np.argsort(slots)
        work = slots[order]
        if len(twice := ids[order][1:][work[1:] == work[:-1]]):
            raise SashError(f"ids must name a row once to evict it, got {_few(twice)} again")
        count, capacity = self._count - len(ids), self.capacity
        while 4 * count < capacity and capacity > self._least:
            capacity //= 2
        if capacity < self.capacity:
            self._live[self.capacity + work] = 0
            self._build(capacity)
        elif len(ids):
            used = self._run(flatfat_evict, work, self._front, self._used, self._nodes, self._live)
            self._front = (self._front + self._used - used) & (self.capacity - 1) if used else 0
            self._used = used
        self._count = count

    def update(self, ids: Any, *columns: Any) -> None:
        """Replace rows by others; where an id is named twice, the last counts."""
        ids = whole("ids", ids)
        values, _ = self.inputs.columns("update", columns, len(ids))
        self._write(self._slots(ids), ids, self.inputs.lifted(values), merging=False)

    def merge(self, ids: Any, *columns: Any) -> None:
        """Combine new rows into rows of the window, behind what these hold already.

        An id may be named by several rows, which are combined in the order given.
        """
        if self.aggregate.rows:
            raise Refused(
                f"merge has no positions for its rows, which {self.aggregate.name} takes; "
                "pass them as its first column, with rows=False"
            )
        ids = whole("ids", ids)
        values, _ = self.inputs.columns("merge", columns, len(ids))
        self._write(self._slots(ids), ids, self.inputs.lifted(values), merging=True)

    def query(self) -> tuple[Any, bool]:
        """The answer of the whole window, and whether it is not NULL."""
        values, valid = self._answer(np.zeros(1, np.int64), np.full(1, self._used))
        return values[0], bool(valid[0])

    def prefix(self, ids: Any) -> Answered:
        """The answers of the rows up to and including each id, in the window or not."""
        hi = self._offsets(whole("ids", ids), "right")
        return self._answer(np.zeros_like(hi), hi)

    def suffix(self, ids: Any) -> Answered:
        """The answers of the rows from each id on, in the window or not."""
        lo = self._offsets(whole("ids", ids), "left")
        return self._answer(lo, np.full_like(lo, self._used))

    def ranges(self, first_ids: Any, last_ids: Any) -> Answered:
        """The answers of the rows from each first to each last id, both included, in the window or not.

        A range without a row in the window is NULL, and so is one whose last comes before its first.
        """
        first, last = whole("first_ids", first_ids), whole("last_ids", last_ids)
        if len(first) != len(last):
            raise SashError(f"first_ids and last_ids must be of one length, got {len(first)} and {len(last)}")
        return self._answer(self._offsets(first, "left"), self._offsets(last, "right"))

    def state(self) -> dict[str, np.ndarray]:
        """All that must be kept to go on later, as plain arrays."""
        self._whole()
        return sealed(self._making, self._kept())

    def restore(self, state: dict[str, np.ndarray]) -> None:
        """Go on where a window of the same making was when its state was taken."""
        arrays = opened(self._making, state, tuple(self._kept()))
        self._refuse_unsound(arrays)
        self._nodes, self._live, self._ids = arrays["nodes"], arrays["live"], arrays["ids"]
        self._count, self._arrived, self._front, self._used = arrays["marks"].tolist()
        self._torn = False

    @property
    def arrived(self) -> int:
        """How many rows ever came, and so the next id."""
        return self._arrived

    @property
    def live_ids(self) -> np.ndarray:
        """The ids of the rows in the window, in order."""
        slots = (self._front + np.arange(self._used)) & (self.capacity - 1)
        return self._ids[slots[self._live[self.capacity + slots] != 0]]

    def _refuse_unsound(self, arrays: dict[str, np.ndarray]) -> None:
        """Refuse arrays that are no tree of rows."""
        capacity, number = len(arrays["ids"]), np.dtype(np.int64)
        refuse_unless(capacity == power_of_two(capacity), "slots whose number is a power of two")
        refuse_shapes(arrays, {"nodes": (self._nodes.dtype, 2 * capacity), "live": (np.dtype(np.uint8), 2 * capacity),
                             "ids": (number, capacity), "marks": (number, 4)})  # fmt: skip
        count, arrived, front, used = arrays["marks"].tolist()
        refuse_unless(0 <= count <= used <= capacity and 0 <= front < capacity and used <= arrived, "marks of its rows")
        live, leaves = arrays["live"], arrays["live"][capacity:]
        ids = np.roll(arrays["ids"], -front)[:used]
        refuse_unless((np.diff(ids, prepend=-1, append=arrived) > 0).all(), "ids in the order of arrival")
        refuse_unless(live.max() <= 1 and leaves.sum() == np.roll(leaves, -front)[:used].sum() == count,
                      "rows where its marks say")  # fmt: skip
        refuse_unless((live[1:capacity] == (live[2::2] | live[3::2])).all(), "flags of all that lives")

    def _kept(self) -> dict[str, np.ndarray]:
        marks = np.array([self._count, self._arrived, self._front, self._used])
        return {"nodes": self._nodes, "live": self._live, "ids": self._ids, "marks": marks}

    def _whole(self) -> None:
        if self._torn:
            raise SashError("a function of the aggregate raised in an earlier call; restore the window from a state")

    def _run(self, kernel: Kernel, *arguments: Any) -> int:
        self._whole()
        self._torn = True
        result = self._specialised(kernel).run(*arguments)
        self._torn = False
        return result

    def _specialised(self, kernel: Kernel) -> Specialised:
        if kernel.name not in self._made:
            self._made[kernel.name] = specialise(kernel, self.aggregate, self.inputs.dtypes)
        return self._made[kernel.name]

    def _allocate(self, capacity: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The arrays of an empty tree: nodes, their flags, and the id in each slot."""
        state = self._specialised(flatfat_write).state
        return np.zeros(2 * capacity, state), np.zeros(2 * capacity, np.uint8), np.zeros(capacity, np.int64)

    def _room(self, rows: int) -> int:
        """The capacity that inserting so many rows one by one would lead to, where they do not fit."""
        capacity = self.capacity
        when_full = self._count + capacity - self._used
        if 4 * when_full > 3 * capacity:
            capacity *= 2
        return max(capacity, power_of_two(self._count + rows))

    def _build(self, capacity: int, values: tuple[Any, ...] = (), rows: int = 0) -> None:
        """Move to a tree of this capacity, without the holes, and append rows."""
        new = self._allocate(capacity)
        values = values or tuple(np.zeros(0, dtype) for dtype in self.inputs.dtypes)
        old = self._nodes, self._live, self._ids, self._front, self._used
        self._used = self._run(flatfat_build, *old, values, self._arrived, rows, *new)
        self._front = 0
        self._nodes, self._live, self._ids = new

    def _write(self, slots: np.ndarray, ids: np.ndarray, values: tuple[Any, ...], *, merging: bool) -> None:
        order = np.argsort(slots, kind="stable")
        self._run(flatfat_write, values, order, ids, slots[order], int(merging), self._nodes, self._live)

    def _answer(self, lo: np.ndarray, hi: np.ndarray) -> Answered:
        dtype = self._specialised(flatfat_ranges).answer
        out = Answered(np.zeros(len(lo), dtype), np.ones(len(lo), np.bool_))
        self._run(flatfat_ranges, lo, hi, self._front, self._used, self._nodes, self._live, tuple(out))
        return finished(self.aggregate, out)

    def _offsets(self, ids: np.ndarray, side: Any) -> np.ndarray:
        """How many slots from the front on hold smaller ids (side "left"), or not larger ones ("right")."""
        unwrapped = min(self._used, self.capacity - self._front)
        older, newer = self._ids[self._front : self._front + unwrapped], self._ids[: self._used - unwrapped]
        return np.searchsorted(older, ids, side) + np.searchsorted(newer, ids, side)

    def _slots(self, ids: np.ndarray) -> np.ndarray:
        """The slots of rows that must be in the window."""
        slots = (self._front + self._offsets(ids, "left")) & (self.capacity - 1)
        present = (self._ids[slots] == ids) & (self._live[self.capacity + slots] != 0)
        if not present.all():
            raise SashError(f"ids must be of rows in the window, got {_few(ids[~present])}")
        return slots


def _few(ids: np.ndarray) -> str:
    """The first ids of many, for a message."""
    return ", ".join(map(str, ids[:10].tolist())) + (f" and {len(ids) - 10} more" if len(ids) > 10 else "")
