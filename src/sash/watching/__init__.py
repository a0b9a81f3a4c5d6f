"""A page that shows a board while it runs: what is kept of it, how that is drawn, and who serves it on this machine."""
