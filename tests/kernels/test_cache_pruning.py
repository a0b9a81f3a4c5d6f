"""Kernels not used for long, or too many, leave the disk, and no process that uses the cache notices."""

import fcntl
import os
import subprocess
import sys
import textwrap
import time

import pytest

from sash.kernels.compiling import disk, locks, pruning, trusted

DAY = 86_400


def key(number):
    return format(number, "064x")


def put(number, days=0.0, size=100):
    """A kernel of so many bytes, last used so many days ago."""
    disk.write(key(number), {}, bytes(size))
    used(number, days)


def used(number, days):
    then = time.time() - days * DAY
    os.utime(disk.folder() / f"{key(number)}.kernel", (then, then))


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("SASH_CACHE_DIR", str(tmp_path / "kernels"))
    for name in ("SASH_CACHE_DAYS", "SASH_CACHE_SIZE"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path / "kernels"


def due(folder):
    """Let the last look at the folder be two hours ago."""
    os.utime(folder / "pruned", (time.time() - 7200,) * 2)


def left(folder):
    return [int(file.stem, 16) for file in sorted(folder.glob("*.kernel"))]


def test_kernels_not_used_for_sixty_days_leave(folder):
    for number, days in enumerate((0, 59, 61, 1000)):
        put(number, days)
    due(folder)
    put(9)
    assert left(folder) == [0, 1, 9]


def test_how_many_days_can_be_set(folder, monkeypatch):
    monkeypatch.setenv("SASH_CACHE_DAYS", "1.5")
    put(0, 1)
    put(1, 2)
    due(folder)
    put(9)
    assert left(folder) == [0, 9]


def test_the_kernels_used_longest_ago_leave_where_all_are_too_large(folder, monkeypatch):
    for number, days in enumerate((3, 1, 4, 2)):
        put(number, days, size=300_000)
    due(folder)
    put(9)
    assert left(folder) == [0, 1, 2, 3, 9]  # less than a gigabyte
    monkeypatch.setenv("SASH_CACHE_SIZE", "700k")
    due(folder)
    put(9)
    assert left(folder) == [1, 3, 9]


def test_all_kernels_have_at_most_a_gigabyte(folder):
    put(0, 2)
    put(1, 1)
    os.truncate(folder / f"{key(1)}.kernel", (1 << 30) - 1000)  # with a hole: nothing is written
    used(1, 1)
    due(folder)
    put(2)
    assert left(folder) == [0, 1, 2]
    os.truncate(folder / f"{key(1)}.kernel", 1 << 30)
    used(1, 1)
    due(folder)
    put(2)
    assert left(folder) == [2]


def test_a_kernel_in_use_stays_however_old_it_is(folder):
    put(0, 59)
    put(1, 59)
    assert disk.read(key(0)) == ({}, bytes(100))
    assert time.time() - (folder / f"{key(0)}.kernel").stat().st_mtime < DAY
    for number in (0, 1):
        file = folder / f"{key(number)}.kernel"
        os.utime(file, (file.stat().st_mtime - 2 * DAY,) * 2)  # two days later
    due(folder)
    put(9)
    assert left(folder) == [0, 9]


def test_a_kernel_that_does_not_pass_the_check_is_not_in_use(folder):
    put(0, 59)
    file = folder / f"{key(0)}.kernel"
    file.write_bytes(file.read_bytes()[:-1])
    used(0, 59)
    assert disk.read(key(0)) is None
    assert time.time() - file.stat().st_mtime > 58 * DAY


def test_the_folder_is_looked_at_once_an_hour_and_after_a_compilation_only(folder):
    put(0, 1000)
    put(1)
    assert left(folder) == [0, 1]
    due(folder)
    disk.read(key(1))
    assert left(folder) == [0, 1]
    put(2)
    assert left(folder) == [1, 2]
    put(3, 1000)
    put(4)
    assert left(folder) == [1, 2, 3, 4]


def test_what_others_put_there_stays(folder):
    put(0, 1000)
    theirs = {
        "notes.kernel": b"sash kernel 1\n",  # no key
        f"{key(1)}.kernel": b"grains of maize",
        "history": b"select 1",
        "half.part": b"",
        "some.lock": b"",
        f"{key(0)}.kernel.bak": b"sash kernel 1\n",
    }
    for name, data in theirs.items():
        (folder / name).write_bytes(data)
    (folder / f"{key(2)}.kernel").mkdir()
    (folder / f"{key(3)}.kernel").symlink_to("history")
    (folder / "java" / "bin").mkdir(parents=True)
    os.link(folder / "history", folder / f"{key(4)}.kernel")
    for path in folder.rglob("*"):
        os.utime(path, (0, 0), follow_symlinks=False)
    before = {path.name for path in folder.rglob("*")}
    put(9)
    assert before - {path.name for path in folder.rglob("*")} == {f"{key(0)}.kernel"}
    assert {name: (folder / name).read_bytes() for name in theirs} == theirs


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can make files of two users")
def test_files_of_other_users_stay(folder):
    put(0)
    part = folder / f"{'a' * 32}.part"
    part.touch()
    for path in (part, folder / f"{key(0)}.kernel"):
        os.chown(path, 65534, 65534)
        os.utime(path, (0, 0))
    due(folder)
    put(9)
    assert left(folder) == [0, 9]
    assert part.exists()


def test_what_killed_processes_left_is_swept(folder):
    with disk.lock(key(0)):
        put(0, 1000)
    with disk.lock(key(1)):  # its compilation failed
        pass
    with disk.lock(key(2)):
        put(2)
    ages = {f"{key(3)[:16]}{'0' * 16}.part": 2, f"{key(4)[:16]}{'0' * 16}.part": 0, f"{'a' * 16}kx_9aa20.part": 2}
    for name, hours in ages.items():
        (folder / name).write_bytes(b"sash")
        os.utime(folder / name, (time.time() - hours * 3600,) * 2)
    due(folder)
    put(9)
    swept = {f"{key(4)[:16]}{'0' * 16}.part", f"{key(2)}.kernel", f"{key(2)}.lock", f"{key(9)}.kernel", "pruned"}
    assert {path.name for path in folder.iterdir()} == swept


def test_a_kernel_that_is_being_compiled_stays(folder):
    put(0, 1000)
    with disk.lock(key(0)), disk.lock(key(1)):
        due(folder)
        put(9)
        assert left(folder) == [0, 9]
        assert {path.name for path in folder.glob("*.lock")} == {f"{key(0)}.lock", f"{key(1)}.lock"}


def test_a_lock_whose_file_was_deleted_meanwhile_is_not_taken_for_held(folder, monkeypatch):
    """Two that wait: the file is deleted when the first gets it, as pruning does; the second must not count on it."""
    put(0)
    real, waited = fcntl.flock, []

    def flock(descriptor, how):
        if not waited:
            waited.append(os.fstat(descriptor).st_ino)
            (folder / "a.lock").unlink()
        return real(descriptor, how)

    monkeypatch.setattr(fcntl, "flock", flock)
    with trusted.open_folder(folder) as opened, locks.lock_held(opened, "a.lock", patience=0) as descriptor:
        assert os.fstat(descriptor).st_ino == (folder / "a.lock").stat().st_ino
        with locks.lock_held(opened, "a.lock", patience=0) as second:
            assert second is None
    assert waited


def test_a_file_system_that_does_not_count_names_is_borne(folder, monkeypatch):
    real = os.fstat
    monkeypatch.setattr(os, "fstat", lambda each: os.stat_result([*real(each)[:3], 0, *real(each)[4:]]))
    with trusted.open_folder(folder) as opened, locks.lock_held(opened, "a.lock", patience=0) as descriptor:
        assert descriptor is not None
        with locks.lock_held(opened, "a.lock", patience=0) as second:
            assert second is None


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        (
            "SASH_CACHE_DAYS",
            "a month",
            "SASH_CACHE_DAYS must be a number of days, such as 30, got 'a month'; it counts as 60",
        ),
        ("SASH_CACHE_DAYS", "-1", "SASH_CACHE_DAYS must be a number of days, such as 30, got '-1'; it counts as 60"),
        (
            "SASH_CACHE_SIZE",
            "much",
            "SASH_CACHE_SIZE must be a number of bytes, such as .* got 'much'; it counts as 1g",
        ),
    ],
)
def test_a_wrong_bound_is_said_and_costs_no_query(folder, monkeypatch, name, value, said):
    put(0, 1000)
    put(1, 59)
    due(folder)
    monkeypatch.setenv(name, value)
    with pytest.warns(RuntimeWarning, match=said):
        put(9)
    assert left(folder) == [1, 9]


