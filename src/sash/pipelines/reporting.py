"""What is told of a run: as it goes, and at its end."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass
class Progress:
    """How far a sink is; of a batch, only its rows at the end."""

    sink: str
    rows_in: int = 0
    answers: int | None = None
    late: int | None = None
    rate: float = 0.0  # rows read a second, of the last batch
    watermark: str | None = None
    lag: float | None = None  # seconds that the watermark is behind now
    batch: int | None = None
    malformed: int | None = None  # messages that were no rows


@dataclass
class Written:
    """What became of a sink."""

    sink: str
    taken: str
    place: str
    rows: int | None
    late: int | None
    seconds: float


@dataclass
class Summary:
    """What a run did."""

    pipeline: str
    mode: str
    rows_in: dict[str, int | None] = field(default_factory=dict)
    sinks: list[Written] = field(default_factory=list)
    seconds: float = 0.0
    stopped: bool = False  # by the user
    malformed: dict[str, int] = field(default_factory=dict)  # messages that were no rows, by source, where there are


class Reporter:
    """Takes what is told; this one keeps silent."""

    def began(self, sink: str) -> None:
        """A sink is being written."""

    def moved(self, progress: Progress) -> None:
        """A stream has taken another batch."""

    def show(self, sink: str, rows: Any) -> None:
        """Rows for people, an Arrow table; up to one more than are shown."""

    def ended(self, written: Written) -> None:
        """A sink is written."""
