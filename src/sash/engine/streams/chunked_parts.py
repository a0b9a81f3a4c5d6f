"""State that is not a log: named parts as pieces of bytes, of which those that changed are written."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sash.engine.streams.packing import packed, unpacked
from sash.engine.streams.restoring import is_whole, refused
from sash.engine.streams.store import ChunkWriter, digest_of, unchanged

CORE = "core"


def _is_pieces(pieces: Any, following: int) -> bool:
    """Whether something is numbers of chunks, before those that follow, and their digests."""
    return isinstance(pieces, list) and all(
        isinstance(each, list) and len(each) == 2 and is_whole(each[0], 0, following - 1) and type(each[1]) is str
        for each in pieces
    )


class ChunkedParts:
    """The numbers and digests of the pieces of each part; parts that are small as a whole go with the head."""

    def __init__(self, piece: int) -> None:
        self.piece = piece
        self.known: dict[str, list[list[Any]]] = {}
        self.size = 0

    def write(self, parts: Mapping[str, Any], writer: ChunkWriter) -> bytes:
        """Write what changed; gives all of it where that is little."""
        whole = packed(CORE, parts)
        small = len(whole) <= self.piece
        now: dict[str, list[list[Any]]] = {}
        self.size = 0
        for name, part in ({} if small else parts).items():
            body = packed(CORE, {name: part})
            self.size += len(body)
            before = self.known.get(name, [])
            now[name] = []
            for k, at in enumerate(range(0, len(body), self.piece)):
                piece = body[at : at + self.piece]
                digest = digest_of(piece)
                if k < len(before) and before[k][1] == digest:
                    now[name].append(before[k])
                else:
                    now[name].append([writer.add(piece), digest])
        stay = {number for pieces in now.values() for number, _ in pieces}
        for number in {number for pieces in self.known.values() for number, _ in pieces} - stay:
            writer.remove(number)
        self.known = now
        return whole if small else b""

    def read(self, known: Any, whole: bytes, writer: ChunkWriter) -> dict[str, Any]:
        """The parts that were written."""
        if not isinstance(known, dict) or not all(_is_pieces(pieces, writer.next) for pieces in known.values()):
            raise refused("the pieces of the rest", "their numbers and digests", "another thing")
        self.known = known
        if not known:
            return unpacked(CORE, whole)
        all_parts: dict[str, Any] = {}
        for name, pieces in known.items():
            body = b"".join(unchanged(writer.read(number), digest, "the rest") for number, digest in pieces)
            self.size += len(body)
            parts = unpacked(CORE, body)
            if list(parts) != [name]:
                raise refused(f"the pieces of {name}", "that part alone", ", ".join(parts) or "none")
            all_parts |= parts
        return all_parts

    def clear(self, writer: ChunkWriter) -> None:
        """Drop all pieces."""
        for number in {number for pieces in self.known.values() for number, _ in pieces}:
            writer.remove(number)
        self.known = {}
