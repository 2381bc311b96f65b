"""Files: written whole, locked, appended to by lines, and read only as far as there is room."""
