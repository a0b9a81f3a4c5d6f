"""Writes what the docs say of a stored result: plots, the page of the papers, the table of peers, figures of README."""

from __future__ import annotations

import re
import statistics
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bench.harness import verdicts
from bench.harness.catalogue import names
from bench.harness.drawing import draw
from bench.harness.machine import HOME, sentence
from bench.harness.tables import markdown, text

DOCS = HOME / "docs"
PLOTS = DOCS / "plots"
RELEASE = HOME / "bench" / "results" / "full.json"
PAPERS = {
    "reactive_2015": "General Incremental Sliding-Window Aggregation (2015)",
    "flatfit_2017": "FlatFIT (2017)",
    "boundary_2021": "Parallel Boundary Aggregator (2021)",
    "spans_2021": "Slicing for Temporal Aggregation in Spanning Event Streams (2021)",
    "holistic_2022": "Arbitrarily-Framed Holistic SQL Aggregates and Window Functions (2022)",
}
HEADLINES_HEAD = ("", "tasks", "least", "median", "most")
PEERS_HEAD = ("task", "Sash, s", "peer", "peer, s", "peer over Sash", "command")
HEADLINES = (  # what each paper is known for: the experiment, and how its claim begins
    ("reactive_2015.figure6", "StdDev: RA is over 10x faster on windows of 1,024"),
    ("reactive_2015.figure7", "a (1, 1)-change takes O(log n) combines"),
    ("flatfit_2017.figure8", "FlatFIT takes 3(n - 1) operations in n + 1 slides"),
    ("flatfit_2017.figure13", "FlatFIT has 1.8 times the throughput of FlatFAT"),
    ("flatfit_2017.figure15", "FlatFIT has 10 times the throughput of FlatFAT"),
    ("boundary_2021.table1", "PBA takes at most 3 combines a slide"),
    ("boundary_2021.figure4", "PBA has the best throughput for windows of 2^15"),
    ("boundary_2021.figure4", "from 2^15 on, PBA has 2.5x"),
    ("boundary_2021.table2", "SlickDeque and PBA have no spikes"),
    ("spans_2021.figure10", "for all windows, slicing is better than aggregate_buckets"),
    ("spans_2021.figure10", "for all windows, slicing is better than sweeping"),
    ("spans_2021.figure11", "for every height greater than 1, several levels outperform slicing"),
    ("holistic_2022.figure9", "merge sort trees are 63 times as fast"),
    ("holistic_2022.figure11", "merge sort trees have one speed at all frames"),
    ("holistic_2022.figure14", "all phases are parallel"),
)
HEADLINE_HEAD = ("paper", "its headline", "what comes out here", "the shape", "measured by")
VERDICTS = {True: "holds", False: "**does not hold**", None: "not judged"}


def pages(results: dict[str, Any]) -> dict[Path, str]:
    """The text of every page that shows a result, by its path."""
    small = [name for name, found in results.items() if not found["full"]]
    if small:
        raise LookupError(f"only results of full runs are shown: run {', '.join(small)} with --full")
    return {
        DOCS / "papers.md": papers(results),
        DOCS / "performance.md": _filled(DOCS / "performance.md", results),
        HOME / "README.md": _filled(HOME / "README.md", results),
    }


def write(results: dict[str, Any]) -> None:
    """Write the pages and draw the plots."""
    for path, page in pages(results).items():
        path.write_text(page)
    for old in PLOTS.glob("*.svg"):
        old.unlink()
    for name, found in results.items():
        for place, figure in enumerate(found.get("figures", ())):
            draw(figure, PLOTS / plot(name, place))


def plot(name: str, place: int) -> str:
    """The file name of a figure of an experiment."""
    return f"{name.removeprefix('papers.').replace('.', '-')}{f'-{place + 1}' if place else ''}.svg"