BUSY = """
    import os, random, sys
    from sash.kernels.compiling import disk, pruning
    pruning.EVERY = 0.0  # each write prunes
    rng = random.Random({seed})
    sys.stdin.readline()
    read = 0
    for turn in range(400):
        number = rng.randrange(12)
        key, expected = format(number, "064x"), ({{"number": number}}, bytes([number]) * 5000)
        stored = disk.read(key)
        assert stored in (None, expected)
        read += stored is not None
        if stored is None:
            with disk.lock(key):
                holder = f"{{sys.argv[1]}}/{{number}}"
                os.mkdir(holder)  # fails if another process holds the lock, too
                if disk.read(key) is None:
                    disk.write(key, *expected)
                os.rmdir(holder)
    print(read)
    """


def test_processes_that_read_write_and_prune_at_once_do_each_other_no_harm(folder, tmp_path):
    holders = tmp_path / "holders"
    holders.mkdir()
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", textwrap.dedent(BUSY).format(seed=seed), str(holders)],
            env={**os.environ, "SASH_CACHE_SIZE": "30k"},  # half of them
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for seed in range(3)
    ]
    for process in processes:
        process.stdin.write("go\n")
        process.stdin.flush()
    printed = [process.communicate(timeout=60) for process in processes]
    assert [process.returncode for process in processes] == [0] * 3, printed
    assert all(0 < int(out) < 400 for out, _ in printed)
    assert list(holders.iterdir()) == []
    assert not list(folder.glob("*.part"))
    with trusted.open_folder(folder) as opened:
        pruning.prune(opened, disk.START, days=60, size=30_000)
    kernels = list(folder.glob("*.kernel"))
    assert sum(file.stat().st_size for file in kernels) <= 30_000
    assert {file.stem for file in folder.glob("*.lock")} <= {file.stem for file in kernels}
