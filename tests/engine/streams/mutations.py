"""Valid state taken apart, changed, and put together again with a right seal."""

import hashlib
import json

import numpy as np
import pyarrow as pa
from hypothesis import strategies as st

from sash.engine.streams.packing import MAGIC, SEAL, table_bytes, table_of

HUGE = (0, 1, 2, 7, 2**31, 2**40, 2**62, 2**63 - 1)
NUMBERS = st.sampled_from([*HUGE, *(-each for each in HUGE), -(2**63)]) | st.integers(-10, 100)
OTHERS = st.sampled_from(
    [None, True, False, 2**63, -(2**70), 10**400, 1.5, float("nan"), "", "x", [], [0], {}, {"a": 1}, [[1, 2, 3]]]
)
VALUES = NUMBERS | OTHERS | st.just([[[[[[[0]]]]]]])
DTYPES = ("<i8", "<u8", "|u1", "<i4", "<f8", "|b1", "<f2")
BAD_DTYPES = ("|O", "<c16", "<M8[us]", "|S5", "nonsense", 8, None, [], ["<i8", "<f8"], ["|O"], {"a": 1}, "<i9", ">i8")


def apart(state):
    """What state is of, and the entry and the bytes of each part."""
    start = len(MAGIC) + 10
    at = start + int.from_bytes(state[len(MAGIC) + 2 : start], "little")
    header, parts = json.loads(state[start:at]), []
    for entry in header["parts"]:
        parts.append((entry, state[at : at + entry["bytes"]]))
        at += entry["bytes"]
    return header["making"], parts


def together(making, parts, like):
    """The state that such parts make, sealed."""
    header = json.dumps({"making": making, "parts": [entry for entry, _ in parts]}).encode()
    return sealed(header, b"".join(body for _, body in parts), like)


def sealed(header, bodies, like):
    """A header and bodies with the lead and the seal that they need."""
    content = like[: len(MAGIC) + 2] + len(header).to_bytes(8, "little") + header + bodies
    return content + hashlib.blake2b(content, digest_size=SEAL).digest()


def mutated(draw, state, inner=None, opaque=False):
    """State with something of it changed, and of parts that are state themselves, which ``inner`` tells by their names.

    With ``opaque``, bytes in tables stay, which are of sketches: what these say is their library's to check.
    """
    making, parts = apart(state)
    if draw(st.sampled_from(range(50))) == 49:
        header = draw(st.sampled_from([b"", b"{", b"[" * 100_000, b"null", b"\xff", b'{"making": "x"}', b"9" * 5000]))
        return sealed(header, b"", state)
    for _ in range(draw(st.integers(1, 2))):
        if not parts:
            break
        weights = [k for k, (_, body) in enumerate(parts) for _ in range(4 if body else 1)]
        k = draw(st.sampled_from(weights))
        entry, body = parts[k]
        how = draw(st.sampled_from(["change"] * 25 + ["drop", "twice", "swap", "size", "kind"]))
        if how == "drop":
            del parts[k]
        elif how == "twice":
            parts.append(parts[k])
        elif how == "swap":
            j = draw(st.integers(0, len(parts) - 1))
            other, theirs = parts[j]
            parts[k], parts[j] = ({**other, "name": entry["name"]}, theirs), ({**entry, "name": other["name"]}, body)
        elif how == "size":
            parts[k] = ({**entry, "bytes": draw(VALUES)}, body)
        elif how == "kind":
            parts[k] = ({**entry, "kind": draw(st.sampled_from(["array", "table", "value", "x", None, 3]))}, body)
        elif inner is not None and inner(entry["name"]):
            body = mutated(draw, body, opaque=opaque) if len(body) > len(MAGIC) + SEAL else bytes(7)
            parts[k] = ({**entry, "bytes": len(body)}, body)
        else:
            parts[k] = changed(draw, entry, body, opaque)
    return together(making, parts, state)


def changed(draw, entry, body, opaque=False):
    """A part of other content."""
    if entry["kind"] == "array":
        entry, body = changed_array(draw, entry, body)
    elif entry["kind"] == "table":
        body = changed_table(draw, body, opaque)
    else:
        body, entry = b"", {**entry, "value": changed_value(draw, entry.get("value"))}
    return {**entry, "bytes": len(body)}, body


def changed_value(draw, value):
    """A value, or something within it, replaced by another."""
    if isinstance(value, (list, dict)) and value and draw(st.integers(0, 4)):
        copy = value.copy()
        key = draw(st.sampled_from(sorted(copy) if isinstance(copy, dict) else range(len(copy))))
        how = draw(st.integers(0, 8))
        if how == 0:
            del copy[key]
        elif how == 1 and isinstance(copy, list):
            copy.append(copy[key])
        else:
            copy[key] = changed_value(draw, copy[key])
        return copy
    return draw(VALUES)


