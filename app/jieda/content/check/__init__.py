"""Every rule that content is held to."""
