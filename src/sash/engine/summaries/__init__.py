"""Pieces of a table, answered as over all of its rows: by their own, and by summaries of those before and after."""

from sash.engine.summaries.contents import is_summarised, may_split
from sash.engine.summaries.evaluating_pieces import evaluate_pieces
from sash.engine.summaries.piece_summaries import Summaries
from sash.engine.summaries.summarising import summarise

__all__ = ["Summaries", "evaluate_pieces", "is_summarised", "may_split", "summarise"]
