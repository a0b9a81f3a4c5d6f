"""How it is computed: one algorithm a file, NumPy in and NumPy out, compiled for an aggregate."""
