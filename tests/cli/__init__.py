"""Tests of the commands, each run as its own process."""
