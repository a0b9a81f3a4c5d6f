"""Each family of window functions: the questions it asks of sorted rows, and what it makes of the answers."""
