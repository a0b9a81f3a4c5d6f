"""Bodies that wait for their bucket: in memory, and in files once they are many."""

from __future__ import annotations

import os
import struct
from collections.abc import Iterator
from typing import Any

from sash.engine.spilling.row_files import Directory, room
from sash.engine.streams.body import Body
from sash.engine.streams.sharding import Share

LEAD = struct.Struct("<qqqq")  # shard, content, task, bytes


class Waiting:
    """Bodies by bucket, of which no more than so many bytes are in memory; each bucket's stay in their order."""

    def __init__(self, most: int) -> None:
        self.most = most
        self._bodies: dict[Share, list[Body]] = {}
        self._size = 0
        self._disk: Directory | None = None
        self._files: dict[Share, str] = {}

    def __enter__(self) -> Waiting:
        return self

    def __exit__(self, *_: Any) -> None:
        if self._disk is not None:
            self._disk.__exit__()

    def add(self, share: Share, body: Body) -> None:
        """Let a body wait."""
        self._bodies.setdefault(share, []).append(body)
        self._size += len(body.table)
        if self._size > self.most:
            self._spill()

    def of(self, share: Share) -> Iterator[Body]:
        """The bodies of a bucket, which wait no more."""
        path, bodies = self._files.pop(share, None), self._bodies.pop(share, [])
        self._size -= sum(len(body.table) for body in bodies)
        if path is not None:
            with open(path, "rb") as file:
                os.unlink(path)
                while lead := file.read(LEAD.size):
                    shard, content, task, size = LEAD.unpack(lead)
                    yield Body(shard, content, file.read(size), task)
        while bodies:
            yield bodies.pop(0)

    def _spill(self) -> None:
        """Put all that is in memory behind what is in files."""
        self._disk = self._disk or Directory()
        for share, bodies in self._bodies.items():
            path = self._files.setdefault(share, self._disk.file().path)
            with room(os.path.dirname(path)), open(path, "ab") as file:
                for body in bodies:
                    file.write(LEAD.pack(body.shard, body.content, body.task, len(body.table)))
                    file.write(body.table)
        self._bodies, self._size = {}, 0
