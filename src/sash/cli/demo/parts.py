"""What a part of the demo consists of, and how one is run and timed."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sash.cli.demo.flights import Flights
from sash.errors import SashError

PATIENCE = 60  # seconds that a query of Spark's own may take


@dataclass(frozen=True)
class Answers:
    """A small table; columns of numbers are those whose heading is not in ``words``."""

    title: str
    head: list[str]
    rows: list[list[str]]
    words: tuple[str, ...] = ()


@dataclass(frozen=True)
class Timing:
    """The seconds of one question, by Sash and in Spark's own words; None where one of them has none."""

    question: str
    sash: float | None
    spark: float | None
    note: str = ""

    @property
    def times(self) -> float | None:
        """How many times as long Spark takes."""
        return None if self.sash is None or self.spark is None else self.spark / self.sash


@dataclass(frozen=True)
class Chart:
    """A picture as SVG, for a wide and for a narrow page, and what it shows."""

    wide: str
    narrow: str
    caption: str


@dataclass(frozen=True)
class DemoPart:
    """One of the three: a question, its pipeline and plan, its answers, and how long it took."""

    name: str
    title: str
    question: str
    story: str
    chart: Chart
    answers: list[Answers]
    file: str
    plan: str
    timings: list[Timing]
    remark: str
    ran: str


@dataclass
class Stage:
    """Where parts run: the session, the folders, and who is told what is going on."""

    spark: Any
    data: Path
    out: Path
    flights: Flights
    step: Callable[[str], AbstractContextManager[None]]
    compare: bool  # whether Spark is asked the same in its own words
    built: dict[str, Any] = field(default_factory=dict)

    def piped(self, name: str) -> Piped:
        """Run the pipeline of this name, which is a file beside this one."""
        from sash.pipelines import build, load, run

        file = Path(__file__).with_name(f"{name}.toml")
        loaded = load(file, {"data": str(self.data), "out": str(self.out)})
        with self.step(f"{name}: the pipeline"):
            summary = run(loaded, self.spark)
        with self.step(f"{name}: its plan"):
            built = build(loaded, self.spark, explains=True)
        self.built[name] = built
        return Piped(file.read_text(encoding="utf-8"), str(built.plans[name]), built.frames[name], summary)

    def answers(self, name: str) -> Any:
        """What a pipeline wrote, as a pandas DataFrame."""
        import pyarrow.parquet as pq

        return pq.read_table(self.out / name).to_pandas()

    def timed(self, question: str, frame: Any) -> float:
        """The seconds until a query, of a batch or of a stream, is through; its answers go nowhere."""
        with self.step(question):
            begin = time.perf_counter()
            if frame.isStreaming:
                self._flow(frame, question)
            else:
                frame.write.format("noop").mode("overwrite").save()
            return time.perf_counter() - begin

    def refused(self, query: str) -> str:
        """Why Spark does not take a query, in its words; nothing where it does."""
        from sash.spark import text_queries

        try:
            _ = self.spark.sql(query).columns
        except Exception as error:
            refusal = text_queries.refusal(error)
            if refusal is None:
                raise
            return refusal.sentence
        return ""

    def _flow(self, frame: Any, question: str) -> None:
        with tempfile.TemporaryDirectory(dir=self.out, ignore_cleanup_errors=True) as checkpoint:
            writer = frame.writeStream.format("noop").outputMode("append").option("checkpointLocation", checkpoint)
            query = writer.trigger(availableNow=True).start()
            ended = query.awaitTermination(PATIENCE)
            query.stop()
        if not ended:
            raise SashError(f"{question} took longer than {PATIENCE} seconds")


@dataclass(frozen=True)
class Piped:
    """A pipeline that has run: its file, its plan, the DataFrame of its answers, and what it says of its run."""

    file: str
    plan: str
    frame: Any
    summary: Any

    @property
    def ran(self) -> str:
        """How long it took, in words."""
        sinks = ", ".join(f"{each.rows:,} rows to {each.sink}" for each in self.summary.sinks if each.rows is not None)
        return f"ran as a {self.summary.mode} in {self.summary.seconds:.1f} s: {sinks}"
