"""Text to tokens: cases that anyone can add, and laws for any text."""
