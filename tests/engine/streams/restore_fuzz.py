"""State of any content under right seals: it is refused with a sentence, or answers come; no kernel leaves its arrays.

``test_restore_fuzz.py`` runs this in a process of its own whose kernels check their bounds.
"""

import hashlib
import io
import os
from functools import cache

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sash
from engine.streams.mutations import NUMBERS, apart, changed_table, mutated, together
from engine.streams.test_shards import END, Chunks, Job
from engine.streams.test_windows import SCHEMA, table
from sash import functions as sf
from sash.algebra.catalogue import builtin
from sash.engine import SlidingWindow
from sash.engine.sliding_window import FORMAT
from sash.engine.sliding_window import SEAL as DIGEST
from sash.engine.streams.limits import Limits
from sash.engine.streams.shard import Shard
from sash.engine.streams.store import digest_of
from sash.errors import SashError
from sash.kernels.compiling import routine
from sash.kernels.fifo import ALGORITHMS, Sliding
from sash.kernels.sealing import _seal as seal_of_arrays
from strategies import usually

assert os.environ.get("SASH_BOUNDSCHECK") == "1"

PARTIALS = {"n": sf.count(), "mean": sf.avg("v"), "peak": sf.max("v")}
ROWS = {"mid": sf.median("v"), "all": sf.collect_list("w")}
SKETCHES = {"rank": sf.kll_percentile("v", 0.5), "kinds": sf.hll_count_distinct("w"), "top": sf.frequent_items("w", 1)}
SLIDES = {"range": "4 seconds", "slide": "1 second"}
SPANS = pa.schema({"start": pa.timestamp("us"), "end": pa.timestamp("us"), "k": pa.string(), "v": pa.int64()})


def events(step, keys=3):
    """The rows of a second."""
    rows = range(step * 10, step * 10 + 10)
    return table([{"ts": at * 100_000, "k": f"key {at % keys}", "v": None if at % 7 == 3 else at, "w": "xyz"[at % 3]}
                  for at in rows])  # fmt: skip


def lasting(step):
    """The same of events that last."""
    rows = [
        (at * 100_000, at * 100_000 + (at % 5) * 300_000, f"key {at % 3}", at)
        for at in range(step * 10, step * 10 + 10)
    ]
    start, end, key, value = map(list, zip(*rows, strict=True))
    return pa.table([pa.array(start), pa.array(end), key, value], names=SPANS.names).cast(SPANS)


def halves(step):
    """Starts and ends of such events in rows of their own."""
    whole = lasting(step)
    none = pa.nulls(whole.num_rows, pa.timestamp("us"))
    begun, ended = whole.set_column(1, SPANS.field(1), none), whole.set_column(0, SPANS.field(0), none)
    return pa.concat_tables([begun, ended])


def board(calls, windows, rows=events, **settings):
    source = SCHEMA if rows is events else SPANS
    usual = {"time": "ts"} if rows is events else {"span": ("start", "end")}
    return sash.stream(source, **(usual | {"key": "k", "watermark": "1 second"} | settings)).query(
        calls, **windows
    ), rows


@cache
def boards():
    """Streams of all kinds: the board, what pushes rows, and what is emitted."""
    half = sash.col("v") + 0.5
    few = {"n": sf.count(), "peak": sf.max("v")}
    return {
        "partials": (*board(PARTIALS, SLIDES), "final"),
        "rows": (*board(ROWS, SLIDES), "final"),
        "both": (*board(PARTIALS | ROWS, SLIDES, key=["k", "w"]), "final"),
        "early": (*board(PARTIALS | ROWS, SLIDES), "updates"),
        "changes": (*board(PARTIALS, SLIDES), "changes"),
        "cutty": (*board(PARTIALS, SLIDES, slicer="cutty", watermark="0 seconds"), "final"),
        "keyless": (*board(PARTIALS, SLIDES, key=None), "final"),
        "months": (*board(PARTIALS, {"range": "2 months", "slide": "1 month"}), "updates"),
        "counts": (*board(PARTIALS | ROWS, {"range": 7, "slide": 2}), "changes"),
        "counts early": (*board(PARTIALS, {"range": 7, "slide": 2}), "updates"),
        "counts as they come": (*board(PARTIALS, {"range": 7, "slide": 2}, time=None, watermark=None), "final"),
        "punctuation": (*board(PARTIALS | ROWS, {"range": sash.punctuation("v % 5 = 0")}), "changes"),
        "delta": (*board(PARTIALS | ROWS, {"range": sash.delta("v", 5)}), "final"),
        "delta slides": (*board(few, {"range": sash.delta(half, 5), "slide": sash.delta(half, 2)}), "final"),
        "spans": (*board(few, SLIDES, lasting, postpone="auto"), "final"),
        "held spans": (*board({"mid": sf.median("v"), "most": sf.max_concurrent()}, SLIDES, lasting), "updates"),
        "halves": (*board(few, SLIDES, halves, pair="k", longest="9 seconds"), "final"),
        "sketches": (*board(SKETCHES, SLIDES), "final"),
    }  # fmt: skip


