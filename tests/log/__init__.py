"""Logs as they are read: lines of ranks, tracebacks, failures."""
