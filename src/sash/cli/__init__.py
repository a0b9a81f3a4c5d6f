"""The command line: ``sash run``, ``sash sql`` and more."""

from __future__ import annotations


def main() -> None:
    """Run the command line; say what to install where its libraries are missing."""
    try:
        from sash.cli import bench, pipelines  # noqa: F401, their commands
        from sash.cli.app import app
        from sash.cli.demo import command  # noqa: F401, its command
    except ModuleNotFoundError as error:
        if error.name not in ("typer", "rich", "pydantic"):
            raise
        raise SystemExit(f"the command line needs {error.name}: pip install 'sash[cli,spark]'") from None
    app()
