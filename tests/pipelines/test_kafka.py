"""Events out of order from Kafka, answers to Kafka, and a job that is killed on the way.

Spark's Kafka sink is at least once: a batch that was written and not committed is written again by the next life,
so that a topic may hold an answer twice. What holds is that every answer is there, and that each window has one.
"""

import json
import random
import sys
import threading

import pyarrow.parquet as pq
import pytest
from pyspark.sql import functions as F

import sash
from services.jobs import Job, Process, committed
from sessions import BRIEF
from spark.streaming_job import BOARDS, SCHEMA, WATERMARK, events, expected

EVENTS = events(3600, seed=11)
BATCH = 900  # rows, of which both partitions have the same number
CONF = {"spark.sql.shuffle.partitions": "2"}

PIPELINE = """
[spark]
master = "local[2]"
conf = {{ "spark.jars" = "{jars}", "spark.driver.extraJavaOptions" = "{java}", "spark.sql.shuffle.partitions" = 2 }}

[stream]
checkpoint = "checkpoint"

[sources.loads]
format = "kafka"
schema = "ts timestamp, k string, v bigint"
[sources.loads.options]
"kafka.bootstrap.servers" = "${{servers}}"
subscribe = "pipe"
startingOffsets = "earliest"
maxOffsetsPerTrigger = {batch}

[[steps]]
name = "board"
from = "loads"
kind = "stream"
time = "ts"
key = "k"
watermark = "20 seconds"
[[steps.queries]]
range = "10 minutes"
slide = "1 minute"
columns = {{ n = "count(*)", peak = "max(v)", mean = "avg(v)" }}
[[steps.queries]]
range = "90 seconds"
slide = "1 minute"
columns.total = "sum(v)"
[[steps.queries]]
range = "5 minutes"
slide = "2 minutes"
columns = {{ mid = "median(v)", kinds = "count(distinct v)" }}

[[sinks]]
from = "board"
format = "kafka"
key = "k"
options = {{ "kafka.bootstrap.servers" = "${{servers}}", topic = "piped" }}
"""


def produce(spark, servers, topic, file):
    """Rows to both partitions of a topic in turn, in the order in which they are."""
    rows = spark.createDataFrame(pq.read_table(file)).coalesce(1)
    value = F.to_json(F.struct("ts", "k", "v")).alias("value")
    partition = F.expr("cast(monotonically_increasing_id() % 2 as int)").alias("partition")
    options = {"kafka.bootstrap.servers": servers, "topic": topic}
    rows.select(partition, value).write.format("kafka").options(**options).save()


def consume(spark, servers, topic):
    """Everything that a topic holds."""
    rows = spark.read.format("kafka").options(**{"kafka.bootstrap.servers": servers, "subscribe": topic}).load()
    return [json.loads(row.value) for row in rows.select(F.col("value").cast("string")).collect()]


def flow(spark, servers, topics, checkpoint, batch):
    """The board of one topic's events, to another topic: so many rows a batch, until all that are there are read."""
    read, written = topics
    source = (
        spark.readStream.format("kafka")
        .options(**{"kafka.bootstrap.servers": servers, "subscribe": read, "startingOffsets": "earliest"})
        .option("maxOffsetsPerTrigger", batch)
        .load()
        .select(F.from_json(F.col("value").cast("string"), SCHEMA).alias("event"))
        .select("event.*")
    )
    board = BOARDS["both"](sash.stream(source, time="ts", key="k", watermark=WATERMARK)).results()
    (
        board.select(F.col("k").alias("key"), F.to_json(F.struct("*")).alias("value"))
        .writeStream.format("kafka")
        .options(**{"kafka.bootstrap.servers": servers, "topic": written, "checkpointLocation": checkpoint})
        .trigger(availableNow=True)
        .start()
        .awaitTermination()
    )


@pytest.fixture(scope="module")
def desk(kafka, tmp_path_factory):
    """A session beside the jobs, to produce and to consume."""
    with Job(tmp_path_factory.mktemp("desk"), kafka.conf | CONF) as beside:
        yield beside


def send(kafka, desk, topic, table):
    """Put events into a topic."""
    file = desk.folder / "events.parquet"
    pq.write_table(table, file)
    desk.ask(produce, kafka.servers, topic, str(file))


def assert_exact(found, table):
    """Refuse answers of a topic that are not those of the same events as a table."""
    wanted = [as_read(row) for row in expected("both", table).to_pylist()]
    once = {(row["window_end"], row["k"]): row for row in found}
    assert len(once) == len(wanted) > 100
    assert [once[row["window_end"], row["k"]] for row in wanted] == wanted
    assert all(row == once[row["window_end"], row["k"]] for row in found), "a window has two answers"


def as_read(row):
    """A row as it comes back from JSON, where what is NULL is left out."""
    row = row | {"window_end": row["window_end"].strftime("%Y-%m-%dT%H:%M:%S.000Z")}
    return {name: value for name, value in row.items() if value is not None}


