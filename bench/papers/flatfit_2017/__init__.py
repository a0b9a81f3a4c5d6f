"""FlatFIT: Accelerated Incremental Sliding-Window Aggregation (SSDBM 2017)."""
