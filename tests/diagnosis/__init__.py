"""Pasted logs to entries: what is understood, what is found, and what is not claimed."""
