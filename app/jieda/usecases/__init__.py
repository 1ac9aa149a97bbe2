"""Use cases, shared by all surfaces, with their limits and metrics in one place."""
