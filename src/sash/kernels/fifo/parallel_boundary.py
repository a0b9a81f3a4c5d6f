"""PBA for windows of one size: chunks cumulated from the left here, and from the right by a second thread.

A window is the rest of a chunk, perhaps a whole chunk, and the open one. A batch is answered in a tight loop over each
chunk, while a helper cumulates chunks from the right. Both threads are in compiled code for all of that, and share a
few words: which chunk is claimed next, how many the loop has passed, which are cumulated. Whoever claims a chunk
cumulates it; a loop that needs one which nobody has claimed does so itself, so that it never waits for a helper that
has not begun. What waits spins for a while and then sleeps. Where rows come a few at a time nobody helps: each slide
then moves the cumulation of the last chunk on by one row, so that no slide takes long.

order   first in, first out
needs   associative
time    at most 3 combines a slide, in the worst case too, and one for the cumulation from the right
space   3 chunks and 2 partials, which is at most (3n + 13) / 2 with the chunks of Theorem 1
paper   parallel-boundary-aggregator-2021, 4
"""

from __future__ import annotations

from concurrent.futures import wait
from typing import Any

import numpy as np

from sash.kernels.compiling import (
    Answers,
    Frames,
    Marks,
    States,
    Values,
    acquire,
    claim,
    doze,
    kernel,
    release,
)
from sash.kernels.fifo.state_arrays import HEAD, OWN, TAIL, count
from sash.kernels.threads import helpers, may_help

FILLED, AT, CLOSED, LEFT, WILD = range(OWN, OWN + 5)  # rows of the open chunk, its third of the ring, chunks before it
# (up to 2), the entries of the last one that are not cumulated, and of how many chunks from here on NaN may be met
OPEN_SUM, WHOLE = 0, 1  # of the open chunk; of the one before and the open one
TAKEN, PASSED, STOPPED, DONE, PLAN = 0, 8, 16, 24, 48  # words, on a cache line each: the next job to be claimed, chunks
# that the loop has passed, whether to give up, three jobs that are done; and what both threads must know:
LEAD, JOBS, THIRD, BEGUN, REST, ODD = range(
    PLAN, PLAN + 6
)  # the row where the loop begins, how many jobs there are, the
# third of the open chunk, its rows so far, what is left of the one before, whether there may be NaN among these
WORDS = PLAN + 8
SPINS, NAP = 1 << 14, 50  # looks at a word before sleeping, some 20 µs in all, and microseconds asleep
SHORT = 64  # rows of a batch for which each slide does its share of the cumulation from the right
LEAST, MANY = 1 << 10, 1 << 16  # rows of a chunk and of a batch for which a helper is worth calling


def three_chunks(chunk: int) -> int:
    """The entries of three chunks."""
    return 3 * chunk


def sound(arrays: Any, constant: bool) -> bool:
    """Whether the open chunk lies in the ring, and what is not cumulated in the one before."""
    filled, at, closed, left, wild = arrays["marks"][OWN:].tolist()
    chunk = len(arrays["ring"]) // 3
    return 0 <= filled < chunk and 0 <= at < 3 and 0 <= closed < 3 and 0 <= left < chunk and 0 <= wild <= 3


