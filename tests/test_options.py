"""Options are checked when they are set, and memory has a sensible default."""

import os
import pickle
import subprocess
import sys

import cloudpickle
import pytest

import sash
from sash import SashError, options


@pytest.mark.parametrize(
    ("given", "size"),
    [(1, 1), (2**33, 2**33), ("2g", 2**31), ("512 MB", 2**29), ("1.5 GiB", 3 * 2**29), ("64k", 2**16), ("100", 100),
     (" 1 TB ", 2**40), ("10b", 10), (None, None)],
)  # fmt: skip
def test_memory_is_a_number_of_bytes(given, size):
    with options.set(memory=given):
        assert options.memory == size
        assert sash.options is options


@pytest.mark.parametrize("given", [0, -1, True, 1.5, "", "g", "2 apples", "-1g", "0g", b"1g", "1e9", []])
def test_memory_takes_nothing_else(given):
    with pytest.raises(SashError, match=r"memory must be a number of bytes, such as .*, got "):
        options.memory = given
    assert options.memory is None


@pytest.mark.parametrize("given", ["yes", None, 1, 0, "AUTO"])
def test_skew_takes_nothing_but_auto_and_booleans(given):
    with pytest.raises(SashError, match="skew must be 'auto', True or False, got"):
        options.skew = given
    assert options.skew == "auto"


@pytest.mark.parametrize("given", ["Europe/Nowhere", "", 3, b"UTC"])
def test_a_zone_is_one_of_the_time_zone_database(given):
    with pytest.raises(SashError, match="zone must be a time zone such as 'Europe/Berlin', or None, got"):
        options.zone = given
    assert options.zone is None
    with options.set(zone="+05:30"):
        assert options.zone == "+05:30"


def test_an_unknown_option_is_refused():
    with pytest.raises(
        SashError, match="there is no option 'memroy'; the options are memory, skew, jobs, shards, zone"
    ):
        options.memroy = 1
    with pytest.raises(SashError, match="there is no option 'memroy'"):
        _ = options.memroy
    with pytest.raises(SashError, match="there is no option 'memroy'"), options.set(skew=True, memroy=1):
        pass
    assert not hasattr(options, "memroy")
    assert options.skew == "auto"


def test_options_are_what_they_were_after_a_block():
    with options.set(memory="1g", skew=True):
        assert repr(options) == "sash.options: memory=1073741824, skew=True, jobs=True, shards=None, zone=None"
    with pytest.raises(ZeroDivisionError), options.set(memory="1g", skew=True):
        _ = 1 / 0
    assert repr(options) == "sash.options: memory=None, skew='auto', jobs=True, shards=None, zone=None"
    assert {"memory", "skew", "budget", "set"} <= set(dir(options))


def test_the_budget_is_what_was_set_nearest(monkeypatch):
    monkeypatch.setenv("SASH_MEMORY", "3g")
    monkeypatch.setenv("PYSPARK_EXECUTOR_MEMORY_MB", "8192")
    with options.set(memory="1g"):
        assert options.budget() == 2**30
    assert options.budget() == 3 * 2**30
    monkeypatch.setenv("SASH_MEMORY", "much")
    with pytest.raises(SashError, match=r"SASH_MEMORY must be a number of bytes, .* got 'much'"):
        options.budget()
    monkeypatch.setenv("SASH_MEMORY", "")
    assert 2**30 <= options.budget() <= 4 * 2**30
    monkeypatch.setenv("PYSPARK_EXECUTOR_MEMORY_MB", "8")
    assert options.budget() == 2**20
    monkeypatch.delenv("PYSPARK_EXECUTOR_MEMORY_MB")
    machine = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    assert 2**20 <= options.budget() <= machine // 4


def test_a_container_has_less_memory_than_its_machine(tmp_path, monkeypatch):
    monkeypatch.delenv("SASH_MEMORY", raising=False)
    monkeypatch.delenv("PYSPARK_EXECUTOR_MEMORY_MB", raising=False)
    (tmp_path / "max").write_text("max\n")
    (tmp_path / "limit").write_text(f"{2**30}\n")
    monkeypatch.setitem(vars(options), "CGROUPS", (str(tmp_path / "max"), str(tmp_path / "limit")))
    assert options.budget() == 2**28 // os.cpu_count()


def test_options_travel_by_name():
    for pickling in (pickle, cloudpickle):
        assert pickle.loads(pickling.dumps(options)) is options


def test_options_need_no_other_library():
    code = "import sys, sash; sash.options.budget(); print([n for n in ('numpy', 'pyarrow') if n in sys.modules])"
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert printed.strip() == "[]"
