"""The experiments of the papers, run again: the claim, what comes out here, and whether the shape holds."""
