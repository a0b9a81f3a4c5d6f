"""The shell: statements that end with a semicolon, commands that begin with a backslash, history and completion."""

from __future__ import annotations

import contextlib
import re
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import sash
from sash.cli.output import said, shown
from sash.cli.waiting import waiting
from sash.errors import SashError
from sash.expressions.naming import quoted
from sash.kernels.compiling import disk
from sash.spark import text_queries
from sash.sql.named_functions import NAMES, REGISTERED
from sash.sql.tokens import pointed, read

HELP = r"""Statements end with a semicolon; files are tables: select * from 'trades.parquet';
  \explain QUERY;  how a query would be answered      \d        the tables
  \d TABLE         the columns of a table             \f        the functions over windows
  \l N             show N rows                        \?  \q    this help; leave"""
WORDS = """
    select distinct from where group by having window qualify order limit union all join on using as over partition rows
    range groups between unbounded preceding following current row exclude ties no others filter within ignore respect
    nulls first last asc desc case when then else end interval with
""".split()


class Shell:
    """One conversation with a session."""

    def __init__(self, spark: Any, log: Path | None = None, limit: int = 50) -> None:
        self.spark, self.log, self.limit = spark, log, limit

    def talk(self) -> None:
        """Ask until the user leaves; a mistake is told, and the next question comes."""
        said(f"sash {_version()} on Spark {self.spark.version}; \\? for help, \\q to leave")
        with self._editing():
            while True:
                try:
                    line = self._asked()
                except EOFError:
                    return
                except KeyboardInterrupt:
                    said("")
                    continue
                if line in ("\\q", "quit", "exit"):
                    return
                try:
                    for each in self.statements(line):
                        self.obey(each)
                except SashError as error:
                    said(str(error), "red")
                except KeyboardInterrupt:
                    said("stopped", "red")
                except Exception as error:  # whatever Spark says; the shell goes on
                    said(str(error).strip().split("\n\n")[0], "red")

    def obey(self, line: str) -> None:
        """Do what was asked, and show what comes of it."""
        text = line.strip()
        while text.endswith(";"):
            text = text[:-1].rstrip()
        if not text:
            return
        if not text.startswith("\\"):
            with _of_text(text):
                self.answer(text)
            return
        word, _, rest = text[1:].partition(" ")
        commands = {"explain": self.explain, "d": self.describe, "f": self.functions, "l": self.show_at_most}
        if word == "?":
            said(HELP)
        elif word in commands:
            commands[word](rest.strip())
        else:
            raise SashError(f"there is no command \\{word}; \\? shows those there are")

    def answer(self, query: str) -> None:
        """Show the answer of a query as a table, and how long it took."""
        start = time.perf_counter()
        with waiting(self.log):
            frame = sash.sql(query, spark=self.spark)
            rows = _rows(frame.limit(self.limit + 1)) if frame.columns else None
        if rows is not None:
            shown(rows, self.limit)
        said(f"{time.perf_counter() - start:.2f} s", "dim")

    def explain(self, query: str) -> None:
        """Show how a query would be answered."""
        if not query:
            raise SashError("\\explain takes a query")
        with _of_text(query):
            said(str(sash.explain(query, spark=self.spark)))

    def describe(self, table: str) -> None:
        """Show the tables, or the columns of one."""
        if not table:
            names = [each.name for each in self.spark.catalog.listTables()]
            said("\n".join(names) or "no tables; files are tables: select * from 'trades.parquet';")
            return
        known = quoted(table) if table in (each.name for each in self.spark.catalog.listTables()) else table
        frame = sash.sql(f"select * from {known}", spark=self.spark)
        said("\n".join(f"{each.name}  {each.dataType.simpleString()}" for each in frame.schema.fields))

    def functions(self, beginning: str) -> None:
        """Show the functions over windows."""
        said(", ".join(name for name in sorted([*NAMES, *REGISTERED]) if name.startswith(beginning)))

    def show_at_most(self, rows: str) -> None:
        """Set how many rows are shown."""
        if not re.fullmatch(r"[1-9]\d*", rows):
            raise SashError(f"\\l takes a whole number above zero, got {rows!r}")
        self.limit = int(rows)

    def statements(self, text: str) -> Iterator[str]:
        """The statements of a text, which semicolons part, and the commands, each a line."""
        unfinished = ""
        for line in text.removeprefix("\ufeff").splitlines():
            unfinished = f"{unfinished}\n{line}" if unfinished else line
            if not _complete(unfinished):
                continue
            if unfinished.lstrip().startswith("\\"):
                yield unfinished
            else:
                source = read(unfinished)
                yield from (source.cut(lo, hi) for lo, hi in source.parts(0, len(source.tokens), ";") if lo < hi)
            unfinished = ""
        if unfinished.strip():
            yield unfinished

    def completions(self, word: str) -> list[str]:
        """What a word may become: tables and their columns, functions, words of SQL."""
        tables = [each.name for each in self.spark.catalog.listTables()]
        columns = [each.name for table in tables for each in self.spark.catalog.listColumns(quoted(table))]
        names = {each: quoted(each) for each in (*tables, *columns)} | {each: each for each in _words()}
        begins = word.lower()
        return sorted(
            {text for name, text in names.items() if any(each.lower().startswith(begins) for each in (name, text))}
        )

    def _asked(self) -> str:
        """The next statement, over as many lines as it takes, or a command of one line."""
        lines = [input("sash> ")]
        while not _complete("\n".join(lines)):
            lines.append(input("  ... "))
        return "\n".join(lines).strip()

    @contextlib.contextmanager
    def _editing(self) -> Iterator[None]:
        """Lines that can be edited, with those of earlier times, where the system has readline."""
        try:
            import readline
        except ImportError:
            yield
            return
        folder = disk.folder()
        history = folder / "history" if folder is not None else None
        if history is not None:
            with contextlib.suppress(OSError):
                readline.read_history_file(history)
        words: list[str] = []

        def complete(word: str, state: int) -> str | None:
            if state == 0:
                words[:] = self.completions(word)
            return words[state] if state < len(words) else None

        readline.set_completer(complete)
        readline.set_completer_delims(" \t\n()[]{}.,;=<>+-*/%'\"")
        readline.parse_and_bind("tab: complete")
        try:
            yield
        finally:
            if history is not None:
                with contextlib.suppress(OSError):
                    Path(history).parent.mkdir(parents=True, exist_ok=True)
                    readline.set_history_length(10_000)
                    readline.write_history_file(history)


