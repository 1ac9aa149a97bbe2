"""Diagnosis of pasted logs: parses a log, matches signatures and words, scores entries, and returns the answer."""
