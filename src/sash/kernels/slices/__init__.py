"""Slices of a stream: rows folded into one partial for each key and slice, and the windows made of these."""
