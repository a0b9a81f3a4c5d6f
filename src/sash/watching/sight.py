"""What a page shows of one board, as it is known now."""

from __future__ import annotations

import time
from collections import Counter, deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from sash.planner.stream_plan import StreamPlan
from sash.watching.samples import KEYS, SHOWN, Wanted

POINTS = 600  # answers of a line that are remembered
BATCHES = 120
NOTHING = Wanted((), ())
RUNNING, ENDED, FAILED = "running", "ended", "failed"


@dataclass(frozen=True)
class BatchSeen:
    """A batch that was taken: its number, its rows, and how long it took."""

    number: int
    rows: int
    milliseconds: float


@dataclass
class Sight:
    """One board: its plan, and how far it is. What happens is told by methods; a page reads the fields."""

    name: str
    plan: StreamPlan | None = None
    wanted: Wanted = NOTHING
    by_time: bool = True
    state: str = "waiting"
    words: str = ""  # why it failed, or what it does now
    rows_in: int | None = None
    answers: int | None = None
    late: int | None = None
    reasons: Counter[str] = field(default_factory=Counter)
    rows_late: deque[str] = field(default_factory=lambda: deque(maxlen=SHOWN))
    watermark: datetime | None = None
    keys: int | None = None
    size: int | None = None
    tasks: tuple[int, int] = (0, 0)  # of a batch: done, and all of the stage that runs
    batches: deque[BatchSeen] = field(default_factory=lambda: deque(maxlen=BATCHES))
    lines: dict[str, dict[str, dict[float, float]]] = field(default_factory=dict)  # by query and key
    samples: bool = False  # whether answers are seen at all
    begun: float = 0.0
    seconds: float | None = None
    version: int = 0

    def began(self) -> None:
        """It runs."""
        self.state, self.begun = RUNNING, time.monotonic()
        self.version += 1

    def ended(self, error: str | None = None) -> None:
        """It runs no more."""
        if self.state in (ENDED, FAILED):
            return
        self.state, self.words = (FAILED, error) if error else (ENDED, self.words)
        self.seconds = time.monotonic() - self.begun if self.begun else None
        self.version += 1

    @property
    def lag(self) -> float | None:
        """How many seconds the watermark is behind the clock."""
        if self.watermark is None:
            return None
        return max((datetime.now(UTC) - self.watermark).total_seconds(), 0.0)

    @property
    def passed(self) -> float:
        """For how many seconds it has run."""
        if self.seconds is not None:
            return self.seconds
        return time.monotonic() - self.begun if self.begun else 0.0

    def took(self, rows: int, milliseconds: float, number: int | None = None) -> None:
        """A batch was taken."""
        self.rows_in = (self.rows_in or 0) + rows
        following = self.batches[-1].number + 1 if self.batches else 0
        self.batches.append(BatchSeen(following if number is None else number, rows, milliseconds))
        self.version += 1

    def sampled(self, sample: Mapping[str, Any]) -> None:
        """Answers were seen, and reasons."""
        self.samples = True
        for label, queries in sample["answers"].items():
            for query, points in queries.items():
                lines = self.lines.setdefault(query, {})
                line = lines.setdefault(label, {})
                line.update((end, value) for end, value in points)  # an early answer is given again
                for end in sorted(line)[:-POINTS]:
                    del line[end]
                for gone in sorted(lines)[KEYS:]:
                    del lines[gone]
        self.reasons.update(sample["late"])
        self.rows_late.extend(sample["rows"])
        self.version += 1

    def labels(self) -> list[str]:
        """The keys that have lines, in the order of their colours."""
        return sorted({label for lines in list(self.lines.values()) for label in list(lines)})
