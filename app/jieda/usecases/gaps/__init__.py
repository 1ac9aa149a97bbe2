"""Gaps, the questions that no entry answers: redacted, counted and grouped by meaning, for maintainers."""
