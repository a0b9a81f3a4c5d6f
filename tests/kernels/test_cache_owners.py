"""Machine code is loaded from files and folders only that nobody but their user and root could have written."""

import os
import stat
import subprocess
import sys
import tempfile
import textwrap
import threading
import warnings

import pytest

from sash.kernels.compiling import disk

KEY, OTHER = "a1" * 32, "b2" * 32
STORED = {"name": "f", "words": 2}, b"machine code\n\0"
NOBODY = 65534
SECOND_USER = pytest.mark.skipif(os.geteuid() != 0, reason="only root can make files of two users")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A cache with one kernel in it."""
    monkeypatch.setenv("SASH_CACHE_DIR", str(tmp_path / "above" / "kernels"))
    disk.write(KEY, *STORED)
    assert disk.read(KEY) == STORED
    return tmp_path / "above" / "kernels"


@pytest.fixture
def file(folder):
    return folder / f"{KEY}.kernel"


def replaced(file):
    """Whether a file that is not taken is written anew, as a file of our own, and then taken."""
    assert disk.read(KEY) is None
    disk.write(KEY, *STORED)
    status = file.lstat()
    ours = stat.S_ISREG(status.st_mode) and (status.st_uid, status.st_nlink) == (os.geteuid(), 1)
    return ours and stat.S_IMODE(status.st_mode) == 0o600 and disk.read(KEY) == STORED


@SECOND_USER
def test_a_file_of_another_user_is_not_loaded(file):
    os.chown(file, NOBODY, NOBODY)
    assert replaced(file)


@pytest.mark.parametrize("mode", [0o660, 0o606, 0o622])
def test_a_file_that_others_can_write_to_is_not_loaded(file, mode):
    file.chmod(mode)
    assert replaced(file)


def test_a_link_is_not_followed(file, tmp_path):
    elsewhere = tmp_path / "elsewhere"
    file.rename(elsewhere)
    file.symlink_to(elsewhere)
    before = elsewhere.read_bytes()
    assert replaced(file)
    assert elsewhere.read_bytes() == before


def test_a_file_with_a_second_name_is_not_loaded(file, tmp_path):
    os.link(file, tmp_path / "second name")
    assert replaced(file)


def in_time(function):
    """What a function returns, if it does not wait for ever."""
    results = []
    thread = threading.Thread(target=lambda: results.append(function()), daemon=True)
    thread.start()
    thread.join(20)
    assert not thread.is_alive()
    return results[0]


def test_a_pipe_is_neither_loaded_nor_waited_for(file):
    file.unlink()
    os.mkfifo(file, 0o600)
    assert in_time(lambda: replaced(file))


def test_what_comes_through_a_pipe_is_not_loaded_either(file):
    sound = file.read_bytes()
    file.unlink()
    os.mkfifo(file, 0o600)
    descriptor = os.open(file, os.O_RDWR)
    os.write(descriptor, sound)
    assert in_time(lambda: replaced(file))
    os.close(descriptor)


def test_a_folder_in_a_files_place_is_left(file):
    file.unlink()
    file.mkdir()
    assert disk.read(KEY) is None
    disk.write(KEY, *STORED)
    assert disk.read(KEY) is None
    assert sorted(path.suffix for path in file.parent.iterdir()) == ["", ".kernel"]


@pytest.mark.parametrize("planted", ["pipe", "link", "second name"])
def test_a_planted_lock_is_not_touched_nor_waited_for(folder, tmp_path, planted):
    lock, elsewhere = folder / f"{KEY}.lock", tmp_path / "elsewhere"
    elsewhere.write_text("whole")
    if planted == "pipe":
        os.mkfifo(lock, 0o600)
    elif planted == "link":
        lock.symlink_to(elsewhere)
    else:
        os.link(elsewhere, lock)

    def compile():
        with disk.lock(KEY):
            return "compiled"

    assert in_time(compile) == "compiled"
    assert elsewhere.read_text() == "whole"


def refusal(path):
    """What is said of a cache that is not taken: neither read nor written."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        assert disk.read(KEY) is None
        names = sorted(path.iterdir())
        disk.write(OTHER, *STORED)
        assert disk.folder() is None
    assert sorted(path.iterdir()) == names
    (message,) = {str(each.message) for each in said}
    start = f"SASH_CACHE_DIR must be a folder that nobody but you or root can write to, got {path}: "
    assert message.startswith(start)
    assert message.endswith("; without it each process compiles anew")
    return message.removeprefix(start).rpartition(";")[0]


def test_a_folder_that_is_a_link_is_refused(folder, tmp_path, monkeypatch):
    link = tmp_path / "link"
    link.symlink_to(folder)
    monkeypatch.setenv("SASH_CACHE_DIR", str(link))
    assert refusal(link) == f"{link} is a link"


def test_a_link_of_our_own_on_the_way_is_followed(folder, tmp_path, monkeypatch):
    (tmp_path / "far").symlink_to(folder.parent)
    (tmp_path / "near").symlink_to("above/../far")
    for path in ("far/kernels", "near/kernels", "near/../above/kernels"):
        monkeypatch.setenv("SASH_CACHE_DIR", str(tmp_path / path))
        assert disk.read(KEY) == STORED
    monkeypatch.chdir(tmp_path / "far")
    monkeypatch.setenv("SASH_CACHE_DIR", "kernels")
    assert disk.read(KEY) == STORED


