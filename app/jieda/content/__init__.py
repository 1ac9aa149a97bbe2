"""Markdown files to a library of entries. Knows nothing of search or the web."""
