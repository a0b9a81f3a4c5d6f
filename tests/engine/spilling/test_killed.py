"""Folders of processes that were killed go at the next start; those of processes that live, and others', stay."""

import fcntl
import os
import signal
import subprocess
import sys

import pyarrow as pa
import pytest

from sash.engine.spilling import answers
from sash.engine.spilling.folders import LOCK, NEW, PREFIX, SpillFolder, _swept, machine
from sash.engine.spilling.row_files import Directory

SPILLING = """
import sys
import numpy as np, pyarrow as pa
from sash.engine.spilling import answers

table = pa.table({"k": np.arange(5000) % 50, "v": np.arange(5000)})
for batch in answers(iter(table.to_batches(max_chunksize=100)), lambda rows: rows.select(["v"]), ["k"], budget=20_000):
    print("spilled", flush=True)
    sys.stdin.read()  # until it is killed, or told to go on
"""


@pytest.fixture
def disk(tmp_path, monkeypatch):
    monkeypatch.setenv("SPARK_LOCAL_DIRS", str(tmp_path))
    _swept.discard(str(tmp_path))
    return tmp_path


@pytest.fixture
def spilling(disk):
    """A process that has rows in files, and waits."""
    process = subprocess.Popen(
        [sys.executable, "-c", SPILLING], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=dict(os.environ)
    )
    assert process.stdout.readline() == "spilled\n"
    yield process
    process.kill()
    process.communicate()


def start(disk):
    """What the next process finds that needs files: this one, as if it had just started."""
    _swept.discard(str(disk))
    with Directory():
        pass
    return sorted(os.listdir(disk))


def test_a_killed_process_leaves_nothing_behind_the_next_start(disk, spilling):
    (name,) = os.listdir(disk)
    assert len(os.listdir(disk / name)) > 2  # rows, and the lock
    assert start(disk) == [name]  # it lives
    spilling.send_signal(signal.SIGSTOP)
    assert start(disk) == [name]  # it still does
    spilling.kill()
    spilling.wait()
    assert start(disk) == []


def test_a_process_that_ends_leaves_nothing(disk, spilling):
    assert len(os.listdir(disk)) == 1
    spilling.communicate("")
    assert spilling.returncode == 0
    assert os.listdir(disk) == []


def abandoned(disk):
    """A folder as a killed process leaves it."""
    folder = SpillFolder(str(disk))
    with open(os.path.join(folder.path, "0"), "wb") as file:
        file.write(b"rows")
    os.close(folder._lock)
    folder._lock = -1
    return folder.path


def test_the_folder_of_a_dead_process_goes_and_its_process_number_means_nothing(disk):
    abandoned(disk)  # of a process whose number lives: this one's
    assert start(disk) == []


def test_folders_of_other_machines_stay(disk):
    path = abandoned(disk)
    with open(os.path.join(path, LOCK), "w") as file:
        file.write("another " + machine())
    assert start(disk) == [os.path.basename(path)]
    assert sorted(os.listdir(path)) == ["0", LOCK]


def test_folders_of_other_users_stay(disk, monkeypatch):
    path = abandoned(disk)
    other = os.geteuid() + 1
    monkeypatch.setattr(os, "geteuid", lambda: other)
    assert start(disk) == [os.path.basename(path)]
    os.chmod(path, 0o770)  # nor what others may write to
    monkeypatch.undo()
    monkeypatch.setenv("SPARK_LOCAL_DIRS", str(disk))
    assert start(disk) == [os.path.basename(path)]


def test_links_are_not_followed(disk, tmp_path_factory):
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    moved = os.path.join(elsewhere, "folder")
    os.rename(abandoned(disk), moved)
    os.symlink(moved, disk / f"{PREFIX}link")
    assert start(disk) == [f"{PREFIX}link"]
    assert sorted(os.listdir(moved)) == ["0", LOCK]
    linked = abandoned(disk)
    os.rename(os.path.join(linked, LOCK), elsewhere / LOCK)
    os.symlink(elsewhere / LOCK, os.path.join(linked, LOCK))
    assert os.path.basename(linked) in start(disk)
    assert sorted(os.listdir(linked)) == ["0", LOCK]
    rows = abandoned(disk)
    os.symlink(elsewhere / LOCK, os.path.join(rows, "1"))
    assert os.path.basename(rows) not in start(disk)
    assert (elsewhere / LOCK).exists()


def test_what_is_no_folder_of_rows_stays(disk):
    (disk / f"{PREFIX}file").write_text("")
    (disk / f"{PREFIX}empty").mkdir(mode=0o700)
    (disk / "sash-other").mkdir()
    path = abandoned(disk)
    (disk / path / "letter.txt").write_text("not rows")
    kept = sorted(["sash-other", f"{PREFIX}file", f"{PREFIX}empty", os.path.basename(path)])
    assert start(disk) == kept
    assert sorted(os.listdir(path)) == ["0", "letter.txt", LOCK]


def test_a_generator_that_is_let_go_leaves_nothing(disk):
    table = pa.table({"k": list(range(50)) * 100, "v": range(5000)})
    found = answers(iter(table.to_batches(max_chunksize=100)), lambda rows: rows.select(["v"]), ["k"], budget=20_000)
    next(found)
    assert len(os.listdir(disk)) == 1
    del found
    assert os.listdir(disk) == []


@pytest.mark.parametrize("files", [[], [LOCK]])
def test_a_folder_whose_process_was_killed_before_it_held_it_goes_after_an_hour(disk, files):
    folder = disk / f"{NEW}killed"
    folder.mkdir(mode=0o700)
    for name in files:
        (folder / name).touch(mode=0o600)
    assert start(disk) == [folder.name]  # its process may be about to hold it
    os.utime(folder, (0, 0))
    assert start(disk) == []


def test_an_old_new_folder_that_is_held_or_has_more_in_it_stays(disk):
    held, other = disk / f"{NEW}held", disk / f"{NEW}other"
    for folder, name in ((held, LOCK), (other, "letter.txt")):
        folder.mkdir(mode=0o700)
        (folder / name).touch(mode=0o600)
        os.utime(folder, (0, 0))
    with open(held / LOCK) as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        assert start(disk) == sorted([held.name, other.name])
    assert start(disk) == [other.name]
