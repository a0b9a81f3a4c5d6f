"""A page on this machine: served by Bokeh on 127.0.0.1 alone, at an address with a token, with nothing from outside."""

from __future__ import annotations

import asyncio
import logging
import secrets
import socket
import threading
from collections.abc import Sequence
from functools import partial
from typing import Any

from sash.errors import SashError
from sash.watching.sight import Sight

HERE = "127.0.0.1"
PATIENCE = 20.0  # seconds that a server may take to start


class PageServer:
    """A page that is served by a thread of this process until it is stopped."""

    def __init__(self, sights: Sequence[Sight], port: int = 0) -> None:
        _check_port(port)
        self._make = _maker(sights)
        self._token = secrets.token_urlsafe(16)
        self._port = port or _free_port()
        self._started = threading.Event()
        self._error: BaseException | None = None
        self._loop: Any = None
        self._server: Any = None
        self._thread = threading.Thread(target=self._serve, name="sash-watch", daemon=True)
        self._thread.start()
        self._started.wait(PATIENCE)
        if self._error is not None:
            raise SashError(f"port must be free on {HERE}, got {self._port}: {self._error}")

    @staticmethod
    def check() -> None:
        """Refuse early where there is nothing to serve pages with."""
        _maker(())

    @property
    def address(self) -> str:
        """Where the page is; whoever knows the address may look."""
        return f"http://{HERE}:{self._port}/{self._token}/"

    def stop(self) -> None:
        """Serve no more."""
        if self._loop is not None and self._thread.is_alive():
            self._loop.add_callback(self._close)
            self._thread.join(PATIENCE)

    def _serve(self) -> None:
        from bokeh.server.server import Server

        for name in ("tornado.access", "tornado.application", "bokeh"):
            logging.getLogger(name).setLevel(logging.CRITICAL)  # who looks elsewhere is told so, and nobody else
        asyncio.set_event_loop(asyncio.new_event_loop())
        try:
            self._server = Server(
                {"/": self._make},
                port=self._port,
                address=HERE,
                prefix=f"/{self._token}",
                allow_websocket_origin=[f"{HERE}:{self._port}"],
            )
            self._server.start()
            self._loop = self._server.io_loop
        except (OSError, SystemExit) as error:
            self._error = error
            return
        finally:
            self._started.set()
        self._loop.start()

    def _close(self) -> None:
        self._server.stop()
        self._loop.stop()


def _maker(sights: Sequence[Sight]) -> Any:
    try:
        from bokeh.application import Application
        from bokeh.application.handlers.function import FunctionHandler

        from sash.watching.page import draw
    except ModuleNotFoundError as error:
        package = (error.name or "").partition(".")[0]
        if package not in ("bokeh", "tornado", "jinja2"):
            raise
        raise SashError(f"the page needs {package}: pip install 'sash[watch]'") from None
    return Application(FunctionHandler(partial(_drawn, draw, sights)))


def _drawn(draw: Any, sights: Sequence[Sight], doc: Any) -> None:
    draw(doc, sights)


def _check_port(port: int) -> None:
    if isinstance(port, bool) or not isinstance(port, int) or not 0 <= port < 1 << 16:
        raise SashError(f"port must be a whole number below 65536, or 0 for any that is free, got {port!r}")


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind((HERE, 0))
        return int(probe.getsockname()[1])
