"""What people asked in vain, for those who maintain the entries: redacted, counted, grouped by meaning."""
