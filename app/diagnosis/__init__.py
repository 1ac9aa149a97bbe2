"""From a pasted log to the entries that explain it, over `app.search`: understand, match, weigh, answer."""
