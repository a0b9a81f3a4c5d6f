"""The vocabulary: ``from sash import functions as sf``."""
