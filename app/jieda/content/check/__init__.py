"""Checks content against all rules."""
