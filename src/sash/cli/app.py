"""The commands, and how errors end them."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated

import typer
from rich.console import Console

from sash.errors import SashError
from sash.libraries import library_of

app = typer.Typer(
    help="Aggregates over windows, on Spark.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
errors = Console(stderr=True, highlight=False)


def _version(asked: bool) -> None:
    if asked:
        from importlib.metadata import version

        print(version("sash"))
        raise typer.Exit


@app.callback()
def commands(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version, and stop.")
    ] = False,
) -> None:
    """Aggregates over windows, on Spark."""


@contextmanager
def errors_in_words() -> Iterator[None]:
    """End with a sentence where Sash or Spark refuses something."""
    try:
        yield
    except Exception as error:
        if not isinstance(error, SashError) and library_of(error) != "pyspark":
            raise
        errors.print(str(error).strip().split("\n\n")[0], style="red", markup=False, soft_wrap=True)
        raise typer.Exit(1) from None


@app.command()
def sql(
    query: Annotated[str | None, typer.Argument(help="A query; without one, a shell, or what is piped in.")] = None,
    table: Annotated[list[str] | None, typer.Option(help="A file and a name for it: trades=trades.parquet.")] = None,
    limit: Annotated[int, typer.Option(help="How many rows to show.", min=1)] = 50,
    explain: Annotated[bool, typer.Option(help="Show how the query would be answered.")] = False,
) -> None:
    """Ask Spark SQL with the window functions of Sash; files are tables: from 'trades.parquet'."""
    from sash.cli.shell import Shell, answered
    from sash.cli.starting import started

    with errors_in_words():
        shell = Shell(*started(table or []), limit)
        if query is not None:
            answered(shell, query, explain)
        elif sys.stdin.isatty():
            shell.talk()
        else:
            for each in shell.statements(sys.stdin.read()):
                answered(shell, each, explain)
