"""State as plain bytes: a header that says what follows, arrays and tables one after the other, and a seal."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from sash.engine.streams.restoring import is_whole
from sash.errors import SashError
from sash.kernels.sealing import unpadded

MAGIC, VERSION, SEAL = b"SASHSTATE", 2, 16  # formats of partials are told by what is packed
MAKING = re.compile(
    r"\((?P<columns>.*?), (?P<rest>Settings\(.*), '(?P<slicer>\w+)', '(?P<emit>\w+)'\)(?P<more>.*)", re.DOTALL
)
NUMBER = re.compile(r"[<|=][biuf][1248]")  # dtypes of arrays


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
    header = _header(state[start:at])
    if header["making"] != making:
        raise SashError(
            "state must be of a stream of the same columns, queries and settings; this is of another, "
            f"{difference(header['making'], making)}"
        )
    if sum(entry["bytes"] for entry in header["parts"]) != len(state) - SEAL - at:
        raise SashError("state must have as many bytes as its header says, got another number")
    parts = {}
    for entry in header["parts"]:
        parts[entry["name"]] = _read(entry, state[at : at + entry["bytes"]])
        at += entry["bytes"]
    return parts


def difference(before: str, now: str) -> str:
    """What two streams differ in, by what their states belong to: columns, settings, queries, slicer and emit."""
    was, here = MAKING.fullmatch(before), MAKING.fullmatch(now)
    if was is None or here is None:
        return "which another Sash described"
    differences = [f"{name} {_line(was[name])}, here {_line(here[name])}" for name in ("columns", "slicer", "emit")
             if was[name] != here[name]]  # fmt: skip
    if was["more"] != here["more"]:
        differences.append(f"settings {was['more'].strip() or 'without'}, here {here['more'].strip() or 'without'}")
    if was["rest"] != here["rest"]:
        place = next((k for k, pair in enumerate(zip(was["rest"], here["rest"], strict=False)) if len(set(pair)) > 1),
                     min(len(was["rest"]), len(here["rest"])))  # fmt: skip
        begin = max(was["rest"].rfind(", ", 0, place) + 2, place - 40, 0)
        shown = (_line(each["rest"][begin : place + 80]) for each in (was, here))
        differences.append("settings or queries …{}…, here …{}…".format(*shown))
    return f"which has {'; '.join(differences)}"


def _line(text: str) -> str:
    return ", ".join(text.split("\n"))


def _header(text: bytes) -> dict[str, Any]:
    """What a header says, once it is found to be one."""
    try:
        header = json.loads(text)
    except (ValueError, RecursionError):
        header = None
    if isinstance(header, dict) and isinstance(header.get("making"), str) and isinstance(header.get("parts"), list):
        entries = header["parts"]
        if all(_is_entry(entry) for entry in entries) and len({entry["name"] for entry in entries}) == len(entries):
            return header
    raise SashError("state must have a header that names its parts, got another")


def _is_entry(entry: Any) -> bool:
    if not isinstance(entry, dict) or not isinstance(entry.get("name"), str) or not is_whole(entry.get("bytes"), 0):
        return False
    if entry.get("kind") == "array":
        dtype = entry.get("dtype")
        dtypes = dtype if isinstance(dtype, list) and dtype else [dtype]
        return all(isinstance(each, str) and NUMBER.fullmatch(each) for each in dtypes)
    return entry.get("kind") == "table" or (entry.get("kind") == "value" and "value" in entry and not entry["bytes"])


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


def sound_table(body: bytes) -> pa.Table:
    """The table that was bytes, which have been out of our hands: it is found to be sound."""
    try:
        table = table_of(body)
        table.validate(full=True)
    except (pa.ArrowException, OSError, ValueError, TypeError, KeyError) as error:
        if isinstance(error, MemoryError):
            raise
        raise SashError(f"state must have tables that Arrow can read, got one that it cannot: {error}") from None
    return table


def _described(part: Any) -> tuple[dict[str, Any], bytes]:
    if isinstance(part, np.ndarray):
        dtype = part.dtype.str if part.dtype.names is None else [part.dtype[name].str for name in part.dtype.names]
        return {"kind": "array", "dtype": dtype}, unpadded(part).tobytes()
    if isinstance(part, pa.Table):
        return {"kind": "table"}, table_bytes(part)
    return {"kind": "value", "value": part}, b""


def _read(entry: dict[str, Any], body: bytes) -> Any:
    if entry["kind"] == "array":
        described = entry["dtype"]
        fields = described if isinstance(described, str) else [(f"f{k}", each) for k, each in enumerate(described)]
        dtype = np.dtype(fields, align=not isinstance(described, str))
        if len(body) % dtype.itemsize:
            raise SashError(
                f"state must have whole numbers of {dtype.itemsize} bytes in {entry['name']}, got a part of one"
            )
        return np.frombuffer(body, dtype).copy()
    if entry["kind"] == "table":
        return sound_table(body)
    return entry["value"]


def _seal(content: bytes) -> bytes:
    return hashlib.blake2b(content, digest_size=SEAL).digest()
