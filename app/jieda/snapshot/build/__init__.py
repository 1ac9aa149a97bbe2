"""Builds generations from content directories."""
