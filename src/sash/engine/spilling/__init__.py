"""Tables larger than memory: rows and answers in files, part by part."""

from sash.engine.memory_need import need, scratch
from sash.engine.spilling.answering import answers
from sash.engine.spilling.range_pieces import Ranges

__all__ = ["Ranges", "answers", "need", "scratch"]