@pytest.mark.long
def test_a_job_that_is_killed_goes_on_from_its_checkpoint(kafka, desk, tmp_path):
    checkpoint = tmp_path / "checkpoint"
    order = (flow, kafka.servers, ("loads", "boards"), str(checkpoint), BATCH)
    with Job(tmp_path, kafka.conf | CONF) as first:
        send(kafka, desk, "loads", EVENTS)
        first.tell(*order)
        first.wait_for(lambda: committed(checkpoint) >= 0)
        assert first.kill()
    assert committed(checkpoint) < len(EVENTS) // BATCH - 1  # in the middle
    desk.ask(*order)
    assert committed(checkpoint) >= len(EVENTS) // BATCH - 1
    assert_exact(desk.ask(consume, kafka.servers, "boards"), EVENTS)


@pytest.mark.long
def test_a_pipeline_that_is_killed_goes_on_from_its_checkpoint(kafka, desk, tmp_path):
    send(kafka, desk, "pipe", EVENTS)
    jars = kafka.conf["spark.jars"]
    (tmp_path / "loads.toml").write_text(PIPELINE.format(jars=jars, java=BRIEF, batch=BATCH))
    command = [sys.executable, "-m", "sash.cli", "run", "loads.toml", "--stream", "--set", f"servers={kafka.servers}"]
    checkpoint = tmp_path / "checkpoint" / "board"
    with Process(tmp_path, command) as first:
        first.wait_for(lambda: committed(checkpoint) >= 0)
        assert first.kill()
    assert committed(checkpoint) < len(EVENTS) // BATCH - 1
    with Process(tmp_path, command) as second:
        assert second.finish() == 0, second.log()
    assert_exact(desk.ask(consume, kafka.servers, "piped"), EVENTS)


@pytest.mark.long
@pytest.mark.parametrize("seed", [1, 2])
def test_a_job_that_is_killed_again_and_again_while_events_come(kafka, desk, tmp_path, seed):
    chance = random.Random(seed)
    table, parts = events(36_000, seed), 4
    topics, checkpoint = (f"loads-{seed}", f"boards-{seed}"), tmp_path / "checkpoint"
    order = (flow, kafka.servers, topics, str(checkpoint), 1500)
    kills = 0
    for part in range(parts):
        send(kafka, desk, topics[0], table.slice(part * len(table) // parts, len(table) // parts))
        target = committed(checkpoint) + chance.randrange(1, 4)
        with Job(tmp_path / f"life-{part}", kafka.conf | CONF) as life:
            life.tell(*order)
            life.wait_for(lambda: committed(checkpoint) >= target)  # noqa: B023
            threading.Event().wait(chance.uniform(0, 2))
            kills += life.kill()
    assert kills == parts
    desk.ask(*order)
    assert_exact(desk.ask(consume, kafka.servers, topics[1]), table)


KEEPS = """
[[sinks]]
from = "board"
late = true
path = "late"
format = "json"
"""


def send_raw(spark, servers, topic, values):
    """Values as they are to a partition of a topic."""
    rows = spark.createDataFrame([(value,) for value in values], "value string").coalesce(1)
    rows = rows.select(F.lit(0).alias("partition"), "value")
    rows.write.format("kafka").options(**{"kafka.bootstrap.servers": servers, "topic": topic}).save()


@pytest.mark.long
def test_messages_that_are_no_rows_are_kept_with_their_places(kafka, desk, tmp_path):
    send(kafka, desk, "mixed", EVENTS)
    desk.ask(send_raw, kafka.servers, "mixed", ["{", None, '{"v": "many"}'])
    text = PIPELINE.format(jars=kafka.conf["spark.jars"], java=BRIEF, batch=BATCH) + KEEPS
    (tmp_path / "loads.toml").write_text(
        text.replace('subscribe = "pipe"', 'subscribe = "mixed"').replace('"piped"', '"out"')
    )
    command = [sys.executable, "-m", "sash.cli", "run", "loads.toml", "--stream", "--set", f"servers={kafka.servers}"]
    with Process(tmp_path, command) as job:
        assert job.finish() == 0, job.log()
        assert "3 messages of loads do not fit its schema" in job.log()
    files = (tmp_path / "late").rglob("*.json")
    late = [json.loads(line) for file in files for line in file.read_text().splitlines()]
    first = len(EVENTS) // 2
    assert sorted((row["kafka_offset"], row["kafka_partition"], row["kafka_topic"], row["reason"]) for row in late) == [
        (first, 0, "mixed", "value is not JSON"),
        (first + 1, 0, "mixed", "value is NULL"),
        (first + 2, 0, "mixed", "value is JSON that does not fit the schema"),
    ]
    assert_exact(desk.ask(consume, kafka.servers, "out"), EVENTS)