@contextlib.contextmanager
def _of_text(text: str) -> Iterator[None]:
    """Let what Spark refuses in a text show where in it."""
    try:
        yield
    except Exception as error:
        if isinstance(error, SashError) or (sentence := text_queries.said(error)) is None:
            raise
        place = text_queries.place_in(error, text)
        raise (SashError(sentence) if place is None else pointed(sentence, text, place)) from None


def answered(shell: Shell, query: str, explain: bool) -> None:
    """Answer one query, or explain it."""
    shell.obey(f"\\explain {query}" if explain and not query.lstrip().startswith("\\") else query)


def _rows(frame: Any) -> Any:
    """The rows as an Arrow table; columns of types that Python has not are shown as texts."""
    try:
        return frame.toArrow()
    except Exception as error:
        if type(error).__name__ != "PySparkTypeError":
            raise
        places = [f"c{place}" for place in range(len(frame.columns))]  # names may hold anything, and be there twice
        texts = frame.toDF(*places).selectExpr(*(f"string({place}) as {place}" for place in places))
        return texts.toArrow().rename_columns(frame.columns)


def _words() -> list[str]:
    """What a query may say that is no name of the user's."""
    return [*NAMES, *REGISTERED, *WORDS]


def _complete(text: str) -> bool:
    """Whether a statement is at its end: a command, nothing, or a semicolon that is in no string."""
    stripped = text.strip()
    if (
        not stripped
        or stripped in ("quit", "exit")
        or (stripped.startswith("\\") and not stripped.startswith("\\explain"))
    ):
        return True
    try:
        source = read(stripped)
    except SashError as error:
        unclosed = "is never closed" in str(error) and not str(error).startswith(("this (", "this [", "this {"))
        return stripped.endswith(";") and not unclosed
    return bool(source.tokens) and source.word(len(source.tokens) - 1) == ";"


def _version() -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("sash")
    except PackageNotFoundError:
        return ""
