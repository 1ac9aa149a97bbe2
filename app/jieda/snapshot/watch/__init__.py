"""What runs all the time: who builds when content changes, and who serves what was built."""