def changed_array(draw, entry, body):
    """Numbers of another dtype, length, order or value."""
    how = draw(st.sampled_from(["value"] * 10 + ["dtype", "bad dtype", "cut", "odd", "longer", "turn", "copy"]))
    if how == "bad dtype":
        return {**entry, "dtype": draw(st.sampled_from(BAD_DTYPES))}, body
    if how == "dtype":
        return {**entry, "dtype": draw(st.sampled_from(DTYPES))}, body
    if how == "cut":
        return entry, body[: draw(st.integers(0, len(body) // 8)) * 8]
    if how == "odd":
        return entry, body[: draw(st.integers(0, len(body)))]
    if how == "longer":
        return entry, body + body[: draw(st.integers(1, 9)) * 8] + bytes(draw(st.integers(0, 3)) * 8)
    words = np.frombuffer(body[: len(body) // 8 * 8], np.int64).copy()
    if not len(words):
        return entry, bytes(draw(st.integers(1, 4)) * 8)
    place = draw(st.integers(0, len(words) - 1))
    if how == "turn":
        words = words[::-1]
    elif how == "copy":
        words[place] = words[draw(st.integers(0, len(words) - 1))]
    elif draw(st.booleans()) or entry.get("dtype") == "|u1":
        turned = bytearray(body)
        turned[draw(st.integers(0, len(body) - 1))] ^= draw(st.integers(1, 255))
        return entry, bytes(turned)
    else:
        words[place] = draw(NUMBERS)
    return entry, words.tobytes() + body[len(body) // 8 * 8 :]


def changed_table(draw, body, opaque=False):
    """Rows, columns or bytes of a table that are others."""
    if not body:  # cut before
        return bytes(8)
    raw = [] if opaque else ["bytes"] * 4 + ["words"] * 4
    how = draw(st.sampled_from([*raw, "rows", "null", "value", "type", "name", "drop", "add", "cut"]))
    if how == "bytes" or (how == "words" and len(body) < 16):
        turned = bytearray(body)
        for _ in range(draw(st.integers(1, 3))):
            turned[draw(st.integers(0, len(body) - 1))] ^= draw(st.integers(1, 255))
        return bytes(turned)
    if how == "words":  # offsets and lengths, as they lie there
        place = draw(st.integers(0, len(body) // 8 - 1)) * 8
        width = draw(st.sampled_from([4, 8]))
        word = (draw(NUMBERS) % (1 << 8 * width)).to_bytes(width, "little")
        return body[:place] + word + body[place + width :]
    if how == "cut":
        return body[: draw(st.integers(0, len(body)))]
    try:
        table = table_of(body)
    except (pa.ArrowException, OSError):  # changed before
        return body[:-1]
    if how == "rows" or not table.num_columns:
        picks = draw(st.lists(st.integers(0, max(table.num_rows - 1, 0)), max_size=2 * table.num_rows))
        return table_bytes(table.take(pa.array(picks, pa.int64())) if table.num_rows else pa.concat_tables([table] * 2))
    k = draw(st.integers(0, table.num_columns - 1))
    name, column = table.column_names[k], table.column(k)
    values = column.to_pylist()
    if how in ("null", "value") and values:
        place = draw(st.integers(0, len(values) - 1))
        other = None if how == "null" else replaced(draw, values[place], values)
        try:
            return table_bytes(
                table.set_column(k, name, pa.array([*values[:place], other, *values[place + 1 :]], column.type))
            )
        except (pa.ArrowException, OverflowError, TypeError):
            return table_bytes(table.slice(place))
    if how == "type":
        kind = draw(
            st.sampled_from([pa.int64(), pa.int32(), pa.float64(), pa.string(), pa.binary(), pa.list_(pa.int8())])
        )
        return table_bytes(table.set_column(k, name, pa.nulls(table.num_rows, kind)))
    if how == "name":
        return table_bytes(table.rename_columns([*table.column_names[:k], "x", *table.column_names[k + 1 :]]))
    if how == "drop":
        return table_bytes(table.remove_column(k))
    return table_bytes(table.append_column(draw(st.sampled_from([name, "x", "row x", "state x"])), column))


def replaced(draw, value, values):
    """A value in the place of one of a column."""
    if isinstance(value, bytes) and draw(st.booleans()):
        return value[: draw(st.integers(0, len(value)))] + bytes(draw(st.integers(0, 2)))
    if isinstance(value, int) and draw(st.booleans()):
        return draw(NUMBERS)
    return draw(st.sampled_from(values))
