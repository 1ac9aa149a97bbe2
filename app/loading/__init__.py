"""`jieda load`: lines of JSON, an edition each, become files of a content directory."""
