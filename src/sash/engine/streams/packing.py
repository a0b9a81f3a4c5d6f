"""State as plain bytes: a header that says what follows, arrays and tables one after the other, and a seal."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from sash.errors import SashError
from sash.kernels.sealing import unpadded

MAGIC, VERSION, SEAL = b"SASHSTATE", 2, 16  # formats of partials are told by what is packed


def packed(making: str, parts: Mapping[str, Any]) -> bytes:
    """Arrays, tables, and numbers or text, as bytes; ``making`` says what they belong to."""
    described, bodies = [], []
    for name, part in parts.items():
        entry, body = _described(part)
        described.append({"name": name, "bytes": len(body), **entry})
        bodies.append(body)
    header = json.dumps({"making": making, "parts": described}).encode()
    lead = MAGIC + VERSION.to_bytes(2, "little") + len(header).to_bytes(8, "little")
    content = b"".join([lead, header, *bodies])
    return content + _seal(content)


def unpacked(making: str, state: bytes) -> dict[str, Any]:
    """What was packed; raises where the bytes are damaged, of another version, or of something else."""
    if not isinstance(state, (bytes, bytearray, memoryview)):
        raise SashError(f"state must be the bytes that snapshot() gave, got {type(state).__name__}")
    state = bytes(state)
    start = len(MAGIC) + 10
    if len(state) < start + SEAL or state[: len(MAGIC)] != MAGIC:
        raise SashError(f"state must be the bytes that snapshot() gave, got {len(state)} other bytes")
    version = int.from_bytes(state[len(MAGIC) : len(MAGIC) + 2], "little")
    if version != VERSION:
        raise SashError(
            f"state must be of version {VERSION}, got version {version}, which another Sash wrote and this one cannot "
            "read: fold the rows again, with a new checkpointLocation on Spark"
        )
    if state[-SEAL:] != _seal(state[:-SEAL]):
        raise SashError("state must be unchanged since snapshot() gave it; these bytes are damaged")
    at = start + int.from_bytes(state[len(MAGIC) + 2 : start], "little")
    header = json.loads(state[start:at])
    if header["making"] != making:
        raise SashError("state must be of a stream of the same columns, queries and settings; this is of another")
    parts = {}
    for entry in header["parts"]:
        parts[entry["name"]] = _read(entry, state[at : at + entry["bytes"]])
        at += entry["bytes"]
    return parts


def table_bytes(table: pa.Table) -> bytes:
    """A table as bytes of Arrow's own format."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return sink.getvalue().to_pybytes()


def table_of(body: bytes) -> pa.Table:
    """The table that was bytes."""
    with pa.ipc.open_stream(pa.BufferReader(body)) as reader:
        return reader.read_all()


def _described(part: Any) -> tuple[dict[str, Any], bytes]:
    if isinstance(part, np.ndarray):
        dtype = part.dtype.str if part.dtype.names is None else [part.dtype[name].str for name in part.dtype.names]
        return {"kind": "array", "dtype": dtype}, unpadded(part).tobytes()
    if isinstance(part, pa.Table):
        return {"kind": "table"}, table_bytes(part)
    return {"kind": "value", "value": part}, b""


def _read(entry: dict[str, Any], body: bytes) -> Any:
    if entry["kind"] == "array":
        kind = entry["dtype"]
        fields = kind if isinstance(kind, str) else [(f"f{k}", each) for k, each in enumerate(kind)]
        return np.frombuffer(body, np.dtype(fields, align=not isinstance(kind, str))).copy()
    if entry["kind"] == "table":
        return table_of(body)
    return entry["value"]


def _seal(content: bytes) -> bytes:
    return hashlib.blake2b(content, digest_size=SEAL).digest()
