"""Sash on Spark: the only room that knows PySpark. Workers import it too, so that it does nothing by itself."""
