"""Answers as programs and terminals get them: JSON, text, addresses. Shared by pages, API and CLI."""
