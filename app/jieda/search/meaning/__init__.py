"""Embeddings: an optional second way to find an entry, by meaning instead of words."""
