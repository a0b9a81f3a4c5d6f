"""``sash run --watch``: the page of a pipeline that runs, and where it is."""

from __future__ import annotations

import json
import threading
from collections.abc import Sequence
from pathlib import Path

from sash.cli.app import errors
from sash.cli.waiting import stage
from sash.watching.serving import PageServer
from sash.watching.sight import RUNNING, Sight

EVERY = 1.0  # seconds between two looks at what Spark prints


class Page:
    """Serves the sights of a run, which it is told, until the run has ended and whoever looks has seen enough."""

    def __init__(self, log: Path, as_json: bool, port: int) -> None:
        PageServer.check()
        self._log, self._json, self._port = log, as_json, port
        self._server: PageServer | None = None
        self._sights: Sequence[Sight] = ()
        self._over = threading.Event()

    def __enter__(self) -> Page:
        return self

    def __exit__(self, *error: object) -> None:
        self._over.set()
        if self._server is not None:
            self._server.stop()

    def show(self, sights: Sequence[Sight]) -> None:
        """Put them on a page, and say where it is."""
        self._sights, self._server = sights, PageServer(sights, self._port)
        threading.Thread(target=self._follow, daemon=True).start()
        if self._json:
            print(json.dumps({"event": "page", "address": self._server.address}), flush=True)
        errors.print(f"page: {self._server.address}", markup=False, soft_wrap=True)

    def linger(self, stopping: threading.Event) -> None:
        """On a terminal, keep the page of what has ended until Ctrl-C."""
        if stopping.is_set() or not errors.is_terminal or self._json:
            return
        errors.print("done; the page stays until Ctrl-C", markup=False)
        try:
            stopping.wait()
        except KeyboardInterrupt:
            return

    def _follow(self) -> None:
        """Tell sights of batches how many tasks of a stage are done, which Spark prints."""
        while not self._over.wait(EVERY):
            for sight in self._sights:
                tasks = stage(self._log) if sight.state == RUNNING and not sight.batches else (0, 0)
                if tasks != sight.tasks:
                    sight.tasks = tasks
                    sight.version += 1
