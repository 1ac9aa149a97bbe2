"""What texts mean, as vectors: an optional second way to find an entry, where words differ."""
