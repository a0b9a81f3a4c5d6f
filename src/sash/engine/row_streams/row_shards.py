"""What shards know of columns beside the rows of a stream; they keep them as they keep boards."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any

from sash.engine.row_streams.logged_rows import LoggedRows
from sash.engine.row_streams.row_scheme import RowScheme
from sash.engine.streams.bucket import Bucket
from sash.engine.streams.history import ADVICE, refuse_other_shards
from sash.engine.streams.limits import Limits
from sash.engine.streams.restoring import is_whole, refused
from sash.engine.streams.scheme import Scheme
from sash.engine.streams.sharding import HASH, Share
from sash.engine.streams.shipping import Shipping
from sash.errors import SashError

FORMAT = 1  # of what is kept of rows


@dataclass(frozen=True)
class RowShardPlan:
    """What all shards of a stream of rows know."""

    rows: RowScheme
    shards: int
    told: tuple[tuple[str, str], ...]  # the columns asked for, in the user's words
    words = ("rows", "have frames reach less far, or more keys")

    @property
    def scheme(self) -> Scheme:
        """The time and the key of rows."""
        return self.rows.stream

    def description(self) -> dict[str, Any]:
        """All that kept state depends on."""
        rows, told = self.rows, dict(self.told)
        means = {name: hashlib.sha256(repr(rest).encode()).hexdigest()[:16] for name, *rest in rows.meaning}
        return {
            "rows": FORMAT,
            "shards": self.shards,
            "hash": HASH,
            "columns": {field.name: str(field.type) for field in rows.schema},
            "answers": {name: [told.get(name, name), means[name]] for name in rows.columns},
            "emit": rows.emit,
            "queries": [],
        }

    def continued(self, before: Any, now: dict[str, Any], start: int) -> dict[str, Any]:
        """The same columns of the same rows; or a sentence that says what changed."""
        del start
        if not isinstance(before, dict) or not is_whole(before.get("rows"), 1):
            raise SashError(f"the checkpoint is of a board, not of columns beside rows; {ADVICE}")
        if before["rows"] != FORMAT:
            raise SashError(
                f"state of rows must be of format {FORMAT}, got {before['rows']}, which another Sash wrote: start with "
                "a new checkpointLocation"
            )
        columns, answers = before.get("columns"), before.get("answers")
        if not isinstance(columns, dict) or not isinstance(answers, dict) or not is_whole(before.get("shards"), 1):
            raise refused("what it is of", "a description of columns", "another thing")
        refuse_other_shards(before, now)
        changes = [] if before.get("emit") == now["emit"] else [f"emit is {now['emit']} and was {before.get('emit')}"]
        changes += _changes("column", columns, now["columns"])
        changes += _changes("column", {name: each[0] for name, each in answers.items()},
                            {name: each[0] for name, each in now["answers"].items()})  # fmt: skip
        if not changes and answers != now["answers"]:
            names = [name for name, each in answers.items() if now["answers"][name] != each]
            changes = [f"the functions of {', '.join(names)} changed"]
        if changes:
            raise SashError(f"the checkpoint is of other columns: {'; '.join(changes)}; {ADVICE}")
        return now

    def places(self, before: Any, now: dict[str, Any]) -> None:
        """Columns stay what they are."""

    def shipping(self, late: bool, limits: Limits) -> Shipping:
        """Rows go to their shards as they are."""
        del late
        return Shipping(self.scheme, "panes", self.shards, True, limits)

    def bucket(self, share: Share, limits: Limits) -> Bucket:
        """The state of some keys, at first."""
        return Bucket(share, LoggedRows(self.rows), limits)


def _changes(what: str, before: dict[str, str], now: dict[str, str]) -> list[str]:
    """In what two descriptions differ."""
    gone = [f"{what} {name} ({was}) is gone" for name, was in before.items() if name not in now]
    new = [f"{what} {name} ({words}) is new" for name, words in now.items() if name not in before]
    others = [
        f"{what} {name} is {now[name]} and was {was}" for name, was in before.items() if now.get(name, was) != was
    ]
    return [*gone, *new, *others]
