"""Judged queries through search and diagnosis, and what came of them."""
