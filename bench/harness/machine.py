"""What a result was measured on: the machine, the versions and the commit."""

from __future__ import annotations

import os
import platform
import subprocess
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import Any

HOME = Path(__file__).parents[2]
PEERS = (
    "numpy",
    "numba",
    "pyarrow",
    "pyspark",
    "duckdb",
    "polars",
    "pandas",
    "bottleneck",
    "numbagg",
    "river",
    "bytewax",
)


def described() -> dict[str, Any]:
    """All of it, for JSON."""
    return {
        "commit": _git("rev-parse", "--short=10", "HEAD") or "unknown",
        "changed": bool(_git("status", "--porcelain", "--untracked-files=no", "--", "src", "bench", ":!bench/results")),
        "when": datetime.now(UTC).isoformat(timespec="seconds"),
        "processor": _processor(),
        "cores": os.cpu_count(),
        "memory": _memory(),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "versions": {name: found for name in PEERS if (found := _version(name))},
    }


def sentence(machine: dict[str, Any]) -> str:
    """The machine in one line."""
    return (
        f"{machine['processor']}, {machine['cores']} cores, {machine['memory']:.0f} GiB, Python {machine['python']}, "
        f"commit {machine['commit']}{' with changes' if machine['changed'] else ''}, {machine['when'][:10]}"
    )


def _git(*words: str) -> str:
    try:
        return subprocess.run(
            ["git", "-C", str(HOME), *words], capture_output=True, text=True, check=True
        ).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return ""


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    return next((line.partition(": ")[2] for line in lines if line.startswith("model name")), platform.machine())


def _memory() -> float:
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30


def _version(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def descendants(root: int) -> list[int]:
    """A process and all that it started."""
    parents: dict[int, list[int]] = {}
    for place in Path("/proc").glob("[0-9]*"):
        try:
            parents.setdefault(int((place / "stat").read_text().rpartition(")")[2].split()[1]), []).append(
                int(place.name)
            )
        except OSError:
            continue
    out = [root]
    for pid in out:
        out += parents.get(pid, [])
    return out


def core_seconds(root: int) -> float:
    """The seconds of cores that the processes took that a process started, those that have ended among them."""
    ticks = 0
    for pid in descendants(root)[1:]:
        try:
            fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        ticks += sum(map(int, fields[11:15]))
    return ticks / os.sysconf("SC_CLK_TCK")
