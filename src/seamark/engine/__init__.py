"""Spark: the session, the tasks that read Arrow and write Parquet, and what both need to start."""
