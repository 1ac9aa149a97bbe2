"""What a new entry begins with, made from a page or a log: guesses, and the doubts that name them."""
