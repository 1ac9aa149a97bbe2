"""Background work: building when content changes, and following the current generation."""
