"""How much of a stream is in memory, sent or written at once: one budget, from which the rest follows."""

from __future__ import annotations

from dataclasses import dataclass

EACH = 8  # bytes of memory for each byte of what is worked on at once, with all copies that are made of it
ROWS = 1 << 20  # rows that are folded at a time, at most; each takes some 150 bytes beside its own meanwhile
ANSWERS = 1 << 17  # answers that leave together, at most
BODY = 1 << 25  # bytes of a body, at most, however much memory there is


@dataclass(frozen=True)
class Limits:
    """What one task of a stream may hold; tests draw others.

    >>> Limits.of(1 << 30).body, Limits.of(1 << 22).body
    (16777216, 65536)
    """

    memory: int = 1 << 31  # bytes that a task may use
    rows: int = ROWS  # rows that are folded at a time, and rows or cells of a body
    body: int = BODY  # bytes of a body, of a run of the log, and of answers that leave together
    answers: int = ANSWERS  # answers that leave together
    piece: int = 1 << 16  # bytes of what is no log that are written together
    fan: int = 8  # runs of a level that become one of the next
    few: int = 1 << 12  # cells or rows of a log that are not worth writing anew

    @staticmethod
    def of(memory: int) -> Limits:
        """The limits of a task that may use so many bytes."""
        body = min(max(memory // 64, 1 << 16), BODY)
        rows, answers = (min(max(memory >> shift, 64), most) for shift, most in ((10, ROWS), (11, ANSWERS)))
        return Limits(memory, rows, body, answers)

    @property
    def batch(self) -> int:
        """Bytes of rows that are folded at a time."""
        return max(self.memory // 16, 1)

    @property
    def bucket(self) -> int:
        """Bytes that a bucket keeps before it is split: it, what a batch brings and what is copied fit memory."""
        return max(self.memory // 16, 1)

    @property
    def key(self) -> int:
        """Bytes that a single key may have: putting them in order and answering takes them several times over."""
        return max(self.memory // EACH, 1)

    @property
    def resident(self) -> int:
        """Bytes of buckets that stay in memory together, but for a single one that has more."""
        return max(self.memory // 8, 1)

    @property
    def folded(self) -> int:
        """Bytes of cells that a task folds before they are sent."""
        return max(self.memory // 16, 1)
