"""What the docs show runs, and the tables in them are those of the code."""

import doctest
import subprocess
import sys
from pathlib import Path

import pytest

HOME = Path(__file__).parent.parent
PAGES = [
    HOME / "README.md",
    *(
        HOME / "docs" / f"{page}.md"
        for page in ("aggregates", "windows", "frames", "sliding_windows", "streams", "spans")
    ),
]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_example_runs(page, tmp_path, monkeypatch):
    monkeypatch.setenv("SASH_CACHE_DIR", str(tmp_path / "cache")) if "clear" in page.read_text() else None
    failed, tried = doctest.testfile(str(page), module_relative=False, optionflags=doctest.ELLIPSIS)
    assert tried
    assert not failed


def test_tables_are_up_to_date():
    run = subprocess.run([sys.executable, HOME / "docs" / "build.py", "--check"], capture_output=True, text=True)
    assert run.returncode == 0, run.stdout + run.stderr
