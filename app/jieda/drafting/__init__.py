"""Drafting of a new entry from a page or a log: guesses, and doubts that point them out."""
