"""What each operation does to Arrow arrays, as Spark in ANSI mode would: one file a subject."""
