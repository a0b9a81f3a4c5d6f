"""General Incremental Sliding-Window Aggregation (VLDB 2015)."""
