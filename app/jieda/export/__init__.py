"""Exports the site as static files: pages, Markdown, feeds, and a search that runs in the browser."""
