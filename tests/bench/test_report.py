"""What the docs show of a result, and that they show the one that is stored."""

import pytest
from bench.harness import report, running
from bench.harness.drawing import draw

MACHINE = {"processor": "a processor", "cores": 2, "memory": 24.0, "python": "3.11", "commit": "abc", "changed": False,
           "when": "2026-11-16T00:00:00+00:00", "versions": {"polars": "2.1"}}  # fmt: skip
DUEL = {"task": "rolling max", "sash": 0.5, "peer": "Polars", "theirs": 4.0, "ratio": 8.0, "mark": ""}
RESULT = {
    "peers.rolling": {
        "machine": MACHINE,
        "title": "Rolling",
        "duels": [DUEL, DUEL | {"peer": "bottleneck", "theirs": 1.0, "ratio": 2.0}],
    },
    "papers.flatfit_2017.figure8": {
        "machine": MACHINE,
        "title": "Figure 8",
        "figures": [{"kind": "bars", "title": "t", "values": {"a": 1.0}, "x": "s", "log": False}],
        "claims": [{"paper": "p", "here": "h", "holds": False, "why": "because"}],
    },
}
LINES = {"p": {"a": [[1, 2.0], [2, 3.0]]}}


def test_all_peers_are_shown_with_their_command_and_readme_has_the_fastest():
    table = report.peers(RESULT)
    assert "| rolling max | 0.5 | Polars | 4 | 8 | `sash bench --full --only peers.rolling` |" in table
    assert (
        "a processor, 2 cores, 24 GiB, Python 3.11, commit abc, 2026-11-16. Versions: polars 2.1."
        in report.measured(RESULT)
    )
    told = "**2** bottleneck: rolling max"
    assert f"| Rolling | 1 | {told} | 2 | {told} |" in report.headlines(RESULT)


def test_a_claim_that_does_not_hold_is_shown_with_its_reason():
    page = report.papers(RESULT)
    assert "| p | h | **does not hold**: because |" in page
    assert "Of 1 claims 0 hold, 1 do not" in page
    assert "(plots/flatfit_2017-figure8.svg)" in page


@pytest.mark.parametrize(
    "figure",
    [
        {"kind": "bars", "title": "t", "values": {"Sash": 1.0, "b": 2.0}, "x": "s", "log": True},
        {"kind": "grid", "title": "t", "values": [[1, 2, 3.0], [2, 2, 4.0]], "x": "x", "y": "y"},
        {"kind": "lines", "title": "t", "panels": LINES, "x": "x", "y": "y", "xlog": True, "ylog": False},
    ],
    ids=lambda figure: figure["kind"],
)  # fmt: skip
def test_the_same_result_draws_the_same_bytes(figure, tmp_path):
    for name in ("a", "b"):
        draw(figure, tmp_path / name)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_the_page_opens_with_what_each_paper_is_known_for():
    known, (name, begins) = RESULT["papers.flatfit_2017.figure8"], report.HEADLINES[2]
    claim = {"paper": f"{begins}, and more", "here": "just that", "holds": True, "why": ""}
    page = report.papers({"papers.flatfit_2017.figure8": known | {"claims": [claim]}})
    line = f"| FlatFIT (2017) | {begins}, and more | just that | holds | `sash bench --full --only papers.{name}` |"
    assert line in page
    assert page.index(line) < page.index("Of 1 claims 1 hold")


def test_the_headlines_are_claims_of_the_stored_result():
    stored = running.load(report.RELEASE)
    claims = [(name, claim["paper"]) for name, found in stored.items() for claim in found.get("claims", ())]
    for name, begins in report.HEADLINES:
        assert [paper for at, paper in claims if at == f"papers.{name}" and paper.startswith(begins)], begins
