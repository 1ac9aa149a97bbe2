"""Tests of what coding agents get, with the SDK's own client."""
