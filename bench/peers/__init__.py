"""Sash and its peers at the same tasks, in the same run, each with its best settings."""
