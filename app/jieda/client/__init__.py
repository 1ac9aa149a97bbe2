"""Clients of Jieda, for this process or for a remote server, with the same answers as the REST API."""
