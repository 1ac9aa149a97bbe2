"""What generations are kept in: facts, tables, directories, and what processes tell each other."""
