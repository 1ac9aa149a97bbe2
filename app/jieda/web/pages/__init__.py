"""HTML pages: each builds one frozen view from the snapshot and hands it to one template."""
