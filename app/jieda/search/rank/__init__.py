"""Scores and the order of answers."""
