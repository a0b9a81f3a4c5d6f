"""A cache that several users name: root's kernels are for everyone, a user's for that user alone."""

import contextlib
import os
import shutil
import subprocess
import sys
import tempfile
import textwrap
from pathlib import Path

import pytest

from sash.kernels.compiling import disk

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="only root can start processes of two users")
KEY, OTHER = "a1" * 32, "b2" * 32
STORED = {"name": "f", "words": 2}, b"machine code\n\0"
NOBODY, SOMEBODY = 65534, 65533

USER = """
    import fcntl, os, sys, tempfile, warnings
    from sash.kernels.compiling import disk, pruning  # while this Python's own files can be read
    tempfile.gettempdir()
    os.setgroups([])
    os.setgid({user})
    os.setuid({user})
    STORED = {{"name": "f", "words": 2}}, b"machine code\\n\\0"
    """


@pytest.fixture
def ground():
    """A folder that every user can pass, which pytest's own are not."""
    path = Path(tempfile.mkdtemp(prefix="sash-test-"))
    path.chmod(0o755)
    yield path
    shutil.rmtree(path)


@pytest.fixture
def user(ground):
    """Start a process of another user, whose home is on the ground."""
    with contextlib.ExitStack() as started:

        def user(number, body, **environment):
            home = ground / f"home-{number}"
            if not home.exists():
                home.mkdir(mode=0o700)
                os.chown(home, number, number)
            process = subprocess.Popen(
                [
                    sys.executable,
                    "-W",
                    "always",
                    "-c",
                    textwrap.dedent(USER).format(user=number) + textwrap.dedent(body),
                ],
                env={**os.environ, "HOME": str(home), "XDG_CACHE_HOME": "", **environment},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
            )
            started.callback(process.communicate)
            started.callback(process.kill)
            return process

        yield user


def ended(process, *said):
    out, err = process.communicate(timeout=60)
    assert process.returncode == 0, err
    for words in said:
        assert words in err
    assert said or err == ""
    return out.strip()


def tree(path):
    return {each: (each.lstat().st_mtime_ns, each.lstat().st_uid, each.lstat().st_mode) for each in path.rglob("*")}


def test_a_cache_that_root_prepared_is_read_and_what_it_lacks_goes_to_the_users_own(user, ground, monkeypatch):
    prepared = ground / "kernels"
    monkeypatch.setenv("SASH_CACHE_DIR", str(prepared))
    disk.write(KEY, *STORED)
    for path in (prepared, *prepared.iterdir()):
        path.chmod(0o755 if path.is_dir() else 0o644)
    os.utime(prepared / f"{KEY}.kernel", (0, 0))  # long unused, which is for root to see to
    before = tree(prepared)
    body = f"""
        assert disk.read({KEY!r}) == STORED
        assert disk.read({OTHER!r}) is None
        with disk.lock({OTHER!r}):
            disk.write({OTHER!r}, *STORED)
        assert disk.read({OTHER!r}) == STORED
        print(disk.folder())
        """
    own = ground / f"home-{NOBODY}" / ".cache" / "sash" / "kernels"
    assert ended(user(NOBODY, body)) == str(own)
    assert tree(prepared) == before
    assert {path.name for path in own.iterdir()} == {f"{OTHER}.kernel", f"{OTHER}.lock", "pruned"}
    assert {path.stat().st_uid for path in own.iterdir()} == {NOBODY}


def test_a_cache_that_root_prepared_and_nobody_else_can_read_is_said(user, ground, monkeypatch):
    monkeypatch.setenv("SASH_CACHE_DIR", str(ground / "kernels"))
    disk.write(KEY, *STORED)
    body = f"assert disk.read({KEY!r}) is None and disk.folder() is None"
    ended(user(NOBODY, body), f"got {ground / 'kernels'}: Permission denied; without it")


def test_what_another_user_planted_before_us_in_the_temporary_folder_is_not_loaded(user, ground, monkeypatch):
    """The classic: the name of our folder there can be told in advance."""
    temporary = ground / "tmp"
    temporary.mkdir()
    temporary.chmod(0o1777)
    planted = temporary / "sash-kernels-0"
    body = f"disk.write({KEY!r}, *STORED); assert disk.read({KEY!r}) == STORED; os.chmod({str(planted)!r}, 0o755)"
    ended(user(NOBODY, body, SASH_CACHE_DIR=str(planted)))
    assert (planted / f"{KEY}.kernel").stat().st_uid == NOBODY
    monkeypatch.delenv("SASH_CACHE_DIR", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", "/proc/sash")  # cannot be made
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    with pytest.warns(RuntimeWarning, match=f"since {planted} belongs to user {NOBODY}"):
        assert disk.read(KEY) is None


SHARING = """
    print("ready", flush=True)
    sys.stdin.readline()
    keys = [format(k, "064x") for k in range(30)]
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        for turn in range(3):
            for key in keys:
                stored = disk.read(key)
                assert stored in (None, ({{"by": {user}}}, key.encode()), ({{"by": 0}}, key.encode())), stored
                if stored is None:
                    with disk.lock(key):
                        disk.write(key, {{"by": {user}}}, key.encode())
        writers = {{stored[0]["by"] for stored in map(disk.read, keys) if stored}}
        where = disk.folder()
    print(sorted(writers), len(said) > 0, where)
    """


@pytest.mark.parametrize("owner", [0, NOBODY])
def test_users_that_share_a_folder_at_once_never_load_what_another_wrote(user, ground, owner):
    """All have the same SASH_CACHE_DIR. Root's code runs for everyone; a user's runs for that user alone."""
    shared = ground / "kernels"
    shared.mkdir(mode=0o755)
    os.chown(shared, owner, owner)
    users = [0, NOBODY, SOMEBODY, owner]
    processes = [user(each, SHARING.format(user=each), SASH_CACHE_DIR=str(shared)) for each in users]
    assert [process.stdout.readline() for process in processes] == ["ready\n"] * len(users)
    for process in processes:
        process.stdin.write("go\n")
        process.stdin.flush()
    printed = [ended(process) for process in processes]
    for each, line in zip(users, printed, strict=True):
        if each == owner:
            assert line == f"[{owner}] False {shared}"
        elif owner == 0:  # root's files are its own to read, so that the rest is in the user's own folder
            assert line == f"[{each}] False {ground / f'home-{each}/.cache/sash/kernels'}"
        else:
            assert line == "[] True None"
    assert {path.stat().st_uid for path in shared.iterdir()} == {owner}
    assert not list(shared.glob("*.part"))
    assert len(list(shared.glob("*.kernel"))) == 30
