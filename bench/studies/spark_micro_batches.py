"""Where the time of a micro-batch goes: the same rows a step further each time, as ``peers.spark_steady`` has them.

Read, and no more; then through one function in Python that does nothing; then to a stateful operator that does nothing
but write twenty kilobytes; then through a second function, which is the shape of Sash's own query. What a step adds
is what it costs before anything is computed. A batch is ``triggerExecution`` as Spark says it, the median of those
after the first third; ``addBatch`` is the part in which rows move, the rest being offsets, plans and logs.
"""

from __future__ import annotations

import shutil
import tempfile
from statistics import median

import pyarrow as pa
from pyspark.sql.streaming.stateful_processor import StatefulProcessor
from pyspark.sql.types import BinaryType, LongType, StructField, StructType

from bench.peers._spark import FOLDER
from bench.peers.spark_steady import CASES, by_sash, by_spark, streamed
from sash.spark.garbage import set_apart
from sash.spark.shards import labels

TITLE = "Where the time of a micro-batch goes"
QUICK = False
BATCHES = 12
BODY = StructType([StructField("body", BinaryType())])
NUMBER = StructType([StructField("number", LongType())])
STEPS = ("triggerExecution", "addBatch", "queryPlanning", "commitOffsets")


class Idle(StatefulProcessor):
    """As many questions to the store as a shard asks, and nothing computed."""

    def init(self, handle):
        self.handle = handle
        self.head = handle.getValueState("head", BODY)
        self.chunks = handle.getMapState("chunks", NUMBER, BODY)

    def handleInputRows(self, key, rows, timerValues):
        import pandas as pd

        for _ in rows:
            pass
        moment = timerValues.getCurrentWatermarkInMs()
        self.head.get()
        self.chunks.updateValue((moment,), (b"x" * 20_000,))
        self.head.update((b"x" * 1000,))
        yield pd.DataFrame({"body": [b"x"]})
        set_apart()

    def close(self):
        pass


def packed(batches):
    for _ in batches:
        pass
    yield pa.RecordBatch.from_pydict({"label": pa.array(labels(2), pa.int32()), "body": [b"x" * 10_000] * 2})
    set_apart()


def answered(batches):
    for _ in batches:
        pass
    yield pa.RecordBatch.from_pydict({"answer": [1.0]})
    set_apart()


def stateful(frame):
    folded = frame.withWatermark("ts", "10 seconds").mapInArrow(packed, "label int, body binary")
    return folded.groupBy("label").transformWithStateInPandas(Idle(), BODY, "Append", "EventTime")


def progress(frame):
    """What Spark says of each batch with rows."""
    folder = tempfile.mkdtemp(dir=FOLDER)
    writer = frame.writeStream.format("noop").outputMode("append").option("checkpointLocation", folder)
    query = writer.trigger(availableNow=True).start()
    query.awaitTermination()
    shutil.rmtree(folder, ignore_errors=True)
    return [each.durationMs for each in query.recentProgress if each.numInputRows]


def run(bench):
    count, keys, length, slide = CASES[0]
    count, batches = count // bench.pick(1, 100), bench.pick(BATCHES, 3)
    shapes = {
        "read": lambda frame: frame,
        "read, and one idle function": lambda frame: frame.mapInArrow(packed, "label int, body binary"),
        "the same, and an idle operator with state": stateful,
        "the same, and another idle function": lambda frame: stateful(frame).mapInArrow(answered, "answer double"),
        "Sash": lambda frame: by_sash(frame, length, slide),
        "Spark's window()": lambda frame: by_spark(frame, length, slide),
    }
    took = {name: [] for name in shapes}
    for _ in range(3):  # the first is for warmth alone
        for name, shape in shapes.items():
            took[name].append(progress(shape(streamed(count, keys, batches))))
    lines = []
    for name, rounds in took.items():
        steady = [batch for one in rounds[1:] for batch in one[len(one) // 3 :]]
        firsts = median(one[0][STEPS[0]] for one in rounds[1:])
        lines.append([name, *(median(batch.get(step, 0) for batch in steady) for step in STEPS), firsts])
    head = ["", "a batch", *(f"of which {step}" for step in STEPS[1:]), "the first batch"]
    bench.table(f"{count:,} events, {keys:,} keys, {length} s every {slide} s: milliseconds", head, lines)
