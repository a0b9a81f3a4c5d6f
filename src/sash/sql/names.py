"""The functions that a query may call over a window, by the names that SQL has for them: made of their declarations."""

from __future__ import annotations

from typing import NamedTuple

from sash.algebra.catalogue import FUNCTIONS, builtin
from sash.algebra.catalogue.declaring import Function, Synonym


class Named(NamedTuple):
    """A function, and the synonym by which it is called, if it is."""

    function: Function
    synonym: Synonym | None = None

    @property
    def in_spark(self) -> bool:
        """Whether Spark has it by this name, and answers it as Sash does."""
        return self.function.spark and self.synonym is None

    @property
    def framed(self) -> bool:
        """Whether the frame applies without an order of its own, too."""
        return bool(builtin(self.function.name, *self.function.examples_of_constants).framed)


def _names(spans: bool) -> dict[str, Named]:
    some = [each for each in FUNCTIONS.values() if each.in_sql and each.spans == spans]
    others = {synonym.name: Named(each, synonym) for each in some for synonym in each.synonyms}
    return {each.name: Named(each) for each in some} | others


NAMES = _names(spans=False)
OF_SPANS = _names(spans=True)  # in continuous queries alone
