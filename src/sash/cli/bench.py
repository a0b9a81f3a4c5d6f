"""``sash bench``: the benchmarks of the repository, run, compared and reported."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from sash.cli.app import app, errors_in_words
from sash.errors import SashError

bench = typer.Typer(help="Run the benchmarks: the papers' experiments, peers, studies and guards.")
app.add_typer(bench, name="bench")
HOME = Path(__file__).parents[3]


def _harness(name: str) -> Any:
    """A module of the measuring harness, which is in the repository and not in the wheel."""
    if not (HOME / "bench" / "harness").is_dir():
        raise SashError("the benchmarks are in Sash's repository, not in its wheel: clone it, then `make bench`")
    if str(HOME) not in sys.path:
        sys.path.insert(0, str(HOME))
    return importlib.import_module(f"bench.harness.{name}")


@bench.callback(invoke_without_command=True)
def run(
    context: typer.Context,
    only: Annotated[
        list[str] | None, typer.Option(help="An experiment, or a part of its name: peers, figure8.")
    ] = None,
    full: Annotated[bool, typer.Option("--full", help="As for a release: larger, and with every experiment.")] = False,
    into: Annotated[
        Path | None,
        typer.Option(help="The JSON file to put results into; out/bench/COMMIT-SET.json of the repository otherwise."),
    ] = None,
) -> None:
    """Measure, print what comes out and store it as JSON."""
    if context.invoked_subcommand:
        return
    with errors_in_words():
        catalogue, running, machine = (_harness(name) for name in ("catalogue", "running", "machine"))
        try:
            names = catalogue.chosen(only or [])
        except LookupError as error:
            raise SashError(str(error)) from None
        if not full and not only:
            names = [name for name in names if catalogue.constants(name).get("QUICK", True)]
        commit = machine.described()["commit"]
        path = into or HOME / "out" / "bench" / f"{commit}-{'full' if full else 'quick'}.json"
        failed = running.run(names, full=full, into=path)
        print(f"\nstored in {path}")
        if failed:
            raise SashError(f"these failed: {', '.join(failed)}")


@bench.command("list")
def list_() -> None:
    """Say which experiments there are."""
    with errors_in_words():
        catalogue = _harness("catalogue")
        for name in catalogue.names():
            print(f"{name:40}{catalogue.constants(name)['TITLE']}")


@bench.command()
def compare(
    before: Annotated[Path, typer.Argument(help="A stored result.")],
    after: Annotated[Path, typer.Argument(help="A later one.")],
) -> None:
    """Say what moved between two stored results beyond the noise."""
    with errors_in_words():
        comparing, running, tables = (_harness(name) for name in ("comparing", "running", "tables"))
        comparison = comparing.compare(*(_loaded(running, path) for path in (before, after)))
        if not comparison.count:
            raise SashError(
                "the two results have no measurement in common: are they of the same experiments, "
                "and both quick or both full?"
            )
        rows = [
            [move.name, f"{move.before:.4g} {move.unit}", f"{move.after:.4g}", f"{move.ratio:.2f}"]
            for move in comparison.moves
        ]
        if rows:
            tables.show("moved beyond the noise", ["measurement", "before", "after", "ratio"], rows)
        print(
            f"\n{len(rows)} of {comparison.count} measurements moved; up to {comparison.by_chance:.0f} may by chance."
        )
        if comparison.drift is None:
            print("Too few peers were measured to tell whether the machine itself moved.")
        else:
            print(f"Peers took {comparison.drift:.2f} times as long, by which times are divided.")
        for each in comparison.elsewhere:
            print(f"Measured on something else: {each}.")
        for word, names in (("no longer", comparison.gone), ("newly", comparison.new)):
            for experiment in dict.fromkeys(name[0] for name in names):
                count = sum(name[0] == experiment for name in names)
                print(f"{experiment}: {count} {word} measured")


@bench.command()
def report() -> None:
    """Write the pages and plots of the docs from the stored result of the release."""
    with errors_in_words():
        report_of, running = _harness("report"), _harness("running")
        try:
            report_of.write(_loaded(running, report_of.RELEASE))
        except LookupError as error:
            raise SashError(str(error)) from None


def _loaded(running: Any, path: Path) -> Any:
    try:
        return running.load(path)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise SashError(f"{path} is not a result of sash bench: {error}") from None
