"""Asking Jieda, in this process or a server elsewhere: the same questions, the same answers as the REST API gives."""
