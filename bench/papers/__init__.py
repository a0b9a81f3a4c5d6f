"""The papers' experiments, one module a figure or table: the claim, what comes out here, whether its shape holds."""
