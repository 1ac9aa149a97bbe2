"""The index and everything that is asked of it."""
