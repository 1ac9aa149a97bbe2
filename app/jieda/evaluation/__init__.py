"""Evaluation of search and diagnosis with judged queries."""
