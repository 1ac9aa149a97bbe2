"""Words of the user interface in both languages."""
