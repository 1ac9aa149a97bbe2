"""The presentation of a hit: snippet and reasons."""
