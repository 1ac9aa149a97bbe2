"""Search over an OpenSearch cluster: the second engine behind the index's protocol."""
