"""Converts the Markdown body of an edition to safe HTML, sections, links and plain text."""
