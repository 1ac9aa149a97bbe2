"""Entries as documents, and the index that stores and finds them."""