@cache
def kept(name):
    """The snapshot of an operator in the middle of its work."""
    stream, rows, emit = boards()[name]
    operator = stream.open(emit)
    for step in range(6):
        operator.push(rows(step))
    return operator.snapshot()


def unless_refused(work):
    """Do something; what is refused is refused by a check, not by a kernel."""
    try:
        work()
    except SashError as error:
        if "raised" in str(error):
            raise


@pytest.mark.parametrize("place", [-1, -3, 3, 2**40])
def test_a_kernel_that_leaves_its_arrays_raises(place):
    assert [peek(np.arange(3), at) for at in range(3)] == [0, 1, 2]
    with pytest.raises(SashError, match="peek raised"):
        peek(np.arange(3), place)


@routine
def peek(values, place):
    return values[place]


@usually(60)
@given(st.data())
def test_snapshots(data):
    name = data.draw(st.sampled_from(sorted(boards())))
    stream, rows, emit = boards()[name]
    state = mutated(data.draw, kept(name), opaque=name == "sketches")

    def work():
        operator = stream.open(emit)
        operator.restore(state)
        operator.push(rows(6))
        operator.restore(operator.snapshot())
        operator.push(rows(7))
        if name != "counts as they come":
            operator.advance(9 * 10**6)
        operator.late()
        operator.close()

    unless_refused(work)


SHARDED = ("partials", "rows", "both", "early", "counts", "punctuation", "delta", "spans", "held spans", "sketches")
LIMITS = Limits(piece=256, fan=3)


@cache
def worked(name):
    """A query as Spark runs it, in the middle of its work."""
    stream, rows, emit = boards()[name]
    job = Job(stream, 1, emit, limits=LIMITS)
    for step in range(6):
        job.batch([rows(step)], step * 10**6 - 10**6 if step > 2 else None)
    return job


class Restarted(Job):
    """The same, of a worker that has nothing in memory, and believes what is kept."""

    def _work(self, k, bodies, watermark):
        store = self.stores[k]
        shard = self.shards[k] = Shard(self.plan, self.limits)
        Shard.token_of(store["head"])
        shard.restore(store["head"], (watermark or 0) + 10)
        given = list(shard.work(bodies, watermark, store))
        store["head"] = shard.head
        return given


class Gone(Chunks):
    """A store that says, as the one on Spark does, when a chunk is gone."""

    def read(self, number):
        if number not in self:
            raise SashError(f"state must be whole; chunk {number} is gone")
        return self[number]

    def remove(self, number):
        self.pop(number, None)

    def write(self, number, body):
        self[number] = body


@usually(40)
@given(st.data())
def test_what_a_shard_keeps(data):
    name = data.draw(st.sampled_from(SHARDED))
    stream, rows, emit = boards()[name]
    opaque = name == "sketches"
    job = Restarted(stream, 1, emit, limits=LIMITS)
    store = job.stores[0] = Gone(worked(name).stores[0])
    places = ["head", "bucket", *(number for number in store if number != "head")]
    place = data.draw(st.sampled_from(places))
    if place == "head":
        store["head"] = mutated(data.draw, store["head"], opaque=opaque)
    else:
        making, parts = apart(store["head"])
        k = next(k for k, (entry, _) in enumerate(parts) if entry["name"] == "bucket 0")
        entry, body = parts[k]
        if place == "bucket":
            body = mutated(data.draw, body, inner=lambda name: name == "core", opaque=opaque)
        else:
            body = with_other_chunk(data.draw, body, store, place, opaque)
        parts[k] = ({**entry, "bytes": len(body)}, body)
        store["head"] = together(making, parts, store["head"])

    def work():
        for step in (6, 7):
            job.batch([rows(step)], step * 10**6 - 10**6)
        job.batch([], END)

    unless_refused(work)


def with_other_chunk(draw, bucket, store, number, opaque):
    """The head of a bucket that knows a chunk by its digest, once that chunk is changed."""
    making, parts = apart(bucket)
    whole = next(entry for entry, _ in parts if entry["name"] == "runs")
    for run in whole["value"]:
        if run[0] == number:
            store[number] = changed_table(draw, store[number], opaque)
            run[2], run[6] = len(store[number]), digest_of(store[number])
            return together(making, parts, bucket)
    pieces = next(entry for entry, _ in parts if entry["name"] == "pieces")["value"]
    for part in pieces.values():
        if any(each[0] == number for each in part):
            body = b"".join(store[each[0]] for each in part)
            store[number] = mutated(draw, body, opaque=opaque)
            part[:] = [[number, digest_of(store[number])]]
            return together(making, parts, bucket)
    return bucket


WINDOWS = {"s": sf.sum("v"), "by": sf.max_by("w", "v"), "sd": sf.stddev("v")}


