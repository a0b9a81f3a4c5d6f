"""Folders and files that nobody but us and root could have written, held by descriptor.

Code that is loaded or executed comes from here only. A path is walked from the root, one descriptor a step: each
folder on the way is ours or root's, and nobody else can write to it, except where it is sticky, as /tmp is, so that
what is ours there stays ours. A link on the way is followed where we or root made it, the folder itself must be none.
All that follows is looked up in the open folder, whatever becomes of its path, and no link is followed in it.
"""

from __future__ import annotations

import contextlib
import os
import stat
from pathlib import Path
from typing import Any

_BY_DESCRIPTOR = os.open in os.supports_dir_fd  # not on Windows, where the folder's own rights must do
_LINKS = 40  # that a path may lead through, as in Linux
_OTHERS = stat.S_IWGRP | stat.S_IWOTH


def _flags(*names: str) -> int:
    return sum(getattr(os, name, 0) for name in names)


_FOLDER = _flags("O_RDONLY", "O_DIRECTORY", "O_NOFOLLOW")
_ON_THE_WAY = _FOLDER | _flags("O_PATH")  # a folder that can be passed may be one that cannot be listed
_FILE = _flags("O_NOFOLLOW", "O_NONBLOCK", "O_NOCTTY", "O_BINARY")  # O_NONBLOCK: a pipe must not keep us waiting


class Untrusted(PermissionError):
    """Somebody else could have written this; the message says what, and who."""


class TrustedFolder:
    """An open folder. A context manager; see ``open_folder``."""

    def __init__(self, path: Path, descriptor: int | None) -> None:
        self.path, self._descriptor = path, descriptor

    def __enter__(self) -> TrustedFolder:
        return self

    def __exit__(self, *_: Any) -> None:
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    @property
    def writable(self) -> bool:
        """Whether files can be made in it; one of root's can only be read, by all but root."""
        return os.access(self._at("."), os.W_OK, dir_fd=self._descriptor)

    def open(self, name: str, flags: int = os.O_RDONLY, mode: int = 0o600) -> int:
        """A descriptor of a regular file, of which nobody else could have written a byte."""
        descriptor = os.open(self._at(name), flags | _FILE, mode, dir_fd=self._descriptor)
        try:
            _check_file(name, os.fstat(descriptor))
        except OSError:
            os.close(descriptor)
            raise
        return descriptor

    def write(self, name: str, data: bytes, mode: int = 0o600) -> None:
        """Write a file; readers see the old one, the new one, or none: never half of one."""
        part = f"{name[:16]}{os.urandom(8).hex()}.part"
        descriptor = self.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(data)
            os.replace(self._at(part), self._at(name), src_dir_fd=self._descriptor, dst_dir_fd=self._descriptor)
        except BaseException:
            with contextlib.suppress(OSError):
                self.remove(part)
            raise

    def names(self) -> list[str]:
        """What is in it."""
        return os.listdir(self.path if self._descriptor is None else self._descriptor)

    def status(self, name: str) -> os.stat_result:
        """What the system knows of an entry itself, not of what it leads to."""
        return os.stat(self._at(name), dir_fd=self._descriptor, follow_symlinks=False)

    def remove(self, name: str) -> None:
        """Delete a file."""
        os.unlink(self._at(name), dir_fd=self._descriptor)

    def _at(self, name: str) -> str:
        return name if self._descriptor is not None else str(self.path / name)


def open_folder(path: Path) -> TrustedFolder:
    """Open a folder, made where there is none; raises ``Untrusted``, or another ``OSError``."""
    if not _BY_DESCRIPTOR:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
        return TrustedFolder(path, None)
    return TrustedFolder(path, _walk(path.absolute()))


def _walk(path: Path) -> int:
    root, *names = path.parts
    pending, links, place = names[::-1], 0, Path(root)
    here = os.open(root, _ON_THE_WAY if pending else _FOLDER)
    try:
        while pending:
            _check_folder(place, os.fstat(here), sticky=True)
            name = pending.pop()
            below = _below(here, name, last=not pending)
            if below is None:  # a link
                _check_owner(place / name, os.stat(name, dir_fd=here, follow_symlinks=False))
                links += 1
                if not pending or links > _LINKS:
                    raise Untrusted(f"{place / name} is a link")
                target = Path(os.readlink(name, dir_fd=here))
                pending += [part for part in reversed(target.parts) if part != target.anchor]
                if not target.is_absolute():
                    continue
                below, place = os.open(target.anchor, _ON_THE_WAY), Path(target.anchor)
            else:
                place = place / name
            os.close(here)
            here = below
        _check_folder(place, os.fstat(here), sticky=False)
    except BaseException:
        os.close(here)
        raise
    return here


def _below(here: int, name: str, last: bool) -> int | None:
    """Step into a folder, made where there is none; None where it is a link."""
    flags = _FOLDER if last else _ON_THE_WAY
    try:
        return os.open(name, flags, dir_fd=here)
    except FileNotFoundError:
        with contextlib.suppress(FileExistsError):  # another process was faster
            os.mkdir(name, 0o700 if last else 0o755, dir_fd=here)
        return os.open(name, flags, dir_fd=here)
    except OSError:
        if stat.S_ISLNK(os.stat(name, dir_fd=here, follow_symlinks=False).st_mode):
            return None
        raise


def _check_owner(what: str | Path, status: os.stat_result) -> None:
    if hasattr(os, "geteuid") and status.st_uid not in (0, os.geteuid()):
        raise Untrusted(f"{what} belongs to user {status.st_uid}")


def _check_folder(path: Path, status: os.stat_result, sticky: bool) -> None:
    _check_owner(path, status)
    if status.st_mode & _OTHERS and not (sticky and status.st_mode & stat.S_ISVTX):
        raise Untrusted(f"others can write to {path}")


def _check_file(name: str, status: os.stat_result) -> None:
    if not stat.S_ISREG(status.st_mode):
        raise Untrusted(f"{name} is not a regular file")
    _check_owner(name, status)
    if hasattr(os, "geteuid") and status.st_mode & _OTHERS:
        raise Untrusted(f"others can write to {name}")
    if status.st_nlink > 1:
        raise Untrusted(f"{name} has another name, too")
