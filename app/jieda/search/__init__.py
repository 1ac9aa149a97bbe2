"""Entries to documents, documents to an index, queries to hits, logs to matches."""
