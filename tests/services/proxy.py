"""A proxy before PostgreSQL, which cuts connections at the moment that a test asks for."""

import contextlib
import socket
import threading
from dataclasses import dataclass, field

SYNC = b"S\x00\x00\x00\x04"  # how a question ends
READY = b"Z\x00\x00\x00\x05I"  # how an answer ends when no transaction is open any more
MOMENTS = ("before", "during", "after", "wait", "hold", "orphan")


@dataclass
class Cut:
    """What is to happen to the connections that ask for something.

    before: it never gets to the server. during: the server has done it, and the answer is lost. after: the answer
    arrives, and nothing after it. wait, hold: nothing is cut; the question, or its answer, waits until it is let go.
    orphan: the client is cut at once, and the server goes on alone.
    """

    text: bytes
    moment: str
    times: int
    down: bool  # whether nobody gets through any more after it
    done: int = 0


@dataclass
class Proxy:
    """A port of its own for a server's."""

    port: int
    here: int = 0
    cut: Cut | None = None
    down: bool = False
    _closing: bool = False
    _free: threading.Event = field(default_factory=threading.Event)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _open: list[socket.socket] = field(default_factory=list)

    def __enter__(self):
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.here = self._listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(self, *_):
        self._closing = True
        self._free.set()
        close(self._listener, *self._open)

    def url(self, server):
        return server.url.replace(f":{server.port}/", f":{self.here}/")

    def order(self, text, moment, times=1, down=False):
        """Have the next connections that say something cut."""
        assert moment in MOMENTS
        self.down = False
        self._free.clear()
        self.cut = Cut(text.encode(), moment, times, down)
        return self.cut

    def release(self):
        """Let go what waits."""
        self._free.set()

    def _accept(self):
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            if self.down or self._closing:
                close(client)
                continue
            server = socket.create_connection(("127.0.0.1", self.port))
            self._open += [client, server]
            Connection(self, client, server).start()

    def taken(self, said):
        """The cut that is meant by what a client says, if there is one."""
        with self._lock:
            cut = self.cut
            if cut is None or cut.done >= cut.times or cut.text not in said:
                return None
            cut.done += 1
            self.down = self.down or cut.down
            return cut


class Connection:
    """A client, the server, and what goes from one to the other."""

    def __init__(self, proxy, client, server):
        self.proxy, self.client, self.server = proxy, client, server
        self.cut = None

    def start(self):
        threading.Thread(target=self._run, args=(self._ask,), daemon=True).start()
        threading.Thread(target=self._run, args=(self._answer,), daemon=True).start()

    def _run(self, pump):
        try:
            pump()
        except OSError:
            pass  # cut, by us or by one of them
        finally:
            if self.cut is None or self.cut.moment != "orphan" or pump == self._answer:
                close(self.client, self.server)

    def _ask(self):
        said = b""
        while part := self.client.recv(65536):
            said = (said + part)[-200_000:]
            if self.cut is None and (cut := self.proxy.taken(said)) is not None:
                if cut.moment == "before":
                    return
                if cut.moment == "wait":
                    self.proxy._free.wait()
                else:
                    self.cut = cut
            self.server.sendall(part)
            if self.cut is not None and self.cut.moment == "orphan" and part.endswith(SYNC):
                return close(self.client)

    def _answer(self):
        told = b""
        while part := self.server.recv(65536):
            if self.cut is None:
                self.client.sendall(part)
                continue
            told += part
            if not told.endswith(READY):
                continue
            if self.cut.moment == "hold":
                self.proxy._free.wait()
            if self.cut.moment in ("hold", "after"):
                self.client.sendall(told)
            if self.cut.moment != "hold":
                return
            self.cut, told = None, b""


def close(*sockets):
    for each in sockets:
        with contextlib.suppress(OSError):
            each.shutdown(socket.SHUT_RDWR)  # wakes the thread that reads from it
        each.close()
