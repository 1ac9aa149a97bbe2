"""Turns Markdown files into a library of entries. Does not depend on search or the web."""
