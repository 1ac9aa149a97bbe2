"""`jieda import`: pages of questions and answers, found as they are, become drafts of entries."""
