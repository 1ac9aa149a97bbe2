"""What a person typed, to a query of finished terms."""
