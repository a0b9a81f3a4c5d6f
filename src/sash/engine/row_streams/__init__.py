"""Window expressions on the rows of a stream: each row leaves once, with its answers."""