def test_links_that_lead_to_each_other_end(tmp_path, monkeypatch):
    (tmp_path / "one").symlink_to("two")
    (tmp_path / "two").symlink_to("one")
    monkeypatch.setenv("SASH_CACHE_DIR", str(tmp_path / "one" / "kernels"))
    with pytest.warns(RuntimeWarning, match="is a link"):
        assert in_time(disk.folder) is None


@pytest.mark.parametrize("mode", [0o770, 0o707, 0o777])
def test_a_folder_above_that_others_can_write_to_is_refused_unless_it_is_sticky(folder, mode):
    folder.parent.chmod(mode)
    assert refusal(folder) == f"others can write to {folder.parent}"
    folder.parent.chmod(mode | stat.S_ISVTX)
    assert disk.read(KEY) == STORED
    folder.chmod(mode | stat.S_ISVTX)  # here it does not help: anyone could add a file
    assert refusal(folder) == f"others can write to {folder}"


@SECOND_USER
def test_folders_and_links_of_another_user_are_refused(folder, tmp_path, monkeypatch):
    os.chown(folder, NOBODY, NOBODY)
    assert refusal(folder) == f"{folder} belongs to user {NOBODY}"
    os.chown(folder, 0, 0)
    os.chown(folder.parent, NOBODY, NOBODY)
    assert refusal(folder) == f"{folder.parent} belongs to user {NOBODY}"
    os.chown(folder.parent, 0, 0)
    link = tmp_path / "link"
    link.symlink_to(folder.parent)
    os.chown(link, NOBODY, NOBODY, follow_symlinks=False)
    monkeypatch.setenv("SASH_CACHE_DIR", str(link / "kernels"))
    assert refusal(link / "kernels") == f"{link} belongs to user {NOBODY}"


def test_what_is_made_is_ours_alone_whatever_the_umask(tmp_path, monkeypatch):
    monkeypatch.setenv("SASH_CACHE_DIR", str(tmp_path / "a" / "b" / "c"))
    before = os.umask(0)
    try:
        disk.write(KEY, *STORED)
        with disk.lock(KEY):
            assert disk.read(KEY) == STORED
    finally:
        os.umask(before)
    made = {str(path.relative_to(tmp_path)): stat.S_IMODE(path.stat().st_mode) for path in tmp_path.rglob("*")}
    assert {made.pop("a"), made.pop("a/b")} == {0o755}
    assert made.pop("a/b/c") == 0o700
    assert set(made.values()) == {0o600}


def test_folders_of_our_own_that_others_can_write_to_give_way_to_the_next(tmp_path, monkeypatch):
    for name in ("home", "temporary"):
        (tmp_path / name).mkdir()
    monkeypatch.delenv("SASH_CACHE_DIR", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "home"))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    assert disk.folder() == tmp_path / "home" / "sash" / "kernels"
    (tmp_path / "home").chmod(0o777)
    second = tmp_path / "temporary" / f"sash-kernels-{os.geteuid()}"
    assert disk.folder() == second
    second.chmod(0o770)
    with pytest.warns(RuntimeWarning, match=f"kernels are not kept, since others can write to {second}; name a folder"):
        assert disk.folder() is None


def test_a_kernel_is_opened_once_in_the_open_folder(file):
    opened = []

    def hook(event, arguments):
        if event == "open" and str(arguments[0]).endswith(".kernel"):
            opened.append(arguments[0])

    sys.addaudithook(hook)  # cannot be taken away, so that what it sees must not matter later
    assert disk.read(KEY) == STORED
    assert opened == [file.name]


KILLED = """
    import os, sys
    from sash.kernels.compiling import disk

    def stuck(*arguments, **options):
        print("stuck", flush=True)
        sys.stdin.readline()

    {setup}
    disk.write({key!r}, {{"name": "f"}}, b"machine code" * 100_000)
    """
MOMENTS = {
    "nothing written": "os.fdopen = stuck",
    "half written": """os.fdopen = lambda descriptor, mode: (
        os.write(descriptor, b"sash kernel 1\\n" + bytes(1000)), stuck()
    )""",
    "not renamed": "os.replace = stuck",
}


@pytest.mark.parametrize("setup", MOMENTS.values(), ids=MOMENTS)
def test_a_process_killed_while_it_writes_leaves_what_was_there(folder, file, setup):
    before = file.read_bytes()
    script = textwrap.dedent(KILLED.format(key=KEY, setup=setup))
    victim = subprocess.Popen([sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert victim.stdout.readline() == "stuck\n"
    victim.kill()
    victim.communicate()
    assert file.read_bytes() == before
    assert disk.read(KEY) == STORED
    assert len(list(folder.glob("*.part"))) == 1
    disk.write(KEY, {"name": "g"}, b"new")
    assert disk.read(KEY) == ({"name": "g"}, b"new")
