"""Pages to drafts: real files in, real content directories out."""
