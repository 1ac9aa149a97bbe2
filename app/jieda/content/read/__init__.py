"""Content directories to a Library: files read, parsed and joined."""
