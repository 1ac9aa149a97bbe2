"""Parsing of typed text into a query of finished terms."""
