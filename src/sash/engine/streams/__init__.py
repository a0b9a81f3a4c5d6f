"""Continuous queries in process: the operator that a stream is pushed through, batch by batch."""
