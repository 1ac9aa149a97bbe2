"""Pages and REST API: sibling surfaces over one snapshot."""
