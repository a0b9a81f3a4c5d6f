"""A session that only notes what a query asks of Spark and of Sash."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from sash.spark.hidden import UNSPELLABLE
from sash.sql import blocks, statements
from sash.sql.around import Scope
from sash.sql.rewriting import Rewriting
from sash.sql.texts import shown
from sash.sql.tokens import read

COLUMNS = ["a", "b", "c"]  # of every table


class Asked(Exception):
    """Spark is asked for a constant."""


@dataclass
class Frame:
    columns: list[str]

    @property
    def dtypes(self):
        return [(name, "int") for name in self.columns]

    def toDF(self, *names):
        return Frame(list(names))


@dataclass
class Recording:
    inner: list[str] = field(default_factory=list)
    over: dict[str, str] = field(default_factory=dict)
    by_spark: list[str] = field(default_factory=list)
    raw: str = ""  # with what keeps names apart
    text: str = ""

    def frame(self, text):
        self.inner.append(named(text))
        source = read(text)
        lo = max(place for place, token in enumerate(source.tokens) if token.word == "SELECT")
        block = blocks.block(source, lo, len(source.tokens))
        columns = []
        for item in block.items:
            if source.word(item.span[1] - 1) == "*":
                columns += COLUMNS
            else:
                columns.append(source.tokens[item.alias].name if item.alias else source.shown(*item.span))
        return Frame(columns)

    def columns(self, text):
        return None  # so that what nobody named is called by its text

    def value(self, text):
        raise Asked(text)

    def has_function(self, name):
        return name == "approx_count_distinct"

    def computed(self, frame, columns, by_spark):
        self.by_spark += by_spark
        self.over |= {name: shown(repr(over)) for name, over in columns.items()}
        return f"computed_{len(self.inner)}"

    def failure(self, error, source, span):
        return None


def named(text):
    """A text with names as the user has them."""
    return re.sub(f"{UNSPELLABLE}\\d*", "", text)


def rewritten(query):
    """What becomes of a query."""
    source, session = read(query), Recording()
    statement = statements.statement(source)
    session.raw = statement.before(Rewriting(source, session).top(*statement.query, Scope()))
    session.text = named(session.raw)
    return session


def overs(query):
    """The window calls of a query, as Sash has them."""
    return list(rewritten(query).over.values())
