"""What is served: built once and incrementally by whoever holds the lock, opened and followed by every process."""
