"""Arrow in, Arrow out: window expressions evaluated on tables."""
