"""Tests of what every visitor can ask for."""
