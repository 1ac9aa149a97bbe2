"""HTML pages and REST API, both served from the same snapshot."""
