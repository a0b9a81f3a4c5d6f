"""Arrow in, Arrow out: window expressions evaluated on tables."""

from sash.engine.sliding import slide

__all__ = ["slide"]
