"""Text to tokens. Pure; knows nothing of entries, files or the web."""
