"""A run folder or a comparison as one self-contained page; it reads files and computes nothing."""
