"""Messages whose values are no rows of the schema: kept, with the reason and where they were, or counted."""

import json
import sys

import pytest
from pyspark import cloudpickle
from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition, SimpleDataSourceStreamReader

from pipeline_files import board, query, section, sink, source, sql
from sash.pipelines import load, run
from sash.spark import reading
from sash.spark.messages import parsed

COLUMNS = "key binary, value binary, topic string, partition int, offset bigint, timestamp timestamp, timestampType int"
SCHEMA = "ts timestamp, k string, v bigint"
GOOD = b'{"ts": "2026-01-01T00:00:01Z", "k": "a", "v": 3}'
BAD = {
    None: ("value is NULL", None),
    b"": ("value is not JSON", ""),
    b"{": ("value is not JSON", "{"),
    b"hello": ("value is not JSON", "hello"),
    b'{"ts": "2026-01-01T00:00:01Z", "k": "a", "v": ': ("value is not JSON", None),
    b"\xff\x00": ("value is not UTF-8; kafka_value has it in hexadecimal", "FF00"),
    b"[1, 2]": ("value is JSON that does not fit the schema", "[1, 2]"),
    b'{"ts": "2026-01-01T00:00:01Z", "v": "many"}': ("value is JSON that does not fit the schema", None),
    b'{"v": 1} {"v": 2}': ("value is JSON with something behind it", None),
    b'{"v": 3}, {"v": 4}': ("value is JSON with something behind it", None),
    b'{"v": 5}garbage': ("value is JSON with something behind it", None),
    b'{"ts": "yesterday", "v": 1}': ("value is JSON that does not fit the schema", None),
}


def messages(values):
    return [(None, value, "loads", number % 2, number // 2, None, 0) for number, value in enumerate(values)]


def test_a_message_is_a_row_or_is_told_of(spark):
    values = [GOOD, *BAD, b"{}", GOOD]
    rows, malformed = parsed(spark.createDataFrame(messages(values), COLUMNS), SCHEMA, "loads")
    assert [(row.k, row.v) for row in rows.collect()] == [("a", 3), (None, None), ("a", 3)]
    found = {(row.kafka_partition, row.kafka_offset): row for row in malformed.collect()}
    assert len(found) == len(BAD)
    for number, (value, (reason, shown)) in enumerate(BAD.items(), 1):
        row = found[number % 2, number // 2]
        assert (row.reason, row.kafka_topic) == (reason, "loads"), value
        assert row.kafka_value == (shown if shown is not None or value is None else value.decode())


class Broker(DataSource):
    """What the reader of Kafka gives, of the lines of a file: values as JSON has them, one message a line."""

    @classmethod
    def name(cls):
        return "broker"

    def schema(self):
        return COLUMNS

    def reader(self, schema):
        return Topic(self.options["subscribe"])

    def simpleStreamReader(self, schema):
        return Flow(self.options["subscribe"])


def lines(file):
    with open(file, encoding="utf-8") as opened:
        values = [json.loads(line) for line in opened]
    return messages([None if value is None else value.encode() for value in values])


class Topic(DataSourceReader):
    def __init__(self, file):
        self.file = file

    def partitions(self):
        return [InputPartition(0)]

    def read(self, partition):
        return iter(lines(self.file))


class Flow(SimpleDataSourceStreamReader):
    def __init__(self, file):
        self.file = file

    def initialOffset(self):
        return {"at": 0}

    def read(self, start):
        found = lines(self.file)[start["at"] :]
        return iter(found), {"at": start["at"] + len(found)}

    def readBetweenOffsets(self, start, end):
        return iter(lines(self.file)[start["at"] : end["at"]])


KNOWN = sql("known", "select * from loads where k is not null")
BOARD = board("board", "known", query("10 seconds", columns_n="count(*)"), time="ts", key="k", watermark="1 second")
LATE = sink("late/${mode}", late=True, format="json")


@pytest.fixture
def broker(spark, tmp_path, monkeypatch):
    """A pipeline over messages, some of which are no rows; they come from a file, not from a broker."""

    def read(spark, origin, streaming, infers):
        return (spark.readStream if streaming else spark.read).format("broker").options(**origin.options).load()

    monkeypatch.setattr(reading, "load", read)
    cloudpickle.register_pickle_by_value(sys.modules[__name__])  # workers do not have this file
    spark.dataSource.register(Broker)
    good = [json.dumps({"ts": f"2026-01-01T00:00:{second:02d}Z", "k": "a", "v": second}) for second in range(0, 60, 5)]
    values = [*good, "{", None, '{"v": "many"}', json.dumps({"k": "a"})]
    (tmp_path / "loads").write_text("\n".join(map(json.dumps, values)))

    messages = section("[stream]", checkpoint="checkpoint") + source(
        "loads",
        format="kafka",
        schema="ts timestamp, k string, v bigint",
        options={"kafka.bootstrap.servers": "nobody", "subscribe": str(tmp_path / "loads")},
    )

    def ran(text, stream):
        (tmp_path / "p.toml").write_text(messages + KNOWN + BOARD + sink("out/${mode}") + text)
        return run(load(tmp_path / "p.toml", stream=stream), spark)

    ran.folder = tmp_path
    return ran


@pytest.mark.parametrize("stream", [False, True])
def test_messages_that_are_no_rows_are_in_the_sink_of_late_rows(broker, stream):
    summary = broker(LATE, stream)
    files = (broker.folder / "late").rglob("*.json")
    late = [json.loads(line) for file in files for line in file.read_text().splitlines()]
    by_place = {row["kafka_offset"] * 2 + row["kafka_partition"]: row for row in late if "kafka_offset" in row}
    assert {place: (row["reason"], row.get("kafka_value"), row["kafka_topic"]) for place, row in by_place.items()} == {
        12: ("value is not JSON", "{", "loads"),
        13: ("value is NULL", None, "loads"),
        14: ("value is JSON that does not fit the schema", '{"v": "many"}', "loads"),
    }
    assert [row["reason"] for row in late if "kafka_offset" not in row] == ["ts is NULL"]  # a row, without a time
    assert summary.malformed == {"loads": 3}
    assert [each.rows for each in summary.sinks[1:]] == [4]


@pytest.mark.parametrize("stream", [False, True])
def test_messages_that_are_no_rows_are_counted_where_nothing_keeps_them(broker, stream):
    assert broker("", stream).malformed == {"loads": 3}
