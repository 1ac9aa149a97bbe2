"""Scoring and ranking."""
