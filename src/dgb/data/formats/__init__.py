"""Files of arrays and of other programs that hold a graph."""
