"""What PostgreSQL is asked for a write: two tables beside the one written hold which writes go on, and what is in.

sash_writes has a row for each write from its begin to its end: its token, which names the table of its rows
(sash_staging_…), who writes, and whether its rows were moved. sash_commits has a row for each of the last batches of
each stream and table, with what was planned for it; it is written in one transaction with the batch's rows.

Each text here is one statement, which is one transaction, and can be run again, also while another connection runs it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from sash.errors import SashError

NAME = re.compile(r'(?:(\w+|"[^"]+")\.)?(\w+|"[^"]+")')
OLDER = "sash_batches"  # the table of the last batch of each stream, of Sash before sash_commits
KEPT = 100  # batches of a stream that are remembered, as many as Spark keeps in its checkpoint
LOCK = 0x73617368  # "sash"; held as tables are made, since two that make one at once would both fail


@dataclass(frozen=True)
class Planned:
    """A batch of a stream: the query by its checkpoint, the number, and a digest of what Spark planned for it."""

    query: str
    number: int
    plan: str


def name_of(table: str) -> tuple[str, str]:
    """What stands before the names of tables beside this one, and its name as PostgreSQL keeps it.

    >>> name_of("public.Delays"), name_of('"My delays"')
    (('public.', 'delays'), ('', 'My delays'))
    """
    match = NAME.fullmatch(table)
    if match is None:
        raise SashError(f"a jdbc sink needs a table, such as public.delays, got {table!r}")
    name = match[2][1:-1] if match[2].startswith('"') else match[2].lower()
    return (f"{match[1]}." if match[1] else ""), name


class Books:
    """The statements of one write."""

    def __init__(self, table: str, token: str, batch: Planned | None) -> None:
        schema, self.target = name_of(table)
        self.table, self.token, self.batch, self.schema = table, token, batch, schema
        self.writes, self.commits, self.older = (f"{schema}{n}" for n in ("sash_writes", "sash_commits", OLDER))
        self.staging = self._beside(token)
        self.partition = f"sash_partition_{token[:8]}"  # a column that rows do not have already

    def begin(self, place: str, process: str) -> str:
        """Open the books, and enter the write."""
        writes = (
            f"CREATE TABLE IF NOT EXISTS {self.writes} (token text PRIMARY KEY, target text NOT NULL, query text, "
            "place text NOT NULL, process text NOT NULL, state text NOT NULL DEFAULT 'staged', "
            "began timestamptz NOT NULL DEFAULT now())"
        )
        commits = (
            f"CREATE TABLE IF NOT EXISTS {self.commits} (query text, target text, batch bigint, plan text, "
            "written timestamptz NOT NULL DEFAULT now(), PRIMARY KEY (query, target, batch))"
        )
        query = "NULL" if self.batch is None else text(self.batch.query)
        steps = [
            f"IF {_missing(self.writes)} OR {_missing(self.commits)} THEN "
            f"PERFORM pg_advisory_xact_lock({LOCK}); {writes}; {commits}; END IF",
            f"INSERT INTO {self.writes} (token, target, query, place, process) VALUES ({text(self.token)}, "
            f"{text(self.target)}, {query}, {text(place)}, {text(process)}) ON CONFLICT DO NOTHING",
        ]
        return self._block(steps if self.batch is None else [*steps, self._converted()])

    def known(self) -> str:
        """Ask for the writes that have not ended, and for the batches of this stream that are in."""
        ours = "false" if self.batch is None else f"coalesce(query = {text(self.batch.query)}, false)"
        writes = (
            f"SELECT token, place, process, began < now() - interval '7 days' AS old, "
            f"state = 'ended' OR ({ours} AND target = {text(self.target)}) AS ended FROM {self.writes}"
        )
        commits = f"SELECT batch, plan FROM {self.commits} WHERE {self._stream()}"
        return (
            f"SELECT (SELECT coalesce(json_agg(w), '[]')::text FROM ({writes}) w) AS writes, "
            f"(SELECT coalesce(json_agg(c), '[]')::text FROM ({commits}) c) AS commits"
        )

    def is_in(self, commits: list[dict[str, Any]]) -> bool:
        """Whether the batch is in; a sentence where it is another one, or those before it are missing."""
        if self.batch is None or not commits:
            return False
        query, number = self.batch.query, self.batch.number
        plans, last = {each["batch"]: each["plan"] for each in commits}, max(each["batch"] for each in commits)
        where = f"query = {text(query)} AND target = {text(self.target)}"
        other = f"restore {self.table} and {self.commits} to the time of the checkpoint, or write to another table"
        if plans.get(number) == self.batch.plan:
            return True
        if number in plans and plans[number] is None:
            raise SashError(
                f"batch {number} of this stream was written to {self.table} by an older Sash, which did not keep what "
                "was in it. If its checkpoint is the one that goes on (and no copy of it), say that the batch is in: "
                f"UPDATE {self.commits} SET plan = {text(self.batch.plan)} WHERE {where} AND batch = {number}; "
                f"otherwise {other}"
            )
        if number <= last:
            raise SashError(
                f"batch {number} of this stream is another one than the batch {number} that is in {self.table}, which "
                f"has its batches up to {last}: the checkpoint is older than the table, or was restored. Go on with "
                f"the newest checkpoint, {other}"
            )
        if number > last + 1:
            raise SashError(
                f"{self.table} has the batches of this stream up to {last}, and the checkpoint goes on with {number}: "
                f"what is between would be missing. The table is older than the checkpoint, or was restored: {other}; "
                f"to go on without these batches, DELETE FROM {self.commits} WHERE {where}"
            )
        return False

    def commit(self, columns: list[str], append: bool) -> str:
        """Move the rows, unless that was done."""
        names, moved = (", ".join(f"{of}{_quoted(each)}" for each in columns) for of in ("", "s."))
        part = _quoted(self.partition)
        steps = [
            f"IF {_missing(self.table)} THEN PERFORM pg_advisory_xact_lock({LOCK}); "
            f"IF {_missing(self.table)} THEN CREATE TABLE {self.table} (LIKE {self.staging}); "
            f"ALTER TABLE {self.table} DROP COLUMN {part}; END IF; END IF"
        ]
        if not append:  # two that replace at once would each leave the rows of the other
            steps += [f"LOCK TABLE {self.table} IN SHARE ROW EXCLUSIVE MODE", f"DELETE FROM {self.table}"]
        # an attempt at a partition is a transaction: of several that were committed, the last
        attempts = f"SELECT {part} AS part, xmin AS attempt FROM {self.staging} GROUP BY 1, 2"
        last = f"SELECT DISTINCT ON (part) part, attempt FROM ({attempts}) a ORDER BY part, age(attempt)"
        steps.append(
            f"INSERT INTO {self.table} ({names}) SELECT {moved} FROM {self.staging} s "
            f"JOIN ({last}) l ON s.{part} = l.part AND s.xmin = l.attempt"
        )
        steps = steps if self.batch is None else self._once(self.batch, steps)
        mine = f"UPDATE {self.writes} SET state = 'committed' WHERE token = {text(self.token)} AND state = 'staged'"
        return self._block([mine, f"IF FOUND THEN {'; '.join(steps)}; END IF"])  # another attempt waits at the first

    def abandon(self) -> str:
        """See to it that the rows are not moved any more, unless they were; waits for one who is at it."""
        return self._block(
            [f"UPDATE {self.writes} SET state = 'abandoned' WHERE token = {text(self.token)} AND state = 'staged'"]
        )

    def state(self) -> str:
        """Ask what became of the write."""
        return f"SELECT state FROM {self.writes} WHERE token = {text(self.token)}"

    def end(self) -> str:
        """Say that nobody waits for the write any more, and remove what is beside."""
        ended = f"UPDATE {self.writes} SET state = 'ended' WHERE token = {text(self.token)}"
        return self._block([ended, *self._swept([self.token])])

    def sweep(self, tokens: Iterable[str]) -> str:
        """Remove what is beside for some writes, and their rows in the books; not where a task still writes to it."""
        return self._block(self._swept(tokens))

    def _swept(self, tokens: Iterable[str]) -> list[str]:
        steps = ["PERFORM set_config('lock_timeout', '2s', true)"]
        for token in tokens:
            gone = f"DELETE FROM {self.writes} WHERE token = {text(token)}"
            drop = f"DROP TABLE IF EXISTS {self._beside(token)}"
            steps.append(f"BEGIN {drop}; {gone}; EXCEPTION WHEN lock_not_available THEN NULL; END")
        return steps

    def _once(self, batch: Planned, steps: list[str]) -> list[str]:
        """The steps, with the batch entered; not where another process with the same checkpoint came first."""
        enter = (
            f"INSERT INTO {self.commits} (query, target, batch, plan) VALUES ({text(batch.query)}, "
            f"{text(self.target)}, {batch.number}, {text(batch.plan)}) ON CONFLICT DO NOTHING"
        )
        same = f"SELECT plan FROM {self.commits} WHERE {self._stream()} AND batch = {batch.number}"
        old = f"DELETE FROM {self.commits} WHERE {self._stream()} AND batch <= {batch.number - KEPT}"
        failed = f"RAISE EXCEPTION 'batch {batch.number} of this stream was written meanwhile, with other rows'"
        return [
            enter,
            f"IF FOUND THEN {'; '.join([*steps, old])}; "
            f"ELSIF ({same}) IS DISTINCT FROM {text(batch.plan)} THEN {failed}; END IF",
        ]

    def _converted(self) -> str:
        """Take over what an older Sash knew of a stream: its last batch, without what was planned for it."""
        assert self.batch is not None
        rows = f"SELECT query, {text(self.target)}, batch FROM {self.older} WHERE query = {text(self.batch.query)}"
        return (
            f"IF NOT ({_missing(self.older)}) AND NOT EXISTS (SELECT FROM {self.commits} WHERE {self._stream()}) "
            f"THEN INSERT INTO {self.commits} (query, target, batch) {rows} ON CONFLICT DO NOTHING; END IF"
        )

    def _stream(self) -> str:
        """Which rows of sash_commits are of this stream and table."""
        query = "NULL" if self.batch is None else text(self.batch.query)
        return f"query = {query} AND target = {text(self.target)}"

    def _beside(self, token: str) -> str:
        return f"{self.schema}sash_staging_{token}"

    def _block(self, steps: Iterable[str]) -> str:
        mark = f"$sash_{self.token}$"  # which no name in the steps can end
        # COMMIT fails where Spark has opened a transaction around this, which would end who knows when
        return f"DO {mark} BEGIN {'; '.join(steps)}; COMMIT; END {mark}"


def _missing(table: str) -> str:
    return f"to_regclass({text(table)}) IS NULL"


def text(value: str) -> str:
    """A constant of SQL."""
    return "'" + value.replace("'", "''") + "'"


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
