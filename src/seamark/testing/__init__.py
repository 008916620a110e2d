"""Behaviour suites for those who write their own sources, destinations and state stores. They need pytest."""
