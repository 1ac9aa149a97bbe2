"""Addresses for programs: feeds, sitemap, llms files, health, metrics, API documentation."""
