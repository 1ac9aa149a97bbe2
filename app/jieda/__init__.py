"""Jieda 解答: a bilingual FAQ knowledge base. docs/architecture.md shows where everything is."""
