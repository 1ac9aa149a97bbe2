"""The REST API: what it takes, what it answers, one module for each group of routes."""
