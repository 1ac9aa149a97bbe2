"""What every request passes through, and how responses are built."""
