"""Trees, bitsets and tables over sorted rows, from which frames are answered: one a file, NumPy in and out."""
