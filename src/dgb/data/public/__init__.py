"""The public graphs that are known by name, and where their files come from."""
