"""Tables of edges, nodes and labels, with a place for every row."""
