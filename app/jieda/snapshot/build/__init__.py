"""Content directories to a generation."""
