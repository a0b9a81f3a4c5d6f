"""Windows cut into pieces: answers from the rows of a piece, and partials of the rows before and after it."""

from sash.engine.carrying.carried import Carried
from sash.engine.carrying.evaluating import evaluate_carried
from sash.engine.carrying.forms import carries, may_split
from sash.engine.carrying.summarising import summarise

__all__ = ["Carried", "carries", "evaluate_carried", "may_split", "summarise"]
