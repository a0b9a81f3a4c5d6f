"""A disk of a few megabytes that a test can fill, and empty again."""

import errno
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest


@dataclass
class Disk:
    """A file system of its own."""

    path: Path

    def fill(self, leave=0):
        """Leave no room, or so many bytes."""
        self.free()
        ballast = self.path / "ballast"
        with ballast.open("wb") as file:
            try:
                while True:
                    file.write(bytes(1 << 16))
                    file.flush()
            except OSError as error:
                if error.errno != errno.ENOSPC:
                    raise
        with ballast.open("r+b") as file:
            file.truncate(max(ballast.stat().st_size - leave, 0))

    def free(self):
        """Make room again."""
        (self.path / "ballast").unlink(missing_ok=True)


def small_disk(path, size):
    """A disk of so many megabytes in a folder; skips where this user may not mount one."""
    path.mkdir()
    done = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}m", "tmpfs", str(path)], capture_output=True)
    if done.returncode:
        pytest.skip("only root mounts a small disk")
    return Disk(path)


def unmount(disk):
    subprocess.run(["umount", "-l", str(disk.path)], check=True)
