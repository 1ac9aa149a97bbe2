"""The content pipeline: files to entries."""
