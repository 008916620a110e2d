"""Frozen data and pure functions: what Seamark talks about, free of I/O and of heavy imports."""
