"""The experiments of the papers, one module a figure or table: the claim, what comes out here, and whether its shape holds."""
