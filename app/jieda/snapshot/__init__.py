"""Generations and snapshots: built incrementally by the process that holds the lock, opened by every process."""
