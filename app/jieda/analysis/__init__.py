"""Analysis of text into tokens. Pure; independent of entries, files and the web."""
