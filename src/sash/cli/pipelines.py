"""``sash run``, ``check``, ``explain``, ``schema`` and ``new``: pipelines from the command line."""

from __future__ import annotations

import json
import logging
import shlex
import signal
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

from sash.cli import output
from sash.cli.app import app, errors
from sash.cli.progress import reporter_of, summed
from sash.cli.watched_page import Page
from sash.errors import SashError

WRONG, FAILED, INTERRUPTED = 2, 1, 130  # exit codes; 0 is a run that ended, or a stream that was stopped

File = Annotated[Path, typer.Argument(metavar="PIPELINE.toml", help="The pipeline.")]
Set = Annotated[list[str] | None, typer.Option("--set", metavar="NAME=VALUE", help="A value for ${NAME}.")]
Stream = Annotated[
    bool | None,
    typer.Option("--stream/--batch", help="As a stream over what comes, or a batch over history; the file says which."),
]
Json = Annotated[bool, typer.Option("--json", help="For machines: an object a line.")]


Watch = Annotated[bool, typer.Option("--watch", help="Show how it goes on a page of this machine, in a browser.")]
Port = Annotated[int, typer.Option(help="Where --watch listens, on 127.0.0.1; any free port otherwise.", min=0)]


@app.command()
def run(
    file: File, set_: Set = None, stream: Stream = None, as_json: Json = False, watch: Watch = False, port: Port = 0
) -> None:
    """Run a pipeline."""
    with errors_in_words(as_json):
        from sash.pipelines import load
        from sash.pipelines import run as running
        from sash.pipelines.early import check_early

        loaded = load(file, values(set_), stream)
        check_early(loaded)
        with session(loaded) as (spark, log), reporter_of(as_json, log) as reporter:
            stopping = interrupted(loaded.streaming)  # now: a session that starts sets a handler, too
            if not watch:
                summary = running(loaded, spark, reporter, stopping)
            else:
                with Page(log, as_json, port) as page:
                    summary = running(loaded, spark, reporter, stopping, page.show)
                    page.linger(stopping)
        summed(summary, as_json)


@app.command()
def check(file: File, set_: Set = None, stream: Stream = None, as_json: Json = False) -> None:
    """Say what is wrong with a pipeline, without running it: its file, columns and types, queries, targets."""
    with errors_in_words(as_json):
        from sash.pipelines import load
        from sash.pipelines.building import build
        from sash.pipelines.early import check_early
        from sash.pipelines.targets import check_places, checked

        loaded = load(file, values(set_), stream)
        check_early(loaded)
        with session(loaded) as (spark, _):
            check_places(loaded, spark)
            checked(loaded, spark, build(loaded, spark))
        if as_json:
            print(json.dumps({"event": "checked", "pipeline": loaded.file.stem}))
        else:
            output.said(f"{file.name} is right: {_counts(loaded)}")


@app.command()
def explain(file: File, set_: Set = None, stream: Stream = None) -> None:
    """Show how each step of a pipeline would be answered, and why."""
    with errors_in_words(False):
        from sash.pipelines import load
        from sash.pipelines.building import build
        from sash.pipelines.early import check_early

        loaded = load(file, values(set_), stream)
        check_early(loaded)
        with session(loaded) as (spark, _):
            built = build(loaded, spark, explains=True)
            for name, plan in built.plans.items():
                output.said(f"\n{name}", "bold")
                output.said(loaded.variables.masked(str(plan)) or "by Spark")


@app.command()
def schema() -> None:
    """Print the JSON schema of pipeline files, for editors."""
    with errors_in_words(False):
        from sash.pipelines import schema as page

        print(json.dumps(page(), indent=2))


@app.command()
def new(
    folder: Annotated[Path, typer.Argument(help="A folder that is not there yet, or is empty.")] = Path("pipeline"),
) -> None:
    """Write a small pipeline that works, to start from."""
    from sash.cli.starter import written

    with errors_in_words(False):
        files = written(folder)
    output.said(f"wrote {', '.join(str(each) for each in files)}")
    output.said(f"now: sash run {shlex.quote(str(files[0]))}")


def interrupted(streaming: bool) -> threading.Event:
    """What Ctrl-C and SIGTERM set: a stream stops then, a batch is broken off, as a stream is the second time."""
    stopping = threading.Event()
    logging.disable(logging.ERROR)  # a call that is broken off would be logged with its traceback

    def stop(number: int, frame: Any) -> None:
        if not streaming or stopping.is_set():
            raise KeyboardInterrupt
        stopping.set()

    signal.signal(signal.SIGINT, stop)
    signal.signal(signal.SIGTERM, stop)
    return stopping


def values(pairs: list[str] | None) -> dict[str, str]:
    """Variables from ``--set name=value``."""
    values_by_name = {}
    for each in pairs or []:
        name, equals, value = each.partition("=")
        if not equals or not name.isidentifier():
            raise SashError(f"--set takes a name and a value, such as day=2013-01-01, got {each!r}")
        values_by_name[name] = value
    return values_by_name


@contextmanager
def session(loaded: Any) -> Iterator[tuple[Any, Path]]:
    """The session that a pipeline asks for, ended with it, and the file of what Spark prints meanwhile."""
    from sash.cli.starting import for_pipeline, printing_to, why

    with tempfile.TemporaryDirectory(prefix="sash-") as folder:
        log = Path(folder) / "spark.log"
        try:
            with printing_to(log):
                spark = for_pipeline(loaded.pipeline.spark)
        except SashError:
            raise
        except Exception as error:
            raise loaded.error(f"Spark could not start: {why(error, log)}", "spark") from None
        try:
            yield spark, log
        finally:
            spark.stop()


@contextmanager
def errors_in_words(as_json: bool) -> Iterator[None]:
    """End with a sentence and a code: 2 where the pipeline is wrong, 1 where it failed, 130 where it was broken off."""
    from sash.pipelines import Failed

    try:
        yield
    except KeyboardInterrupt:
        _end(as_json, "stopped", INTERRUPTED)
    except Failed as error:
        _end(as_json, str(error), FAILED)
    except SashError as error:
        _end(as_json, str(error), WRONG)


def _end(as_json: bool, sentence: str, code: int) -> None:
    if as_json:
        print(json.dumps({"event": "error", "error": sentence, "code": code}), flush=True)
    errors.print(sentence, style="red", markup=False, soft_wrap=True)
    raise typer.Exit(code) from None


def _counts(loaded: Any) -> str:
    pipeline = loaded.pipeline
    parts = ((len(pipeline.sources), "source"), (len(pipeline.steps), "step"), (len(pipeline.sinks), "sink"))
    return ", ".join(f"{count} {name}{'s' * (count != 1)}" for count, name in parts)
