"""Tests of the REST API over HTTP, against a real server process."""
