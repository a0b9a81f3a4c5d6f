"""Kafka: one broker that is its own controller, on loopback, for as long as the tests run."""

import base64
import os
import socket
import subprocess
import time
import uuid
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import pytest

from services import jars
from sessions import BRIEF, PATIENCE, die_with_parent

SETTINGS = """\
process.roles=broker,controller
node.id=1
controller.quorum.voters=1@127.0.0.1:{controller}
listeners=PLAINTEXT://127.0.0.1:{port},CONTROLLER://127.0.0.1:{controller}
controller.listener.names=CONTROLLER
log.dirs={folder}/data
num.partitions=2
auto.create.topics.enable=true
offsets.topic.num.partitions=1
offsets.topic.replication.factor=1
transaction.state.log.num.partitions=1
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
log.cleaner.dedupe.buffer.size=4194304
"""
ASKED = bytes.fromhex("0012 0000 00000001 ffff")  # which requests it takes (18), version 0, of a client without a name


@dataclass
class Kafka:
    """A broker, which makes a topic of two partitions when one is first written to."""

    folder: Path
    process: subprocess.Popen | None = None
    port: int = 0

    @property
    def servers(self):
        return f"127.0.0.1:{self.port}"

    @property
    def conf(self):
        """What a Spark session needs to know of."""
        return {"spark.jars": ",".join(map(str, jars.kafka_connector()))}

    def start(self):
        """Give it an empty folder and start it; again where a port was taken meanwhile."""
        for attempt in range(3):
            self.port, controller = free_ports(2)
            settings = self.folder / f"settings-{attempt}"
            folder = self.folder / str(attempt)
            settings.write_text(SETTINGS.format(folder=folder, port=self.port, controller=controller))
            cluster = base64.urlsafe_b64encode(uuid.uuid4().bytes).decode().rstrip("=")
            self._java("kafka.tools.StorageTool", "format", "-t", cluster, "-c", str(settings)).wait(PATIENCE)
            self.process = self._java("kafka.Kafka", str(settings))
            deadline = time.monotonic() + PATIENCE
            while self.process.poll() is None and time.monotonic() < deadline:
                if self.answers():
                    return
                time.sleep(0.05)
            self.stop()
        raise AssertionError((self.folder / "log").read_text()[-20_000:])

    def answers(self):
        with suppress(OSError), socket.create_connection(("127.0.0.1", self.port), timeout=5) as line:
            line.sendall(len(ASKED).to_bytes(4, "big") + ASKED)
            return len(line.recv(8)) == 8
        return False

    def stop(self):
        if self.process is not None:
            self.process.kill()
            self.process.wait()

    def _java(self, *command):
        path = os.pathsep.join(map(str, jars.kafka_broker()))
        options = ["-Xmx256m", *BRIEF.split(), "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn", "-cp", path]
        with (self.folder / "log").open("a") as log:
            return subprocess.Popen(
                [jars.java(), *options, *command],
                cwd=self.folder,
                stdout=log,
                stderr=log,
                preexec_fn=die_with_parent,
            )


def free_ports(count):
    """Ports that nobody has, all different."""
    sockets = [socket.socket() for _ in range(count)]
    try:
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [each.getsockname()[1] for each in sockets]
    finally:
        for each in sockets:
            each.close()


@pytest.fixture(scope="session")
def kafka(tmp_path_factory):
    """A broker of these tests' own."""
    jars.kafka_connector()  # without which there is nothing to be done with a broker
    broker = Kafka(tmp_path_factory.mktemp("kafka"))
    try:
        broker.start()
        yield broker
    finally:
        broker.stop()
