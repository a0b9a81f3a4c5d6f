"""Parallel Boundary Aggregator (KDD 2021)."""
