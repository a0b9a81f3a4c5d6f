"""Slicing for Temporal Aggregation in Spanning Event Streams (2021)."""
