"""Reads, parses and merges the files of content directories into a library."""
