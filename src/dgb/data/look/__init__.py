"""What a graph counts, and what about it is likely trouble."""
