"""The command line: what people type, and what they read. Its entry point is `seamark.cli.main`."""
