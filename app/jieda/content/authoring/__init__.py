"""Writes and edits files in content directories."""
