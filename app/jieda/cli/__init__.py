"""The `jieda` command."""
