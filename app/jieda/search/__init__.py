"""Search: turns entries into documents, documents into an index, and queries into hits."""
