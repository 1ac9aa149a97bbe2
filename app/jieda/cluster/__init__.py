"""Search by an OpenSearch cluster: the second implementation of the index protocol."""
