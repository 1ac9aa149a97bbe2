"""A signature line: its grammar, and the line compiled and found in text."""