@cache
def managed():
    """The snapshot of a window that is managed by hand, which has holes and has wrapped around."""
    window = SlidingWindow(WINDOWS, SCHEMA)
    window.evict(window.insert(events(0))[:8])
    window.evict(window.insert(events(1).slice(0, 7))[2:5])
    return window.snapshot()


@usually(40)
@given(st.data())
def test_windows_that_are_managed_by_hand(data):
    with np.load(io.BytesIO(managed()[len(FORMAT) + DIGEST :])) as found:
        arrays = dict(found)
    of_trees = sorted({name.partition(" ")[0] for name in arrays if name.partition(" ")[2] == "seal"})
    for _ in range(data.draw(st.integers(1, 2))):
        name = data.draw(st.sampled_from(sorted(arrays)))
        if data.draw(st.sampled_from(range(20))) == 0:
            del arrays[name]
        elif name == "rows":
            arrays[name] = np.frombuffer(changed_table(data.draw, arrays[name].tobytes()), np.uint8)
        else:
            arrays[name] = other_array(data.draw, arrays[name])
    window = SlidingWindow(WINDOWS, SCHEMA)
    for number, fold in zip(of_trees, window._folds.values(), strict=True):
        state = {name.partition(" ")[2]: each for name, each in arrays.items() if name.startswith(f"{number} ")}
        state.pop("seal", None)
        if data.draw(st.sampled_from(range(20))):
            arrays[f"{number} seal"] = seal_of_arrays(fold.tree._making, state)
    payload = io.BytesIO()
    np.savez(payload, allow_pickle=False, **arrays)
    body = payload.getvalue()
    if data.draw(st.sampled_from(range(10))) == 0:
        place = data.draw(st.integers(0, len(body) - 1))
        body = body[:place] + bytes([data.draw(st.integers(0, 255))]) + body[place + 1 :]
    snapshot = FORMAT + hashlib.blake2b(body, digest_size=DIGEST).digest() + body

    def work():
        window.restore(snapshot)
        window.query()
        ids = window.insert(events(2))
        window.range(12, 14), window.prefix(9), window.suffix(15)
        window.update(ids[:3], events(3).slice(0, 3))
        window.evict(ids[1::2])
        window.insert(pa.concat_tables([events(4)] * 3))
        window.evict(window._folds["s"].tree.live_ids[:-2])
        window.query()
        window.restore(window.snapshot())

    unless_refused(work)


def other_array(draw, array):
    """An array of other values, type, shape or length."""
    how = draw(st.sampled_from(["value"] * 12 + ["type", "shape", "cut", "longer", "turn"]))
    if how == "type":
        return np.zeros(len(array), draw(st.sampled_from(["i8", "i4", "f8", "u1", "S3", "M8[us]", "c16", "i8,f8"])))
    if how == "shape":
        return array.reshape(draw(st.sampled_from([(1, -1), (-1, 1)])))
    if how == "cut":
        return array[: draw(st.integers(0, len(array)))]
    if how == "longer":
        return np.concatenate([array, array])
    if how == "turn" or not array.nbytes:
        return array[::-1].copy()
    copy = array.copy()
    if array.dtype == np.int64 and draw(st.booleans()):
        copy[draw(st.integers(0, len(array) - 1))] = draw(NUMBERS)
    else:
        copy.view(np.uint8).reshape(-1)[draw(st.integers(0, array.nbytes - 1))] ^= draw(st.integers(1, 255))
    return copy


@cache
def slid(using, size):
    """The state of an algorithm whose window slides, by a size or by frames that are given."""
    window = Sliding(aggregate_of(using), np.int64, size=size, using=using)
    if size is not None:
        window.push(np.arange(50))
    else:
        window.push(np.arange(40), lo=np.arange(0, 30), hi=np.arange(3, 33))
    return window.state()


def aggregate_of(using):
    return builtin("sum") if using == "subtract_on_evict" else builtin("max")


@usually(60)
@given(st.data())
def test_algorithms_that_slide(data):
    using, size = data.draw(st.sampled_from(sorted(ALGORITHMS))), data.draw(st.sampled_from([9, None]))
    window, state = Sliding(aggregate_of(using), np.int64, size=size, using=using), dict(slid(using, size))
    for _ in range(data.draw(st.integers(1, 2))):
        name = data.draw(st.sampled_from(sorted(state.keys() - {"seal"})))
        state[name] = other_array(data.draw, state[name])
    del state["seal"]
    state["seal"] = seal_of_arrays(window.making, state)

    def work():
        window.restore(state)
        if size is not None:
            window.push(np.arange(30))
            window.push(np.arange(5))
        else:
            rows = window.rows
            window.push(np.arange(60), lo=np.arange(rows, rows + 20), hi=np.arange(rows + 20, rows + 40))
            window.push(np.arange(60), lo=np.arange(rows + 20, rows + 30), hi=np.full(10, rows + 90))
        window.restore(window.state())

    unless_refused(work)
