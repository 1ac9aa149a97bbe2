"""Completion while typing."""
