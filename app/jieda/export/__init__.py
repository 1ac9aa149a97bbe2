"""The site as files that any web server can send: pages, Markdown, feeds, and a search that runs in the browser."""