class Helped:
    """Runs PBA for windows of one size, with a helper where that pays and a core is free for it."""

    def __init__(self, specialise: Any, size: int, chunk: int | None) -> None:
        """A chunk is at least half a window and at most a whole one, whatever is asked for."""
        self.chunk = min(max(chunk or chunk_for_counts(size), size // 2, 1), size)
        self.specialise = specialise
        self.cumulate: Any = None  # compiled when first needed

    def entries(self, capacity: int) -> int:
        """What arrays are sized by."""
        return self.chunk

    def prepare(self, arrays: dict[str, Any]) -> None:
        """An empty window."""

    def run(self, kernel: Any, arguments: dict[str, Any]) -> None:
        """Answer a batch; the helper has left when this returns."""
        words = np.zeros(WORDS, np.int64)
        words[PASSED] = -1  # the helper waits until the loop has begun
        given = {**arguments, "words": words}
        if self.chunk < LEAST or given["rows"] < MANY or not may_help() or given["ring"].dtype == object:
            kernel(*given.values())
            return
        if self.cumulate is None:
            self.cumulate = self.specialise(cumulate_chunks).run
        helper = helpers().submit(self.help, given["values"], given["base"], given["ring"], words)
        try:
            kernel(*given.values())
        finally:
            words[STOPPED] = 1
            if not helper.cancel():
                wait([helper])
        if not helper.cancelled():
            helper.result()

    def help(self, values: Any, base: int, ring: Any, words: np.ndarray) -> None:
        """Cumulate chunks from the right, on the helper's thread."""
        try:
            self.cumulate(values, base, ring, words)
        except BaseException:
            words[STOPPED] = 1
            raise

    def wait(self) -> None:
        """Nothing goes on between calls."""

    forget = wait


def cumulating_ring(agg: Any, combine: Any) -> Any:
    """``cumulate(ring, first, left, until)``: go on with the cumulation of a chunk, whose entries stand in the ring.

    It returns the first entry that is cumulated.
    """
    load, store = agg.load, agg.store

    @agg.function
    def cumulate(ring, first, left, until):  # type: ignore[no-untyped-def]
        running = load(ring, first + left)
        while left > until:
            left -= 1
            running = combine(load(ring, first + left), running)
            store(ring, first + left, running)
        return left

    return cumulate


def cumulating_rows(agg: Any, combine: Any) -> Any:
    """``cumulate(values, base, i, rows, ring, first)``: fold rows from the newest to the oldest, into the ring."""
    lift, store = agg.lift, agg.store

    @agg.function
    def cumulate(values, base, i, rows, ring, first):  # type: ignore[no-untyped-def]
        last = rows - 1
        left = lift(values, i + last, base + i + last)
        store(ring, first + last, left)
        for j in range(last - 1, -1, -1):
            left = combine(lift(values, i + j, base + i + j), left)
            store(ring, first + j, left)

    return cumulate


def looking(agg: Any) -> Any:
    """``odd(values, i, end)``: whether rows need the usual combine, since one has a NaN or there is no other."""
    has_nan = agg.has_nan
    if agg.combine_without_nan is None:
        return agg.function(lambda values, i, end: True)

    @agg.function
    def odd(values, i, end):  # type: ignore[no-untyped-def]
        found = False
        for j in range(i, end):
            found |= has_nan(values, j)
        return found

    return odd


def working(agg: Any) -> Any:
    """``work(values, base, ring, words, job)``: do one job.

    The first is what is left of the last closed chunk; then come those that the batch closes, from the open one on.
    """
    odd, usual, ring_usual = looking(agg), cumulating_rows(agg, agg.combine), cumulating_ring(agg, agg.combine)
    quick, ring_quick = usual, ring_usual
    if agg.combine_without_nan is not None:
        quick, ring_quick = (make(agg, agg.combine_without_nan) for make in (cumulating_rows, cumulating_ring))

    @agg.function
    def work(values, base, ring, words, job):  # type: ignore[no-untyped-def]
        chunk, begun = len(ring) // 3, words[BEGUN]
        first, wild, left = (words[THIRD] + job + 2) % 3 * chunk, words[ODD] != 0, words[REST]
        if job > 0:
            left = begun if job == 1 else 0
            i = words[LEAD] + (job - 1) * chunk - begun + left
            rows = chunk - left
            if odd(values, i, i + rows):
                wild = True
                usual(values, base, i, rows, ring, first + left)
            else:
                quick(values, base, i, rows, ring, first + left)
        if left > 0:
            if wild:
                ring_usual(ring, first, left, 0)
            else:
                ring_quick(ring, first, left, 0)
        release(words, DONE + 8 * (job % 3), job + 1)

    return work


@kernel
def cumulate_chunks(agg: Any) -> Any:
    """What the helper does: claim one job after the other, as soon as its third of the ring is free."""
    work = working(agg)

    def run(values: Values, base: int, ring: States, words: Marks) -> int:
        job, jobs = 0, 1
        while job < jobs:
            spins = 0
            while acquire(words, PASSED) < max(job - 1, 0):
                if acquire(words, STOPPED):
                    return 1
                spins += 1
                if spins > SPINS:
                    doze(NAP)
            if acquire(words, STOPPED):
                return 1
            jobs = words[JOBS]
            if job < jobs and claim(words, TAKEN, job, job + 1):
                work(values, base, ring, words, job)
            job = acquire(words, TAKEN)
        return 0

    return run


def waiting(agg: Any) -> Any:
    """``ready(values, base, ring, words, job)``: have a job done; False where the helper has given up."""
    work = working(agg)

    @agg.function
    def ready(values, base, ring, words, job):  # type: ignore[no-untyped-def]
        done = DONE + 8 * (job % 3)
        if acquire(words, done) != job + 1 and claim(words, TAKEN, job, job + 1):
            work(values, base, ring, words, job)
            return True
        spins = 0
        while acquire(words, done) != job + 1:
            if acquire(words, STOPPED):
                return False
            spins += 1
            if spins > SPINS:
                doze(NAP)
        return True

    return ready


def one_by_one(agg: Any) -> Any:
    """``slide(values, base, i, end, size, ring, sums, marks, out)``: each slide alone, and none takes long."""
    lift, combine, load, store, answer = agg.lift, agg.combine, agg.load, agg.store, agg.answer
    cumulate = cumulating_ring(agg, combine)

    @agg.function
    def slide(values, base, i, end, size, ring, sums, marks, out):  # type: ignore[no-untyped-def]
        chunk = len(ring) // 3
        filled, at, closed, left = marks[FILLED], marks[AT], marks[CLOSED], marks[LEFT]
        opened, near, far = at * chunk, (at + 2) % 3 * chunk, (at + 1) % 3 * chunk
        running, whole = load(sums, OPEN_SUM), load(sums, WHOLE)
        if i < end:
            marks[WILD] = 3
        while i < end:
            before = size - 1 - filled
            partial = lift(values, i, base + i)
            store(ring, opened + filled, partial)
            running = combine(running, partial) if filled > 0 else partial
            if closed > 0 and before >= chunk:
                whole = combine(whole, partial)
            if left > 0:
                left = cumulate(ring, near, left, left - 1)
            if closed == 0 or before == 0:
                answer(out, i, running)
            elif before < chunk:
                if left > chunk - before:
                    left = cumulate(ring, near, left, chunk - before)
                answer(out, i, combine(load(ring, near + chunk - before), running))
            elif closed == 1 or before == chunk:
                answer(out, i, whole)
            else:
                answer(out, i, combine(load(ring, far + 2 * chunk - before), whole))
            filled += 1
            i += 1
            if filled == chunk:
                filled, closed, left, at = 0, min(closed + 1, 2), chunk - 1, (at + 1) % 3
                opened, near, far = at * chunk, opened, near
                whole = running
        store(sums, OPEN_SUM, running)
        store(sums, WHOLE, whole)
        marks[FILLED], marks[AT], marks[CLOSED], marks[LEFT] = filled, at, closed, left

    return slide


def in_parts(agg: Any, combine: Any) -> tuple[Any, Any]:
    """Two tight loops over rows of a chunk: windows that reach beyond the last closed one, and the others.

    ``origin`` is where the chunk begins in the batch; ``j`` and ``end`` are rows of the chunk.
    """
    lift, load, answer = agg.lift, agg.load, agg.answer

    @agg.function
    def beyond(values, base, origin, j, end, size, chunk, ring, far, running, whole, out):  # type: ignore[no-untyped-def]
        slides, skipped = min(size - 1 - chunk, chunk), far + 2 * chunk - size + 1
        if j == 0:
            running = lift(values, origin, base + origin)
            if slides >= 0:
                whole = combine(whole, running)
                answer(out, origin, combine(load(ring, skipped), whole) if slides > 0 else whole)
                j = 1
        last = min(end, slides)
        for k in range(j, last):
            partial = lift(values, origin + k, base + origin + k)
            running = combine(running, partial)
            whole = combine(whole, partial)
            answer(out, origin + k, combine(load(ring, skipped + k), whole))
        if j <= slides < end:
            partial = lift(values, origin + slides, base + origin + slides)
            running = combine(running, partial)
            answer(out, origin + slides, combine(whole, partial))
        return running, whole

    @agg.function
    def within(values, base, origin, j, end, size, chunk, ring, near, running, out):  # type: ignore[no-untyped-def]
        j, skipped = max(j, size - chunk), near + chunk - size + 1
        if j == 0:  # its row has been taken in
            answer(out, origin, combine(load(ring, skipped), running) if size > 1 else running)
            j = 1
        last = min(end, size - 1)
        for k in range(j, last):
            running = combine(running, lift(values, origin + k, base + origin + k))
            answer(out, origin + k, combine(load(ring, skipped + k), running))
        if j <= size - 1 < end:
            running = combine(running, lift(values, origin + size - 1, base + origin + size - 1))
            answer(out, origin + size - 1, running)
        return running

    return beyond, within


@kernel(sizes={"ring": three_chunks, "sums": count(2), "marks": count(OWN + 5)}, drive=Helped, sound=sound)
def pba_of_size(agg: Any) -> Any:
    """PBA for windows of one size."""
    lift, load, store = agg.lift, agg.load, agg.store
    slowly, ready, odd, cumulate = one_by_one(agg), waiting(agg), looking(agg), cumulating_ring(agg, agg.combine)
    beyond, within = in_parts(agg, agg.combine)
    quickly_beyond, quickly_within = beyond, within
    if agg.combine_without_nan is not None:
        quickly_beyond, quickly_within = in_parts(agg, agg.combine_without_nan)

    def slide(
        values: Values,
        base: int,
        rows: int,
        frames: Frames,
        ring: States,
        sums: States,
        marks: Marks,
        words: Marks,
        out: Answers,
    ) -> int:
        size, chunk = frames[0], len(ring) // 3
        missing = max((2 - marks[CLOSED]) * chunk - marks[FILLED], 0)  # rows until two chunks are closed
        i = rows if rows < missing + SHORT else missing
        slowly(values, base, 0, i, size, ring, sums, marks, out)
        if i < rows:
            filled, at, wild = marks[FILLED], marks[AT], marks[WILD]
            words[LEAD], words[JOBS], words[THIRD] = i, 1 + (filled + rows - i) // chunk, at
            words[BEGUN], words[REST], words[ODD] = filled, marks[LEFT], wild
            release(words, PASSED, 0)
            running, whole = load(sums, OPEN_SUM), load(sums, WHOLE)
            job = 0  # whose chunk is the last closed one
            while i < rows:
                near, far, origin = (at + 2) % 3 * chunk, (at + 1) % 3 * chunk, i - filled
                end = min(chunk, filled + rows - i)
                if odd(values, i, i + end - filled):
                    wild = 3
                if wild > 0:
                    running, whole = beyond(
                        values, base, origin, filled, end, size, chunk, ring, far, running, whole, out
                    )
                else:
                    running, whole = quickly_beyond(
                        values, base, origin, filled, end, size, chunk, ring, far, running, whole, out
                    )
                if (end > size - chunk or end == chunk) and not ready(values, base, ring, words, job):
                    return 1
                if end > size - chunk:
                    if wild > 0:
                        running = within(values, base, origin, filled, end, size, chunk, ring, near, running, out)
                    else:
                        running = quickly_within(
                            values, base, origin, filled, end, size, chunk, ring, near, running, out
                        )
                i = origin + end
                if end < chunk:
                    for j in range(filled, end):
                        store(ring, at * chunk + j, lift(values, origin + j, base + origin + j))
                    filled = end
                else:
                    filled, at, whole, wild = 0, (at + 1) % 3, running, max(wild - 1, 0)
                    job += 1
                    release(words, PASSED, job)
            left = 0
            if words[JOBS] == 1 and claim(words, TAKEN, 0, 1):  # not needed yet, and nobody is at it
                left = cumulate(ring, (at + 2) % 3 * chunk, words[REST], max(words[REST] - rows, 0))
            elif not ready(values, base, ring, words, words[JOBS] - 1):
                return 1
            store(sums, OPEN_SUM, running)
            store(sums, WHOLE, whole)
            marks[FILLED], marks[AT], marks[LEFT], marks[WILD] = filled, at, left, wild
        marks[TAIL] = base + rows
        marks[HEAD] = max(marks[HEAD], marks[TAIL] - size)
        return 0

    return slide


def chunk_for_counts(size: int, slide: int = 1) -> int:
    """Theorem 1: the slices in a chunk for windows of so many rows that slide by so many."""
    slices, rest = size // slide, size % slide
    if slices <= slide + rest + 1:
        return max(slices, 1)
    return (slide * (slices + 1) + rest + 1) // (slide + 1)
