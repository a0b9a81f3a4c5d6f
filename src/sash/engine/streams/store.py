"""Chunks of bytes by number: where a shard keeps what it must not lose, and what a batch writes there."""

from __future__ import annotations

import hashlib
from typing import Protocol

from sash.errors import SashError


class ChunkStore(Protocol):
    """What keeps chunks, such as a map in Spark's state: whatever a batch does there is done as a whole, or not."""

    def read(self, number: int) -> bytes:
        """A chunk."""

    def write(self, number: int, body: bytes) -> None:
        """Keep a chunk."""

    def remove(self, number: int) -> None:
        """Drop a chunk."""


class ChunkWriter:
    """What a batch writes and drops; it waits, as far as it is little, since much of it may be replaced again."""

    def __init__(self, store: ChunkStore, following: int, wait: int) -> None:
        self.store, self.next, self.wait = store, following, wait
        self._waiting: dict[int, bytes] = {}
        self._size = 0

    def add(self, body: bytes) -> int:
        """Write a chunk; gives its number."""
        self._waiting[self.next] = body
        self._size += len(body)
        self.next += 1
        if self._size > self.wait:
            self.flush()
        return self.next - 1

    def read(self, number: int) -> bytes:
        """A chunk, written or not."""
        body = self._waiting.get(number)
        return self.store.read(number) if body is None else body

    def remove(self, number: int) -> None:
        """Drop a chunk; one that is not written yet never will be."""
        body = self._waiting.pop(number, None)
        if body is None:
            self.store.remove(number)
        else:
            self._size -= len(body)

    def flush(self) -> None:
        """Write all that waits."""
        for number, body in self._waiting.items():
            self.store.write(number, body)
        self._waiting, self._size = {}, 0


def digest_of(body: bytes) -> str:
    """What a chunk is known by when it is read again."""
    return hashlib.blake2b(body, digest_size=8).hexdigest()


def unchanged(body: bytes, digest: str, part: str) -> bytes:
    """A chunk that was read, once it is found to be what was written."""
    if digest_of(body) != digest:
        raise SashError(f"state must be unchanged since it was kept; a chunk of {part} is damaged")
    return body
