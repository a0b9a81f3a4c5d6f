"""How Sash behaves as one thing changes: keys, queries, overlap, disorder, rows, partitions."""
