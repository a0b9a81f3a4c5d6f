"""``sash demo``: three pipelines over a year of flights, timed beside Spark's own words, and a report of one file."""
