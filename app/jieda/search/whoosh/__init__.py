"""The index as a Whoosh index, and the query language that Whoosh parses and answers."""
