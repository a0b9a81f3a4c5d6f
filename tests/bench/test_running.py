"""Which experiments there are, and that they run, are stored and can fail."""

import json
import re

import pytest
from bench.harness import catalogue, running
from typer.testing import CliRunner

from sash.cli import bench  # noqa: F401, its commands
from sash.cli.app import app

PAPERS = {  # what the five papers measure
    "reactive_2015": [*(f"figure{n}" for n in range(6, 13)), "table3", "table4"],
    "flatfit_2017": [*(f"figure{n}" for n in range(8, 17)), "table1"],
    "boundary_2021": [*(f"figure{n}" for n in range(4, 9)), "table1", "table2", "table3"],
    "holistic_2022": [*(f"figure{n}" for n in range(9, 15)), "table1"],
    "spans_2021": [*(f"figure{n}" for n in range(10, 16)), "table4"],
}
CHEAP = "papers.flatfit_2017.figure12"


def sash(*words):
    """What a command says, in one line, and its exit code."""
    done = CliRunner().invoke(app, ["bench", *map(str, words)])
    return " ".join(done.output.split()), done.exit_code


@pytest.mark.parametrize(("paper", "name"), [(paper, name) for paper, each in PAPERS.items() for name in each])
def test_every_figure_and_table_has_a_module_that_is_named_after_it(paper, name):
    title = catalogue.constants(f"papers.{paper}.{name}")["TITLE"]
    assert title.lower().startswith(re.sub(r"(\d+)", r" \1", name))


def test_figures_are_in_their_order():
    names = [name for name in catalogue.names() if "flatfit_2017.figure" in name]
    assert names.index("papers.flatfit_2017.figure9") < names.index("papers.flatfit_2017.figure10")


def test_a_part_of_a_name_is_a_whole_word_of_it():
    with pytest.raises(LookupError, match="no experiment 'figure1'"):
        catalogue.chosen(["figure1"])
    assert catalogue.chosen(["flatfit_2017.figure9"]) == ["papers.flatfit_2017.figure9"]
    assert all(name.startswith("peers.") for name in catalogue.chosen(["peers"]))


def test_a_result_is_stored_with_its_commit_and_merged(tmp_path):
    path = tmp_path / "a" / "result.json"
    said, code = sash("--only", CHEAP, "--into", path)
    assert code == 0, said
    stored = running.load(path)
    assert stored[CHEAP]["machine"]["commit"]
    assert stored[CHEAP]["full"] is False
    running.save({"other": {"full": True}, **stored}, path)
    sash("--only", CHEAP, "--into", path)
    assert set(running.load(path)) == {"other", CHEAP}
    assert "0 of" in sash("compare", path, path)[0]


def test_panels_and_lines_keep_their_order(tmp_path):
    panels = {"range 500": {"b": [], "a": []}, "range 10,000": {}}
    running.save({"x": {"figures": [{"panels": panels}]}}, tmp_path / "result.json")
    kept = running.load(tmp_path / "result.json")["x"]["figures"][0]["panels"]
    assert [list(kept), list(kept["range 500"])] == [["range 500", "range 10,000"], ["b", "a"]]


def test_an_experiment_that_fails_is_named_and_nothing_of_it_is_stored(tmp_path, monkeypatch):
    monkeypatch.setattr(running, "LIMIT", 0.01)
    path = tmp_path / "result.json"
    said, code = sash("--only", CHEAP, "--into", path)
    assert code == 1
    assert f"these failed: {CHEAP}" in said
    assert not path.exists()


def test_bad_words_are_named(tmp_path):
    assert "no experiment 'figure99'" in sash("--only", "figure99")[0]
    (tmp_path / "x.json").write_text(json.dumps([]))
    assert "not a result of sash bench" in sash("compare", tmp_path / "x.json", tmp_path / "y.json")[0]


@pytest.mark.long
@pytest.mark.parametrize("name", catalogue.names())
def test_every_experiment_runs(name, tmp_path):
    assert running.run([name], full=False, into=tmp_path / "result.json") == []
