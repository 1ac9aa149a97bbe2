"""What people ask of the search of other knowledge bases, and complain about, asked of ours over HTTP."""
