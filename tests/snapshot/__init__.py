"""Tests of building, following and keeping generations."""
