"""From a pasted log to the entries that explain it, over `jieda.search`: understand, match, weigh, answer."""
