"""Golden checkpoints, of a query on Spark that was killed: `PYTHONPATH=tests .venv/bin/python -m golden.checkpoints`.

One is of the version whose name it has; further ones are added as versions are released, none is taken away.
"""

import sys
import tempfile
import zipfile
from pathlib import Path

from sash.version import VERSION
from spark.streaming_job import Job, events

HERE = Path(__file__).parent
FOLDER = b"@FOLDER@"  # in the place of where it was
TEXTS = ("sources", "_metadata")  # that say so
BOARD = "both"
ROWS, FILES, FED = 2400, 4, 2  # rows in so many files, of which so many were there before it was killed
SHUFFLE = {"spark.sql.shuffle.partitions": "2"}


def rows():
    """All rows of the query."""
    return events(ROWS, seed=5)


def feed(job, first, stop):
    """Some of the files."""
    size = ROWS // FILES
    for file in range(first, stop):
        job.feed(rows().slice(file * size, size), 1, first=file)


def make(version=VERSION):
    """Run a query, kill it, and keep what it left."""
    with tempfile.TemporaryDirectory() as folder, Job(Path(folder), (BOARD,)) as job:
        feed(job, 0, FED)
        job.start(SHUFFLE, files=1, trigger={"processingTime": "0 seconds"})
        assert job.wait_for(lambda: job.committed(BOARD) >= FED - 1)
        assert job.kill()
        with zipfile.ZipFile(HERE / f"checkpoint-{version}.zip", "w", zipfile.ZIP_DEFLATED) as file:
            for path in sorted(Path(folder, BOARD).rglob("*")):
                if path.is_file() and path.suffix != ".crc" and not path.name.endswith(".tmp"):
                    body = path.read_bytes()
                    if set(TEXTS) & set(path.parts):
                        body = body.replace(folder.encode(), FOLDER)
                    file.writestr(str(path.relative_to(folder)), body)


def unpack(version, folder):
    """What a query of that version left, in a folder where it goes on."""
    with zipfile.ZipFile(HERE / f"checkpoint-{version}.zip") as file:
        file.extractall(folder)
    for path in Path(folder, BOARD, "checkpoint").rglob("*"):
        if path.is_file() and set(TEXTS) & set(path.parts):
            path.write_bytes(path.read_bytes().replace(FOLDER, str(folder).encode()))


if __name__ == "__main__":
    make(*sys.argv[1:])
