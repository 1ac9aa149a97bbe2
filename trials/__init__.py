"""Trials of endurance: kills, damage, load and nonsense. Each is seeded and bounded, and prints its figures."""
