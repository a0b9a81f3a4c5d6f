"""Compiled kernels on disk: compiled once for all processes, and no accident to a file changes an answer."""

import fcntl
import os
import shutil
import signal
import subprocess
import sys
import textwrap

import numpy as np
import pytest

import sash
from sash.kernels.compiling import disk
from sash.kernels.fifo import slide

START = """
    import sys
    import numpy as np
    from sash import Aggregate
    from sash.kernels.fifo import slide

    def largest_above(floor):
        combine = lambda a, b: a if a > b else b
        return Aggregate("largest", lift=lambda x: x if x > floor else floor, combine=combine)

    def answer(floor=0.0):
        values = slide(largest_above(floor), np.array([3.0, 1.0, 2.0, 5.0]), size=2, using="recalc").values
        assert values.tolist() == [max(v, floor) for v in (3.0, 3.0, 2.0, 5.0)], values

    def compiled():
        return "numba" in sys.modules  # only compiling needs it
    """
ANSWER = "answer(); print(compiled())"


def script(*lines):
    return "\n".join(textwrap.dedent(line) for line in (START, *lines))


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "kernels"


@pytest.fixture
def start(folder):
    """Start a process that has its kernels in the folder; what is still running at the end is killed."""
    started = []

    def start(*lines, **environment):
        process = subprocess.Popen(
            [sys.executable, "-W", "always", "-c", script(*lines)],
            env={**os.environ, "SASH_CACHE_DIR": str(folder), **environment},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        started.append(process)
        return process

    yield start
    for process in started:
        process.kill()
        process.communicate()


@pytest.fixture
def run(start):
    """Run a fresh process to its end: what it printed, and its warnings."""

    def run(*lines, **environment):
        process = start(*lines, **environment)
        out, err = process.communicate(timeout=60)
        assert process.returncode == 0, err
        return out.strip(), err

    return run


def stored(folder):
    return sorted(folder.glob("*.kernel"))


def test_a_warm_cache_answers_without_importing_numba(run, folder):
    assert run(ANSWER)[0] == "True"
    (file,) = stored(folder)
    before = file.stat().st_ino, file.stat().st_mtime_ns
    assert run(ANSWER)[0] == "False"
    assert (file.stat().st_ino, file.stat().st_mtime_ns) == before
    assert folder.stat().st_mode & 0o077 == 0


def test_other_settings_of_numba_are_other_kernels(run, folder):
    assert run(ANSWER)[0] == "True"
    assert run(ANSWER, NUMBA_OPT="1")[0] == "True"
    assert len(stored(folder)) == 2


def test_eight_processes_that_start_cold_together_compile_once(start, folder):
    processes = [start("print('ready', flush=True); sys.stdin.readline()", ANSWER) for _ in range(8)]
    assert [process.stdout.readline() for process in processes] == ["ready\n"] * 8
    for process in processes:
        process.stdin.write("go\n")
        process.stdin.flush()
    printed = [process.communicate(timeout=120)[0].strip() for process in processes]
    assert [process.returncode for process in processes] == [0] * 8
    assert sorted(printed) == ["False"] * 7 + ["True"]
    assert len(stored(folder)) == 1


IN_MID_COMPILE = """
    from sash.kernels.compiling import numba_backend
    typed = numba_backend.typed

    def stuck(*arguments):
        typed(*arguments)
        print("stuck", flush=True)
        sys.stdin.readline()

    numba_backend.typed = stuck
    """
BEFORE_THE_RENAME = """
    import os

    def stuck(*arguments, **options):
        print("stuck", flush=True)
        sys.stdin.readline()

    os.replace = stuck
    """


@pytest.mark.parametrize(
    "moment",
    [
        pytest.param(IN_MID_COMPILE, id="compiling"),
        pytest.param(BEFORE_THE_RENAME, id="writing", marks=pytest.mark.long),
    ],
)
def test_a_process_killed_while_it_compiles_does_no_harm(start, run, folder, moment):
    victim = start(moment, ANSWER)
    assert victim.stdout.readline() == "stuck\n", victim.communicate()[1]
    (lock,) = folder.glob("*.lock")
    with open(lock) as file, pytest.raises(BlockingIOError):
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    second = start(ANSWER)
    victim.send_signal(signal.SIGKILL)
    assert victim.wait(timeout=60) == -signal.SIGKILL
    parts = sorted(folder.glob("*.part"))
    assert len(parts) == (moment is BEFORE_THE_RENAME)
    assert second.communicate(timeout=60)[0] == "True\n"
    assert run(ANSWER)[0] == "False"
    assert sorted(folder.glob("*.part")) == parts


def test_a_process_stuck_with_the_lock_is_not_waited_for_for_ever(folder, monkeypatch):
    monkeypatch.setenv("SASH_CACHE_DIR", str(folder))
    monkeypatch.setattr(disk, "PATIENCE", 0.1)
    entered = []
    with disk.lock("key"), disk.lock("key"):
        entered.append("second")
    assert entered == ["second"]


def flip(data):
    return data[:-9] + bytes([data[-9] ^ 1]) + data[-8:]


DAMAGES = {
    "altered": flip,
    "cut in half": lambda data: data[: len(data) // 2],
    "empty": lambda data: b"",
    "of another version": lambda data: data.replace(b"sash kernel 1", b"sash kernel 0", 1),
}


def test_a_damaged_file_is_compiled_again_and_replaced(run, folder, monkeypatch):
    each = f"for k in range({len(DAMAGES) + 2}): answer(float(k))"
    run(each)
    *damaged, foreign, whole = stored(folder)
    for file, damage in zip(damaged, DAMAGES.values(), strict=True):
        before = file.read_bytes()
        file.write_bytes(damage(before))
        assert file.read_bytes() != before
    shutil.copyfile(whole, foreign)  # sound, but of another kernel
    untouched = whole.stat().st_mtime_ns

    assert run(each, "print(compiled())")[0] == "True"
    assert whole.stat().st_mtime_ns == untouched
    monkeypatch.setenv("SASH_CACHE_DIR", str(folder))
    assert [name for file, name in zip(damaged, DAMAGES, strict=True) if disk.read(file.stem) is None] == []
    assert disk.read(foreign.stem) != disk.read(whole.stem)
    assert run(each, "print(compiled())")[0] == "False"


def test_no_part_of_a_file_can_change_unnoticed(folder, monkeypatch):
    monkeypatch.setenv("SASH_CACHE_DIR", str(folder))
    disk.write("key", {"name": "f", "words": 2}, b"machine code\n\0")
    file = folder / "key.kernel"
    data = file.read_bytes()
    assert disk.read("key") == ({"name": "f", "words": 2}, b"machine code\n\0")
    spoilt = [data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :] for at in range(len(data))]
    for changed in [*spoilt, *(data[:length] for length in range(len(data))), data + b"\0"]:
        file.write_bytes(changed)
        assert disk.read("key") is None
    file.write_bytes(data)
    file.rename(folder / "other.kernel")
    assert disk.read("other") is None


def test_a_cache_that_cannot_be_a_folder_costs_a_compilation_and_a_warning(run, tmp_path):
    blocker = tmp_path / "file"
    blocker.write_text("in the way")
    for path in (blocker, blocker / "below"):
        printed, warned = run(ANSWER, SASH_CACHE_DIR=str(path))
        assert printed == "True"
        assert f"SASH_CACHE_DIR must be a folder that nobody but you or root can write to, got {path}" in warned
    assert blocker.read_text() == "in the way"


def test_machine_code_is_not_taken_from_a_folder_that_others_can_write_to(run, folder):
    run(ANSWER)
    before = sorted(folder.iterdir())
    for mode in (0o770, 0o702):
        folder.chmod(mode)
        printed, warned = run(ANSWER)
        assert printed == "True"
        assert f"others can write to {folder}" in warned
        assert sorted(folder.iterdir()) == before
    folder.chmod(0o755)
    assert run(ANSWER) == ("False", "")


def total(scale):
    """Sums of a window of two, whose kernel is of this scale alone."""
    aggregate = sash.Aggregate("total", lift=lambda x: x * scale, combine=lambda a, b: a + b)
    return slide(aggregate, np.array([1, 2, 3]), size=2, using="recalc").values.tolist()


def test_clearing_leaves_nothing_and_counts_the_kernels(folder, monkeypatch):
    monkeypatch.setenv("SASH_CACHE_DIR", str(folder))
    assert disk.clear() == 0
    assert total(101) == [101, 303, 505]
    assert total(102) == [102, 306, 510]
    (folder / "0123456789abcdef.part").write_bytes(b"left behind")
    assert disk.clear() == 2
    assert list(folder.iterdir()) == []


def test_a_folder_deleted_under_a_running_process_is_made_again(folder, monkeypatch):
    monkeypatch.setenv("SASH_CACHE_DIR", str(folder))
    total(103)
    shutil.rmtree(folder)
    assert total(104) == [104, 312, 520]
    assert len(stored(folder)) == 1


def test_a_full_disk_costs_a_compilation_only(folder, monkeypatch):
    def full(*_, **options):
        raise OSError(28, "No space left on device")

    monkeypatch.setenv("SASH_CACHE_DIR", str(folder))
    with monkeypatch.context() as patched:
        patched.setattr(os, "replace", full)
        assert total(105) == [105, 315, 525]
    assert [file.suffix for file in folder.iterdir()] == [".lock"]
