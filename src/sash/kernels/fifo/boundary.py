"""Boundary aggregators: chunks of rows, cumulated from the right in one and from the left in the next.

SBA cumulates on one thread. Where every window has the same size, a chunk is a window, and both
cumulations run in one loop over a chunk that is there as a whole: they do not depend on each other,
so the processor overlaps them. Where a combine divides, which is what takes the time then, answers
have a loop of their own, some rows behind: nothing in it depends on what is before, so that several
divisions are done at once.

PBA cumulates to the left on a second thread. A window is then the rest of a chunk, perhaps a whole
chunk, and the chunk being filled. Where windows have one size, ``parallel_boundary`` has it. Where they
have not, the start passing a boundary sets the next, with either.

order   first in, first out
needs   associative
time    at most 3 combines a slide; for PBA in the worst case too, on the main thread; SBA 4 where sizes vary
space   SBA 2n + 1 partials; PBA at most (3n + 13) / 2, n + 2 where sizes vary
paper   parallel-boundary-aggregator-2021, 4
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from sash.errors import SashError
from sash.kernels.algorithm import Task
from sash.kernels.compiling import Answers, Floats, Frames, Marks, States, Values, kernel
from sash.kernels.fifo.chunk_moments import by_moments
from sash.kernels.fifo.forward_folding import slides, stretch
from sash.kernels.fifo.parallel_boundary import LEAST, MANY, cumulating_rows, pba_of_size
from sash.kernels.fifo.state_arrays import FIRST, HEAD, HELD, OWN, TAIL, count, one, per_row, twice_per_row
from sash.kernels.threads import may_help, second_thread

if TYPE_CHECKING:
    from concurrent.futures import Future

CLOSED, FILLED, FRONT, WILD = OWN, OWN + 1, OWN + 2, OWN + 3  # sba: is there a chunk before, rows in the open one,
# where the one before stands, and whether it may hold a NaN
MIDDLE, OPEN, CHUNK, WANTED = OWN, OWN + 1, OWN + 2, OWN + 3  # where chunks begin; of pba their size, the next start
CUMULATED, MIDDLE_SUM = 0, 1
RUN = 1024  # rows of short chunks that are cumulated in one call
BLOCK, SHORT = 128, 48  # rows whose answers wait for a loop of their own, and of windows for which that does not pay


def sba_sound(arrays: Any, constant: bool) -> bool:
    """Whether chunks lie in the halves of the ring; where sizes vary, whether they follow each other."""
    if not constant:
        head, tail, _, _, middle, opened = arrays["marks"][: OWN + 2].tolist()
        return bool(head <= middle <= opened <= tail)
    closed, filled, front, _ = arrays["marks"][OWN:].tolist()
    size = len(arrays["ring"]) // 2
    return closed in (0, 1) and 0 <= filled < size and front in (0, size)


@kernel(sizes={"ring": twice_per_row, "back": one, "marks": count(OWN + 4)}, sound=sba_sound)
def sba(agg: Any) -> Any:
    """SBA: chunks cumulated to the right and to the left on one thread."""
    lift, combine, load, store, answer = agg.lift, agg.combine, agg.load, agg.store, agg.answer
    has_nan, has_cheaper = agg.has_nan, agg.combine_without_nan is not None

    def both_ways(combine: Any) -> Any:
        @agg.function
        def cumulate(values, base, i, chunks, size, ring, front, out):  # type: ignore[no-untyped-def]
            """Cumulate whole chunks to the right, with their answers, and to the left, into the ring."""
            running = lift(values, i, base + i)
            for _ in range(chunks):
                opened, last = size - front, i + size - 1
                running = lift(values, i, base + i)
                left = lift(values, last, base + last)
                store(ring, opened + size - 1, left)
                if size > 1:
                    answer(out, i, combine(load(ring, front + 1), running))
                    for j in range(1, size - 1):
                        running = combine(running, lift(values, i + j, base + i + j))
                        left = combine(lift(values, last - j, base + last - j), left)
                        store(ring, opened + size - 1 - j, left)
                        answer(out, i + j, combine(load(ring, front + j + 1), running))
                    running = combine(running, lift(values, last, base + last))
                answer(out, last, running)
                i, front = i + size, opened
            return running

        return cumulate

    @agg.function
    def apart(values, base, i, chunks, size, ring, front, out):  # type: ignore[no-untyped-def]
        """The same, with a loop for the answers of each block of rows; blocks double up to the largest."""
        running = lift(values, i, base + i)
        for _ in range(chunks):
            opened, last = size - front, i + size - 1
            running = lift(values, i, base + i)
            left = lift(values, last, base + last)
            store(ring, opened + size - 1, left)
            begin = 0
            while begin < size - 1:
                end = min(2 * begin + 1, begin + BLOCK, size - 1)
                spare = front - begin  # partials wait in the slots that no answer reads any more
                for j in range(begin, end):
                    store(ring, spare + j, running)
                    running = combine(running, lift(values, i + j + 1, base + i + j + 1))
                    left = combine(lift(values, last - j - 1, base + last - j - 1), left)
                    store(ring, opened + size - 2 - j, left)
                for j in range(begin, end):
                    answer(out, i + j, combine(load(ring, front + j + 1), load(ring, spare + j)))
                begin = end
            answer(out, last, running)
            i, front = i + size, opened
        return running

    usual = both_ways(combine)
    quick = both_ways(agg.combine_without_nan) if has_cheaper else apart if agg.divides else usual
    alike, least = quick is usual, SHORT if quick is apart else 1
    has_moment = agg.moment is not None
    cumulate_rows = cumulating_rows(agg, combine)
    begin_sums, sum_chunk = by_moments(agg) if has_moment else (cumulate_rows, cumulate_rows)  # not called, then

    @agg.function
    def by_their_moments(values, base, i, chunks, size, ring, front, scratch, out):  # type: ignore[no-untyped-def]
        """Answer whole chunks by sums, and what these cannot tell as usual; where the last chunk stands in the ring."""
        half = 0
        begin_sums(values, i, size, scratch)
        for _ in range(chunks):
            if not sum_chunk(values, i, size, scratch, half, out):
                cumulate_rows(values, base, i - size, size, ring, front)
                usual(values, base, i, 1, size, ring, front, out)
            i, half = i + size, 2 * (size + 1) - half
        cumulate_rows(values, base, i - size, size, ring, front)
        return front

    def slide(
        values: Values,
        base: int,
        rows: int,
        frames: Frames,
        ring: States,
        back: States,
        marks: Marks,
        scratch: Floats,
        out: Answers,
    ) -> int:
        size = len(ring) // 2
        closed, filled, front, before = marks[CLOSED], marks[FILLED], marks[FRONT], marks[WILD] != 0
        running = load(back, 0)
        i = 0
        while i < rows:
            opened = size - front
            if has_moment and len(scratch) > 0 and closed and filled == 0 and i >= size and size <= rows - i:
                chunks = (rows - i) // size
                by_their_moments(values, base, i, chunks, size, ring, front, scratch, out)
                i, before = i + chunks * size, True
                continue
            if closed and filled == 0 and size <= rows - i:
                chunks, odd = min(rows - i, max(size, RUN)) // size, alike or size < least
                if has_moment and len(scratch) > 0:
                    chunks = 1  # sums need the chunk before
                if has_cheaper:
                    for j in range(chunks * size):
                        odd |= has_nan(values, i + j)
                if odd or before:
                    running = usual(values, base, i, chunks, size, ring, front, out)
                else:
                    running = quick(values, base, i, chunks, size, ring, front, out)
                before = odd
                i += chunks * size
                front = opened if chunks % 2 else front
                continue
            partial = lift(values, i, base + i)
            store(ring, opened + filled, partial)
            running = combine(running, partial) if filled else partial
            filled += 1
            if closed and filled < size:
                answer(out, i, combine(load(ring, front + filled), running))
            else:
                answer(out, i, running)
            i += 1
            if filled == size:
                left = load(ring, opened + size - 1)
                for j in range(size - 2, 0, -1):
                    left = combine(load(ring, opened + j), left)
                    store(ring, opened + j, left)
                closed, filled, front, before = 1, 0, opened, True
        store(back, 0, running)
        marks[CLOSED], marks[FILLED], marks[FRONT], marks[WILD] = closed, filled, front, before
        marks[TAIL] = base + rows
        marks[HEAD] = max(marks[HEAD], marks[TAIL] - size)
        return 0

    return slide if agg.constant else of_frames(agg)


def of_frames(agg: Any) -> Any:
    """SBA where sizes vary: when the start passes a boundary, the chunk being filled is closed and cumulated.

    The rows held are the rest of a chunk up to ``middle``, a whole one up to ``opened``, and the one being filled.
    """
    lift, combine, load, store, answer, frame = agg.lift, agg.combine, agg.load, agg.store, agg.answer, agg.frame
    absent, cumulate = agg.absent, cumulating(agg)

    def slide(values: Values, base: int, frames: Frames, ring: States, back: States, marks: Marks, out: Answers) -> int:
        capacity, answers = len(ring), len(out[1])
        head, tail, first = marks[HEAD], marks[TAIL], marks[FIRST]
        middle, opened = marks[MIDDLE], marks[OPEN]
        last = (first + tail - head) % capacity
        running = load(back, 0)
        for i in range(answers):
            lo, hi = frame(frames, base, i)
            if lo >= tail:
                head, tail, middle, opened, first, last = lo, lo, lo, lo, 0, 0
            elif lo > head:
                first += lo - head
                if first >= capacity:
                    first -= capacity
                head = lo
                if head >= opened:  # both chunks have gone: make two of the open one, so that the next will be ready
                    middle, opened = (head + tail + 1) // 2, tail
                    cumulate(ring, first, middle - head)
                    cumulate(ring, (first + middle - head) % capacity, tail - middle)
                elif head >= middle:
                    cumulate(ring, (first + opened - head) % capacity, tail - opened)
                    middle, opened = opened, tail
            for position in range(tail, hi):
                partial = lift(values, position - base, position)
                store(ring, last, partial)
                last = last + 1 if last + 1 < capacity else 0
                running = combine(running, partial) if position > opened else partial
            tail = max(tail, hi)
            if lo >= hi:
                absent(out, i)
            elif head >= middle:
                answer(out, i, running)
            else:
                whole = load(ring, first)
                if middle < opened:
                    slot = first + middle - head
                    whole = combine(whole, load(ring, slot if slot < capacity else slot - capacity))
                answer(out, i, combine(whole, running) if opened < tail else whole)
        store(back, 0, running)
        marks[HEAD], marks[TAIL], marks[FIRST], marks[HELD] = head, tail, first, tail - head
        marks[MIDDLE], marks[OPEN] = middle, opened
        return 0

    return slide


def cumulating(agg: Any) -> Any:
    """``cumulate(ring, first, length)``: fold a run of the ring from its newest row to its oldest, in place."""
    combine, load, store = agg.combine, agg.load, agg.store

    @agg.function
    def cumulate(ring, first, length):  # type: ignore[no-untyped-def]
        capacity = len(ring)
        slot = (first + length - 1) % capacity
        left = load(ring, slot)
        for _ in range(length - 1):
            slot = slot - 1 if slot > 0 else capacity - 1
            left = combine(load(ring, slot), left)
            store(ring, slot, left)

    return cumulate


@kernel
def cumulate_left(agg: Any) -> Any:
    """Fold a run of the ring on a thread of its own."""
    cumulate = cumulating(agg)

    def run(ring: States, first: int, length: int) -> int:
        cumulate(ring, first, length)
        return 0

    return run


class Cumulating:
    """Runs PBA: calls the kernel up to each boundary, and has the chunk behind it cumulated meanwhile."""

    def __init__(self, specialise: Any, size: int | None, chunk: int | None) -> None:
        self.cumulate = specialise(cumulate_left).run
        self.chunk = chunk or 0
        self.pending: Future[Any] | None = None
        self.process = os.getpid()

    def entries(self, capacity: int) -> int:
        """What arrays are sized by."""
        return capacity

    def prepare(self, arrays: dict[str, Any]) -> None:
        """Set the chunk size once for the whole stream; 0 lets the starts set the boundaries."""
        arrays["marks"][CHUNK] = self.chunk

    def run(self, kernel: Any, arguments: dict[str, Any]) -> None:
        """Answer a batch of frames; the second thread may still be at work afterwards."""
        ring, sums, marks = arguments["ring"], arguments["sums"], arguments["marks"]
        answers, at = len(arguments["out"][1]), 0
        while at < answers:
            at = kernel(*{**arguments, "at": at}.values())
            if marks[CHUNK] and marks[TAIL] - marks[OPEN] >= marks[CHUNK] and marks[MIDDLE] == marks[OPEN]:
                self.close(ring, sums, marks)
            elif at < answers:
                self.turn(ring, sums, marks)

    def turn(self, ring: Any, sums: Any, marks: Any) -> None:
        """The start has passed the first chunk: let the middle one take its place."""
        self.wait()
        middle, opened, tail = int(marks[MIDDLE]), int(marks[OPEN]), int(marks[TAIL])
        if marks[WANTED] >= tail:  # the window moves past all that it holds
            marks[HEAD] = marks[MIDDLE] = marks[OPEN] = tail
            marks[FIRST] = 0
        elif middle < opened:
            marks[MIDDLE] = opened
            if marks[CHUNK] == 0:
                self.close(ring, sums, marks)
        else:  # none is ready: make two of the open one, so that the next will be
            half = (opened + tail + 1) // 2
            for begin, end in ((opened, half), (half, tail)):
                self.start(ring, marks, begin, end)
                self.wait()
            if half < tail:
                sums[MIDDLE_SUM] = ring[self.slot(ring, marks, half)]
            marks[MIDDLE], marks[OPEN] = half, tail

    def close(self, ring: Any, sums: Any, marks: Any) -> None:
        """Make the open chunk the middle one, and have it cumulated."""
        opened, tail = int(marks[OPEN]), int(marks[TAIL])
        sums[MIDDLE_SUM] = sums[CUMULATED]
        marks[OPEN] = tail
        self.start(ring, marks, opened, tail)

    def start(self, ring: Any, marks: Any, begin: int, end: int) -> None:
        """Have the rows [begin, end) cumulated to the left."""
        if begin < end:
            self.process = os.getpid()
            self.pending = second_thread().submit(self.cumulate, ring, self.slot(ring, marks, begin), end - begin)

    def slot(self, ring: Any, marks: Any, position: int) -> int:
        """Where a row stands in the ring."""
        return (int(marks[FIRST]) + position - int(marks[HEAD])) % len(ring)

    def wait(self) -> None:
        """Wait until nothing is being cumulated."""
        pending, self.pending = self.pending, None
        if pending is not None:
            if os.getpid() != self.process:
                raise SashError("a window of pba cannot be taken along into a fork; restore its state there")
            pending.result()

    def forget(self) -> None:
        """Wait too, but whatever was cumulated is of no more use."""
        pending, self.pending = self.pending, None
        if pending is not None and os.getpid() == self.process:
            pending.exception()


def pba_sound(arrays: Any, constant: bool) -> bool:
    """Whether chunks follow each other."""
    head, tail, _, _, middle, opened, chunk, _ = arrays["marks"].tolist()
    return head <= middle <= opened <= tail and chunk >= 0


@kernel(sizes={"ring": per_row, "sums": count(2), "marks": count(OWN + 4)}, drive=Cumulating, sound=pba_sound)
def pba(agg: Any) -> Any:
    """PBA where sizes vary: chunks cumulated to the right, and to the left on a second thread."""
    lift, combine, load, store, answer, frame = agg.lift, agg.combine, agg.load, agg.store, agg.answer, agg.frame
    absent = agg.absent

    def slide(
        values: Values,
        base: int,
        frames: Frames,
        at: int,
        ring: States,
        sums: States,
        marks: Marks,
        out: Answers,
    ) -> int:
        capacity, answers = len(ring), len(out[1])
        head, tail, first = marks[HEAD], marks[TAIL], marks[FIRST]
        middle, opened, chunk = marks[MIDDLE], marks[OPEN], marks[CHUNK]
        last = (first + tail - head) % capacity
        cumulated, middle_sum = load(sums, CUMULATED), load(sums, MIDDLE_SUM)
        i, lo = at, head
        while i < answers:
            lo, hi = frame(frames, base, i)
            if head == tail and lo > head:
                head, tail, middle, opened, first, last = lo, lo, lo, lo, 0, 0
            if lo > head:
                if lo > middle:
                    break
                first += lo - head
                if first >= capacity:
                    first -= capacity
                head = lo
            for position in range(tail, hi):
                partial = lift(values, position - base, position)
                store(ring, last, partial)
                last = last + 1 if last + 1 < capacity else 0
                cumulated = combine(cumulated, partial) if position > opened else partial
            tail = max(tail, hi)
            if lo >= hi:
                absent(out, i)
            elif head < middle:
                whole = load(ring, first)
                if middle < opened:
                    whole = combine(whole, middle_sum)
                if opened < tail:
                    whole = combine(whole, cumulated)
                answer(out, i, whole)
            elif middle < opened:
                answer(out, i, combine(middle_sum, cumulated) if opened < tail else middle_sum)
            else:
                answer(out, i, cumulated)
            i += 1
            if chunk > 0 and tail - opened >= chunk and middle == opened:
                break
        store(sums, CUMULATED, cumulated)
        marks[HEAD], marks[TAIL], marks[FIRST], marks[HELD] = head, tail, first, tail - head
        marks[MIDDLE], marks[OPEN], marks[WANTED] = middle, opened, lo
        return i

    return slide


SBA = slides(
    sba, "two partial windows that meet at a boundary", cost=lambda task: 5.0 if task.trailing else 16.0, offered=True
)


def cost_of_pba(task: Task) -> float:
    """Less than sba's for long windows of one size, unless the rows are so many that sba's are shared by threads.

    ``sash bench --full --only boundary_2021.figure4`` measures it: 0.75 to 1 of sba's from 2^11 rows on, of max. Where
    partials are divided it is not ahead.
    """
    alone = task.trailing and task.partitions == 1  # threads share several
    ahead = alone and may_help() and task.widest >= 2 * LEAST and MANY <= task.rows < 2 * stretch(task.widest)
    return 4.0 if ahead and getattr(task.aggregate, "selective", False) else 20.0


PBA = slides(
    pba,
    "boundary aggregation with a second thread",
    cost=cost_of_pba,
    offered=True,
    of_size=pba_of_size,
    between=sba,  # a push that brings little has no chunk that is worth a thread
)
