"""Structures that answer any frame: one algorithm a file, positions and codes in, positions and counts out."""
