"""What is asked of frames beside folding, selecting and counting: quantiles, distinct values, modes and others.

``holes`` and ``bitset_holes`` are what EXCLUDE needs of them.
"""
