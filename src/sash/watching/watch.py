"""A board that runs to be looked at: what ``board.watch()`` returns."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from sash.watching.serving import PageServer
from sash.watching.sight import Sight


class BoardWatch:
    """A page of a running board; it is closed by ``stop``, or at the end of a ``with`` block."""

    def __init__(self, sight: Sight, start: Callable[[], Callable[[threading.Event], None]], port: int = 0) -> None:
        """Serve the page, start the board, and run in a thread what tells the sight until it ends or is to stop."""
        self._sight = sight
        self._stopping = threading.Event()
        self._server = PageServer([sight], port)
        try:
            run = start()
        except BaseException:
            self._server.stop()
            raise
        self._thread = threading.Thread(target=self._run, args=(run,), name="sash-watched", daemon=True)
        self._thread.start()

    @property
    def address(self) -> str:
        """Where the page is, on this machine alone; the token in it is the key."""
        return self._server.address

    @property
    def state(self) -> str:
        """``"running"``, ``"ended"`` or ``"failed"``."""
        return self._sight.state

    def wait(self, seconds: float | None = None) -> bool:
        """Wait until the board has ended; whether it has. The page stays."""
        self._thread.join(seconds)
        return not self._thread.is_alive()

    def stop(self) -> None:
        """Stop the board, if it was started for the page, and close the page."""
        self._stopping.set()
        self._thread.join(60)
        self._server.stop()

    def _run(self, run: Callable[[threading.Event], None]) -> None:
        self._sight.began()
        try:
            run(self._stopping)
        except Exception as error:  # it is told on the page
            self._sight.ended(str(error).strip().split("\n\n")[0] or type(error).__name__)
        else:
            self._sight.ended()

    def __enter__(self) -> BoardWatch:
        return self

    def __exit__(self, *error: Any) -> None:
        self.stop()

    def __repr__(self) -> str:
        return f"<{self._sight.name}, {self._sight.state}: {self.address}>"
