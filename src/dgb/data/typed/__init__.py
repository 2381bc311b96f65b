"""Heterogeneous graphs: several types of nodes, and relations between them."""
