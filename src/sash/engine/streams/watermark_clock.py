"""The clock of a stream: it shows how far ahead rows may be, and moves the watermark once nothing has come for long."""

from __future__ import annotations

from typing import Any

from sash.engine.streams.assigners.base import LEAST
from sash.engine.streams.restoring import is_whole, refused
from sash.engine.streams.scheme import Scheme
from sash.engine.streams.times import as_ticks, now
from sash.errors import SashError


def clock_shown(scheme: Scheme, clock: Any) -> int | None:
    """What the clock shows, in ticks, where that matters: what was given, or the time on this machine."""
    if scheme.settings.ahead is None and scheme.idle is None:
        if clock is not None:
            raise SashError(f"clock is for ahead= and idle= of sash.stream, got {clock!r} without them")
        return None
    return now(scheme.time_type) if clock is None else as_ticks(clock, scheme.time_type, "clock")


class IdleClock:
    """What the clock showed when rows last came, and where the watermark was then."""

    def __init__(self, idle: int | None) -> None:
        self.idle = idle
        self._active: tuple[int, int | None] | None = None

    def moved(self, clock: int | None, watermark: int | None, came: bool) -> int | None:
        """Where the watermark is by the clock: moved as far as this, once nothing has come for long; or nowhere."""
        if self.idle is None or clock is None:
            return None
        if came or self._active is None:
            self._active = clock, watermark
            return None
        since, watermark = self._active
        return watermark + clock - since if watermark is not None and clock - since >= self.idle else None

    def parts(self) -> dict[str, Any]:
        """All that must be kept to go on later."""
        return {} if self.idle is None else {"active": None if self._active is None else list(self._active)}

    def restore(self, parts: dict[str, Any]) -> None:
        """Go on with what was kept; before a stream was idle there was nothing."""
        active = parts.get("active") if self.idle is not None else None
        if active is not None:
            if not isinstance(active, list) or len(active) != 2 or not is_whole(active[0]):
                raise refused("active", "a time and a watermark", "another thing")
            if active[1] is not None and not is_whole(active[1], LEAST + 1):
                raise refused("active", "a time and a watermark", "another thing")
            self._active = active[0], active[1]
