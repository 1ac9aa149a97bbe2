"""What was asked in vain and what was read: counted by day, kept in one bounded file, without anybody's name."""
