"""What is shown of an answer: snippet and reasons."""