def duels(results: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    """Every comparison with a peer, and the experiment that it comes from."""
    return [(name, duel) for name in _known(results, "peers.") for duel in results[name].get("duels", ())]


def peers(results: dict[str, Any]) -> str:
    """The table of all comparisons with peers."""
    rows = [
        (duel["task"], duel["sash"], duel["peer"], duel["theirs"], _ratio(duel), f"`sash bench --full --only {name}`")
        for name, duel in duels(results)
    ]
    return markdown(PEERS_HEAD, rows)


def headlines(results: dict[str, Any]) -> str:
    """The same for README, a line for each experiment: of all its tasks against their fastest peers, least to most."""
    rows = []
    for name in _known(results, "peers."):
        fastest: dict[str, dict[str, Any]] = {}
        for duel in sorted(results[name].get("duels", ()), key=lambda duel: duel["ratio"]):
            fastest.setdefault(duel["task"], duel)
        listed = list(fastest.values())
        if listed:
            middle = statistics.median(duel["ratio"] for duel in listed)
            rows.append((results[name]["title"], len(listed), _told(listed[0]), middle, _told(listed[-1])))
    return markdown(HEADLINES_HEAD, rows)


def _told(duel: dict[str, Any]) -> str:
    return f"**{_ratio(duel)}** {duel['peer']}: {duel['task']}"


def papers(results: dict[str, Any]) -> str:
    """The page of the papers' experiments."""
    known = _known(results, "papers.")
    claims = [claim for name in known for claim in results[name].get("claims", ())]
    count = {holds: sum(claim["holds"] is holds for claim in claims) for holds in VERDICTS}
    parts = [
        "# The papers, run again",
        "Every experiment of the five papers that two cores can hold: what the paper claims, what comes out here, and "
        f"whether the shape holds: who wins, where lines cross, how cost grows. {verdicts.WORDS} This page "
        "and its plots are made from `bench/results/full.json` by `sash bench report`; `make bench-full` measures all "
        "of it again.",
        markdown(HEADLINE_HEAD, list(_headlines_of_papers(results))),
        measured(results),
        f"Of {len(claims)} claims {count[True]} hold, {count[False]} do not, and {count[None]} cannot be judged here.",
    ]
    for paper, title in PAPERS.items():
        parts.append(f"## {title}")
        for name in known:
            if name.startswith(f"papers.{paper}."):
                parts += [f"### {results[name]['title']}", shown(name, results[name])]
    return "\n\n".join(parts) + "\n"


def _headlines_of_papers(results: dict[str, Any]) -> Iterator[tuple[str, ...]]:
    """What each paper is known for, and what comes out here."""
    for name, begins in HEADLINES:
        experiment = f"papers.{name}"
        for claim in results.get(experiment, {}).get("claims", ()):
            if claim["paper"].startswith(begins):
                title, verdict = PAPERS[name.partition(".")[0]], VERDICTS[claim["holds"]]
                yield title, claim["paper"], claim["here"], verdict, f"`sash bench --full --only {experiment}`"


def shown(name: str, found: dict[str, Any]) -> str:
    """What one experiment claims, draws and measures."""
    parts = [f"`sash bench --full --only {name}`"]
    if found.get("claims"):
        rows = [(c["paper"], c["here"], VERDICTS[c["holds"]] + (f": {c['why']}" if c["why"] else ""))
                for c in found["claims"]]  # fmt: skip
        parts.append(markdown(("the paper", "here", "the shape"), rows))
    parts += [f"![{figure['title']}](plots/{plot(name, k)})" for k, figure in enumerate(found.get("figures", ()))]
    for table in found.get("tables", ()):
        parts.append(f"{table['title']}:\n\n{markdown(table['head'], table['rows'])}")
    return "\n\n".join(parts)


def _known(results: dict[str, Any], room: str) -> list[str]:
    return [name for name in names() if name.startswith(room) and name in results]


def measured(results: dict[str, Any]) -> str:
    """On what, and of which commits."""
    machines = {sentence(found["machine"]): None for found in results.values()}
    versions = {f"{name} {version}": None for found in results.values()
                for name, version in found["machine"]["versions"].items()}  # fmt: skip
    return f"Measured on {'; '.join(machines)}. Versions: {', '.join(versions)}."


def _ratio(duel: dict[str, Any]) -> str:
    return f"{duel['mark']} {text(duel['ratio'])}".strip()


def _filled(path: Path, results: dict[str, Any]) -> str:
    """A page with what stands between ``<!-- bench: name -->`` and ``<!-- /bench -->`` written anew."""

    def written(found: re.Match[str]) -> str:
        name = found[1]
        part = {"peers": peers, "headlines": headlines, "measured": measured}.get(name)
        if part is None and name not in results:
            raise LookupError(f"{path.name} shows {name}, which is not in the result")
        return f"<!-- bench: {name} -->\n{part(results) if part else shown(name, results[name])}\n<!-- /bench -->"

    return re.sub(r"<!-- bench: (\S+) -->\n.*?<!-- /bench -->", written, path.read_text(), flags=re.DOTALL)
