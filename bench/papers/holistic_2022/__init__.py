"""Arbitrarily-Framed Holistic SQL Aggregates and Window Functions (SIGMOD 2022)."""
