"""Converts existing pages of questions and answers into draft entries, for `jieda import`."""
