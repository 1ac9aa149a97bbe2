"""The body of an edition: Markdown to safe HTML, sections, links and plain text."""
